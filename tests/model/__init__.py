"""A model of claims: every order of a few steps in a tiny world, each of them taken on a real Postgres.

A state is what the ledger holds, as a value, with the operations that some process is in the
midst of and what callers were told. From every state every step is tried once; what is reached
is kept, and laws are asked of every step. Nothing of the product is written down here a second time but
the laws. `python -m tests.model` searches the worlds and prints what it saw.
"""
