"""Spending: what an attempt has cost, in micro-dollars and tokens, as totals that only grow."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Final, NamedTuple

MICROS_PER_USD: Final = 1_000_000
USD_MAX: Final = 1_000_000
"""How much one attempt may say that it has cost."""
TOKENS_MAX: Final = 10**15


class Spending(NamedTuple):
    """What an attempt has used so far, as whoever does it says; None: nothing was said, which is not nothing."""

    cost_micros: int | None = None
    tokens: Mapping[str, int] | None = None

    @property
    def is_told(self) -> bool:
        """Whether anything was said."""
        return self.cost_micros is not None or bool(self.tokens)


def total_of(many: Iterable[Spending]) -> Spending:
    """Return what several attempts have used together; what says nothing adds nothing."""
    told = [one for one in many if one.is_told]
    costs = [one.cost_micros for one in told if one.cost_micros is not None]
    tokens = Counter[str]()
    for one in told:
        tokens.update(one.tokens or {})
    return Spending(sum(costs) if costs else None, dict(tokens) or None)


def micros_of(usd: Decimal) -> int:
    """Return an amount in micro-dollars, rounded up: this is the one place where it is rounded."""
    if usd > 0 and usd.adjusted() < -6:
        # Whatever is written with a large exponent is not worked out.
        return 1
    # Decimals would round to so many digits before they round up.
    return math.ceil(Fraction(usd) * MICROS_PER_USD)


def usd_of(micros: int | None) -> float | None:
    """Return an amount as it is shown; a number with six digits behind its point has one spelling."""
    return None if micros is None else micros / MICROS_PER_USD
