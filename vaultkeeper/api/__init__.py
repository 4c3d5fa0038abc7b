"""The localhost interface of a running keeper."""
