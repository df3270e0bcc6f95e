"""What people and agents do with tasks and types that are there: cancel, retry, change, hold back, decide."""
