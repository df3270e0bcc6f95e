"""Comparisons: each finds limits by doing by hand, without this system, what a task queue is made of."""
