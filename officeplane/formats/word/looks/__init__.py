"""Looks of a text: letters, paragraphs and cells, changed where they are named."""
