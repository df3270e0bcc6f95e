"""Worker processes: the host of handlers and chores."""
