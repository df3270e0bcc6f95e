"""Word documents: their nodes, their text and their edits, on the XML as it lies in the package."""
