"""Speed and memory, side by side with what they are compared to: `make bench` (no timing stands in any test)."""
