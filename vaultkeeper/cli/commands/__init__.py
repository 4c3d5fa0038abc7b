"""The commands, one module for each group of them; `cli/main.py` imports a module when a command of it is asked for."""
