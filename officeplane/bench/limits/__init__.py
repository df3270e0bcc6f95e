"""Limits: what bare Postgres and Redis do, driven by hand, for the shapes that a task queue is made of."""
