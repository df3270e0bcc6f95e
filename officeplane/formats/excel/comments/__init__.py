"""Comments of workbooks: threads, and the notes that older programs show."""
