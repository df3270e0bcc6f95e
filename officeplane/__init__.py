"""OfficePlane: a task queue for edits of Office documents."""
