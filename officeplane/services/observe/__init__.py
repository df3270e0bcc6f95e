"""What can be seen of tasks, events, types and the installation, and who waits for it."""
