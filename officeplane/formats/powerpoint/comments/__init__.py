"""Comments of presentations, in the older form and in the newer one."""
