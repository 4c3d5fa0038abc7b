"""The keeper: one batch of changes, start to end."""
