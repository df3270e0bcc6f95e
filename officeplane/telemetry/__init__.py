"""What the operator sees: logs; metrics are read from the ledger."""
