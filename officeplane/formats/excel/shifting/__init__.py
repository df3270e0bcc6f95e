"""Shifting: rows and columns come or go, and everything that says where something is follows."""
