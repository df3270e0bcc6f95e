"""Tests of the shape of the code and of what is shipped."""
