"""What else a document can be shown as: Markdown, a page, the values of a sheet, its structure."""
