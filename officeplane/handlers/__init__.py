"""Task types: the contract of a handler, the catalogue, and the built-in ones, a file each."""
