"""Excel workbooks, patched part by part: what an edit does not name stays as it lies."""
