"""Use cases: one transaction each, then the bell."""
