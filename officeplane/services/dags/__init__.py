"""Tasks that are submitted together and wait for each other."""
