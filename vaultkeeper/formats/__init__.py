"""The vault formats, as data: one module each, listed in `registry.py`."""
