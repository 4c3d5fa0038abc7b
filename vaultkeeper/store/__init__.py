"""The only package that reads and writes files of a vault."""
