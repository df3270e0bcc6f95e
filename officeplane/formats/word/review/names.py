"""Names of tracked changes in WordprocessingML."""

from typing import Final

from officeplane.formats.word.names import w

INSERTIONS: Final = frozenset((w("ins"), w("moveTo"), w("cellIns")))
DELETIONS: Final = frozenset((w("del"), w("moveFrom"), w("cellDel")))
CELLS: Final = frozenset((w("cellIns"), w("cellDel")))
CELL_MERGE: Final = w("cellMerge")
FORMATS: Final = frozenset(
    w(name)
    for name in (
        "rPrChange", "pPrChange", "sectPrChange", "tblPrChange", "tblPrExChange", "tblGridChange", "trPrChange",
        "tcPrChange", "numberingChange",
    )
)  # fmt: skip
CHANGES: Final = INSERTIONS | DELETIONS | FORMATS | {CELL_MERGE}

MOVES: Final = frozenset((w("moveFrom"), w("moveTo")))
RANGE_STARTS: Final = frozenset((w("moveFromRangeStart"), w("moveToRangeStart")))
RANGE_ENDS: Final = frozenset((w("moveFromRangeEnd"), w("moveToRangeEnd")))
