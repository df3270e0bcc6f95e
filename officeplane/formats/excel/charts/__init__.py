"""Charts of workbooks: what cells they show, where they lie, and how they follow what is in the cells."""
