"""What happens to a vault's files: events, walks and the waits between them."""
