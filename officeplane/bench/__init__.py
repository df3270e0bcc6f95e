"""The benchmark: what this system does on two servers, and what these servers could do at most.

Both are measured in the same run, so that their ratio means something on any
machine. Each file of `scenarios/` finds figures of this system; each file of `comparisons/`
finds limits that they are compared with: what bare Postgres and Redis do, and how
quickly files are edited by hand.
"""
