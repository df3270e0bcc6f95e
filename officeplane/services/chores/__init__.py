"""What the leader does by the clock, so that nothing is left behind."""
