"""Reading in parts: outlines, single nodes and finds, the same in all formats."""
