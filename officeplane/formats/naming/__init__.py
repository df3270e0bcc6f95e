"""Naming: the nodes of an uploaded file are called what the same nodes of the document were called before."""
