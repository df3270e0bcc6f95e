"""Looks of what lies on slides: letters, paragraphs, shapes and cells, changed where they are named."""
