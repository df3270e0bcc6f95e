"""The sandbox: child processes that open untrusted files, and nobody else does."""
