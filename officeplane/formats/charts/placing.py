"""Places of charts, as people say them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChartPlace:
    """Where a chart is to lie and how large it is to be, in points; what is not said is free, or stays."""

    left: float | None = None
    top: float | None = None
    width: float | None = None
    height: float | None = None

    @property
    def is_said(self) -> bool:
        """Whether any of it is said."""
        return self != ChartPlace()
