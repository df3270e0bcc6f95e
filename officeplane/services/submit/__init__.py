"""How a request becomes tasks: checked, stored in one transaction, then rung for."""
