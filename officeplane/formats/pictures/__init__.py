"""Pictures: what they are by their bytes, and how a package keeps them."""
