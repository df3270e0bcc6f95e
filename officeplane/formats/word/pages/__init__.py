"""Pages: the paper of sections, what stands above and below their text, and where they begin."""
