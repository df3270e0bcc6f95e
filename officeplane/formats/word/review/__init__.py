"""Review of tracked changes: which there are, and how each is accepted or rejected."""
