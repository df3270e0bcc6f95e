"""Real files: the gate before any library, packages, and the three formats. Bytes in, bytes out, nothing else."""
