"""The functions whose results are known to be the same as those of office programs; tests compare each."""

from collections.abc import Mapping
from typing import Final

from officeplane.formats.excel.recalculation.arithmetic import ARITHMETIC
from officeplane.formats.excel.recalculation.calculating import Function
from officeplane.formats.excel.recalculation.conditional import CONDITIONAL
from officeplane.formats.excel.recalculation.days import DAYS
from officeplane.formats.excel.recalculation.logic import LOGIC
from officeplane.formats.excel.recalculation.lookups import LOOKUPS
from officeplane.formats.excel.recalculation.texts import TEXTS

OF_DAYS: Final[Mapping[str, Function]] = DAYS
FUNCTIONS: Final[Mapping[str, Function]] = {**ARITHMETIC, **CONDITIONAL, **DAYS, **LOGIC, **LOOKUPS, **TEXTS}
