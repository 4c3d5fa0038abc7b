"""The pure core: values in, values out; no disk, clock, randomness, threads or logging."""
