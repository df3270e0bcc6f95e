"""The shape of a scenario: a name, what it is compared with, and a function from the servers to a result."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

from officeplane.bench.figures import Figure
from officeplane.bench.servers import Servers


class Result(Protocol):
    """What one measurement found: a dataclass that knows which of its numbers are worth a line."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def figures(self) -> Sequence[Figure]: ...


@dataclass(frozen=True, slots=True)
class Scenario:
    """One thing to measure of this system."""

    name: str
    title: str
    measure: Callable[[Servers], Awaitable[Result]]


@dataclass(frozen=True, slots=True)
class Limit:
    """One number of the bare servers, or of work by hand: how many a second, or how many milliseconds."""

    name: str
    title: str
    unit: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """One measurement of what scenarios are compared with, and the limits that it finds, in their order."""

    limits: Sequence[Limit]
    measure: Callable[[Servers], Awaitable[Sequence[float]]]


class Suite(NamedTuple):
    """What is measured together, and what it is compared with."""

    scenarios: Sequence[Scenario]
    comparisons: Sequence[Comparison]
