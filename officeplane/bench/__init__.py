"""The benchmark: what this system does on two servers, and what these servers could do at most.

Both are measured in the same run, so that their ratio means something on any
machine. `scenarios/` are the system's figures, `limits/` those of bare Postgres
and Redis, a file each.
"""
