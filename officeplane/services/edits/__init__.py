"""How a task's edits become a revision that its settlement may add."""
