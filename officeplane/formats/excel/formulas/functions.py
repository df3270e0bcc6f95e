"""Functions of formulas that need a second look."""

import re
from typing import Final
from unicodedata import normalize

UNSAFE: Final = frozenset({
    "CALL", "DDE", "DDEAUTO", "DIRECTORY", "EVALUATE", "EXEC", "EXECUTE", "FCLOSE", "FILES", "FOPEN", "FREAD",
    "FREADLN", "FWRITE", "FWRITELN", "IMAGE", "INITIATE", "POKE", "REGISTER", "REGISTER.ID", "REQUEST", "RTD",
    "RUN", "SEND.KEYS", "SQL.REQUEST", "TERMINATE", "UNREGISTER", "WEBSERVICE",
})  # fmt: skip
"""They start programs, call out, or read and write files."""

_PREFIXES: Final = re.compile(r"^(?:_xlfn\.|_xlws\.|_xll\.|_xludf\.)+", re.IGNORECASE)


def bare_name(function: str) -> str:
    """Return a function's name as people write it, in capitals; Excel reads wide letters as the others."""
    return _PREFIXES.sub("", normalize("NFKC", function)).upper()


YOUNG: Final = frozenset({
    "ACOT", "ACOTH", "AGGREGATE", "ANCHORARRAY", "ARABIC", "ARRAYTOTEXT", "BASE", "BETA.DIST", "BETA.INV",
    "BINOM.DIST", "BINOM.DIST.RANGE", "BINOM.INV", "BITAND", "BITLSHIFT", "BITOR", "BITRSHIFT", "BITXOR", "BYCOL",
    "BYROW", "CEILING.MATH", "CEILING.PRECISE", "CHISQ.DIST", "CHISQ.DIST.RT", "CHISQ.INV", "CHISQ.INV.RT",
    "CHISQ.TEST", "CHOOSECOLS", "CHOOSEROWS", "COMBINA", "CONCAT", "CONFIDENCE.NORM", "CONFIDENCE.T", "COT", "COTH",
    "COVARIANCE.P", "COVARIANCE.S", "CSC", "CSCH", "DAYS", "DECIMAL", "DROP", "ERF.PRECISE", "ERFC.PRECISE",
    "EXPAND", "EXPON.DIST", "F.DIST", "F.DIST.RT", "F.INV", "F.INV.RT", "F.TEST", "FILTERXML", "FLOOR.MATH",
    "FLOOR.PRECISE", "FORECAST.ETS", "FORECAST.ETS.CONFINT", "FORECAST.ETS.SEASONALITY", "FORECAST.ETS.STAT",
    "FORECAST.LINEAR", "FORMULATEXT", "GAMMA", "GAMMA.DIST", "GAMMA.INV", "GAMMALN.PRECISE", "GAUSS", "HSTACK",
    "HYPGEOM.DIST", "IFNA", "IFS", "IMCOSH", "IMCOT", "IMCSC", "IMCSCH", "IMSEC", "IMSECH", "IMSINH", "IMTAN",
    "ISFORMULA", "ISOMITTED", "ISOWEEKNUM", "LAMBDA", "LET", "LOGNORM.DIST", "LOGNORM.INV", "MAKEARRAY", "MAP",
    "MAXIFS", "MINIFS", "MODE.MULT", "MODE.SNGL", "MUNIT", "NEGBINOM.DIST", "NORM.DIST", "NORM.INV", "NORM.S.DIST",
    "NORM.S.INV", "NUMBERVALUE", "PDURATION", "PERCENTILE.EXC", "PERCENTILE.INC", "PERCENTRANK.EXC",
    "PERCENTRANK.INC", "PERMUTATIONA", "PHI", "POISSON.DIST", "QUARTILE.EXC", "QUARTILE.INC", "RANDARRAY",
    "RANK.AVG", "RANK.EQ", "REDUCE", "RRI", "SCAN", "SEC", "SECH", "SEQUENCE", "SHEET", "SHEETS", "SINGLE",
    "SKEW.P", "SORTBY", "STDEV.P", "STDEV.S", "SWITCH", "T.DIST", "T.DIST.2T", "T.DIST.RT", "T.INV", "T.INV.2T",
    "T.TEST", "TAKE", "TEXTAFTER", "TEXTBEFORE", "TEXTJOIN", "TEXTSPLIT", "TOCOL", "TOROW", "UNICHAR", "UNICODE",
    "UNIQUE", "VALUETOTEXT", "VAR.P", "VAR.S", "VSTACK", "WEIBULL.DIST", "WRAPCOLS", "WRAPROWS", "XLOOKUP",
    "XMATCH", "XOR", "Z.TEST",
})  # fmt: skip
"""Younger than the file format: stored as `_xlfn.NAME`."""

YOUNGEST: Final = frozenset({"FILTER", "SORT"})
"""Stored as `_xlfn._xlws.NAME`."""
