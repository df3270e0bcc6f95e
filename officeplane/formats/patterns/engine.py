"""The engine: RE2, whose time is linear in the text whatever the pattern, within bounds of our own.

It is machine code, and imported by nothing but the first pattern of a process:
what has to do with patterns happens in the sandbox, whose nursery has it loaded.
"""

from functools import lru_cache
from importlib import import_module
from typing import Any, Final, Protocol

from officeplane.domain.document import InvalidEditError

LENGTH_MAX: Final = 1_000
"""Letters of a pattern."""
GROUPS_MAX: Final = 20
_MEMORY_BYTES: Final = 4 * 1024 * 1024
"""What a pattern may take when it is compiled, and its automaton while it runs: more is forgotten and made again."""
_CACHED: Final = 8
_HINTS: Final = {
    "(?=": "there is no looking ahead or behind; put what is around into a group, and give it back in `replace`",
    "(?!": "there is no looking ahead or behind; `wholeWord` is a condition of what is around",
    "(?<": "there is no looking ahead or behind; put what is around into a group, and give it back in `replace`",
    "\\Z": "the end is $",
    "\\1": "a pattern cannot refer to its own groups, only `replace` can",
    "\\u": "a character is itself, or \\x{E4}",
}


class Found(Protocol):
    """A match as the engine tells it; -1 where a group took no part."""

    def span(self, group: int = 0, /) -> tuple[int, int]:
        """Return where a group, or all of it, begins and ends, in bytes."""
        ...


class Machine(Protocol):
    """A compiled pattern."""

    @property
    def groups(self) -> int:
        """How many groups it has."""
        ...

    @property
    def groupindex(self) -> dict[bytes, int]:
        """The numbers of those that have a name."""
        ...

    def search(self, text: bytes, pos: int = 0, /) -> Found | None:
        """Return the first match from a place on."""
        ...


@lru_cache(_CACHED)
def compiled(pattern: str, *, match_case: bool) -> Machine:
    """Return a pattern compiled; one that cannot be is refused with the engine's reason and its place."""
    if len(pattern) > LENGTH_MAX:
        raise InvalidEditError(f"the pattern has {len(pattern)} letters; at most {LENGTH_MAX} are looked for")
    machine = machine_of(pattern, match_case=match_case)
    if machine.groups > GROUPS_MAX:
        raise InvalidEditError(
            f"the pattern has {machine.groups} groups, and {GROUPS_MAX} are kept; write (?:…) where none is needed"
        )
    return machine


def machine_of(pattern: str, *, match_case: bool) -> Machine:
    """Return what the engine makes of a pattern, of whatever length."""
    # To load it takes 17 ms, which who looks for no pattern need not pay. It has no types.
    re2: Any = import_module("re2")
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = match_case
    options.max_mem = _MEMORY_BYTES
    try:
        machine: Machine = re2.compile(pattern.encode("utf-8", "surrogatepass"), options)
        # It would keep what it has compiled, 128 of them.
        re2.purge()
    except re2.error as error:
        raise InvalidEditError(_told(pattern, error.args[0])) from None
    return machine


def _told(pattern: str, reason: str | bytes) -> str:
    said = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
    what, _, part = said.partition(": ")
    if what.startswith("pattern too large"):
        return (
            f"the pattern {pattern!r} is too large once its repetitions are written out; give smaller counts, or say "
            "less exactly what is repeated"
        )
    hint = next((f"; {hint}" for begins, hint in _HINTS.items() if part.startswith(begins)), "")
    if what == "unexpected )":
        # The engine does not say which.
        return f"the pattern {pattern!r} cannot be read: a ) closes nothing; write \\) for the character"
    at = len(pattern) if what == "missing )" else pattern.find(part) if part else len(pattern) - 1
    shown = what if what == "missing )" or not part else f"{what}: {part}"
    return f"the pattern {pattern!r} cannot be read: {shown}, at letter {max(at, 0) + 1}{hint}"
