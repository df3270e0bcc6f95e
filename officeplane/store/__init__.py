"""Postgres, the ledger: named queries and typed functions over them."""
