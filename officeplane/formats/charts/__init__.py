"""Charts, as Word, Excel and PowerPoint keep them: a part that is the same in all three."""
