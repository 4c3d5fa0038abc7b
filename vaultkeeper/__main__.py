"""Entry of the program: answers `--version` by itself, hands everything else to the command line."""

from __future__ import annotations

import sys

from vaultkeeper import __version__


def main() -> int:
    """The exit code of the command on `sys.argv`."""
    if sys.argv[1:] == ["--version"]:
        # IF-23: the version costs no import of the command line.
        sys.stdout.write(f"vaultkeeper {__version__}\n")
        return 0
    from vaultkeeper.cli.main import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
