"""How cells look: the formats that a workbook keeps once for all, and the cells, rows and columns that have them."""
