"""Tables of contents: where they are, what they are to list, and their entries."""
