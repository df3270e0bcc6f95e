"""Functions of formulas that need a second look."""

from typing import Final

UNSAFE: Final = frozenset({
    "CALL", "DDE", "DDEAUTO", "DIRECTORY", "EVALUATE", "EXEC", "EXECUTE", "FCLOSE", "FILES", "FOPEN", "FREAD",
    "FREADLN", "FWRITE", "FWRITELN", "IMAGE", "INITIATE", "POKE", "REGISTER", "REGISTER.ID", "REQUEST", "RTD",
    "RUN", "SEND.KEYS", "SQL.REQUEST", "TERMINATE", "UNREGISTER", "WEBSERVICE",
})  # fmt: skip
"""They start programs, call out, or read and write files."""

YOUNG: Final = frozenset({
    "ACOT", "ARABIC", "BASE", "BINOM.DIST", "BITAND", "BITLSHIFT", "BITOR", "BITRSHIFT", "BITXOR", "CEILING.MATH",
    "CEILING.PRECISE", "CHISQ.DIST", "CHISQ.INV", "CHISQ.TEST", "CHOOSECOLS", "CHOOSEROWS", "COMBINA", "CONCAT",
    "CONFIDENCE.T", "COT", "COVARIANCE.P", "COVARIANCE.S", "DAYS", "DECIMAL", "DROP", "EXPAND", "EXPON.DIST",
    "F.DIST", "FLOOR.MATH", "FORMULATEXT", "GAMMA", "HSTACK", "IFNA", "IFS", "ISFORMULA", "ISOWEEKNUM",
    "MAXIFS", "MINIFS", "MODE.MULT", "MODE.SNGL", "NORM.DIST", "NORM.INV", "NORM.S.DIST", "NORM.S.INV",
    "NUMBERVALUE", "PDURATION", "PERCENTILE.EXC", "PERCENTILE.INC", "QUARTILE.EXC", "QUARTILE.INC", "RANDARRAY",
    "RANK.AVG", "RANK.EQ", "RRI", "SEQUENCE", "SHEET", "SHEETS", "SORTBY", "STDEV.P", "STDEV.S", "SWITCH", "T.DIST",
    "T.INV", "T.TEST", "TAKE", "TEXTAFTER", "TEXTBEFORE", "TEXTJOIN", "TEXTSPLIT", "TOCOL", "TOROW", "UNICHAR",
    "UNICODE", "UNIQUE", "VAR.P", "VAR.S", "VSTACK", "WRAPCOLS", "WRAPROWS", "XLOOKUP", "XMATCH", "XOR",
})  # fmt: skip
"""Younger than the file format: stored as `_xlfn.NAME`."""

YOUNGEST: Final = frozenset({"FILTER", "SORT"})
"""Stored as `_xlfn._xlws.NAME`."""
