"""Sheets: the list of them, how they come and go, and what lies on them besides cells."""
