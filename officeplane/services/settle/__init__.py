"""How an attempt ends, with everything that its end leads to, in one transaction."""
