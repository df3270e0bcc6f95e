"""Draws `docs/lifecycle.md` from the table of states; `python -m tests.architecture.lifecycle_page` writes it."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from officeplane.domain.lifecycle import FINAL, MEANINGS, STATE_SETS, TRANSITIONS, TaskState

PAGE: Final = Path(__file__).parents[2] / "docs" / "lifecycle.md"
HEAD: Final = """\
# The life of a task

<!-- Drawn from officeplane/domain/lifecycle.py; `python -m tests.architecture.lifecycle_page` draws it anew. -->

A task is in one state at a time. What is not on this page does not happen: Python asks the table it is drawn from, the
SQL is bound to its sets of states, the database refuses to change a final task, and the tests take every way for real.
"""


def render() -> str:
    """Return the page."""
    return "\n".join(
        [
            HEAD,
            *_diagram(),
            "",
            "## States",
            "",
            *_table(("state", "meaning", "is left by"), ((f"`{s}`", MEANINGS[s], _signals_from(s)) for s in TaskState)),
            "",
            "## Transitions",
            "",
            "The signal is the name of the way; in any other state it is refused and changes nothing.",
            "",
            *_table(
                ("signal", "from", "to", "moved by", "when"),
                ((f"`{way.signal}`", _spelled(way.sources), f"`{way.target}`", way.moved_by, way.when)
                 for way in TRANSITIONS),
            ),
            "",
            "## Sets of states",
            "",
            "SQL names them in braces, as in `state IN {claimable}`.",
            "",
            *_table(("set", "states"), ((f"`{name}`", _spelled(states)) for name, states in STATE_SETS.items())),
            "",
        ]
    )  # fmt: skip


def _diagram() -> Iterator[str]:
    yield "```mermaid"
    yield "stateDiagram-v2"
    for first in (TaskState.PENDING, TaskState.QUEUED):
        yield f"    [*] --> {first}: submit"
    between: dict[tuple[TaskState, TaskState], list[str]] = {}
    for way in TRANSITIONS:
        for source in way.sources:
            between.setdefault((source, way.target), []).append(way.signal)
    for (source, target), signals in between.items():
        yield f"    {source} --> {target}: {', '.join(signals)}"
    for last in FINAL:
        yield f"    {last} --> [*]"
    yield "```"


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield _line(heads)
    yield _line("---" for _ in heads)
    for row in rows:
        yield _line(row)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _spelled(states: Iterable[TaskState]) -> str:
    return " ".join(f"`{state}`" for state in states)


def _signals_from(state: TaskState) -> str:
    return " ".join(f"`{way.signal}`" for way in TRANSITIONS if state in way.sources) or "nothing"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
