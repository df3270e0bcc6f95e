"""How a worker comes to its tasks, and keeps them: hints, lanes, limits, leases."""
