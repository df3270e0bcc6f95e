"""The pure core: states, rules and records; no I/O, no clock, no randomness."""
