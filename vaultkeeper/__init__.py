"""vaultkeeper keeps Markdown vaults in order while people and agents write into them."""

__version__ = "0.1.0"
