"""What callers do with documents: make, upload, read, compare, revert and delete them."""
