"""The catalogue: every task type this process knows, by name."""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from types import ModuleType
from typing import Final

from officeplane import handlers as builtin
from officeplane.domain.batch import BATCH_TYPE
from officeplane.domain.errors import FieldError, UnknownTaskTypeError
from officeplane.domain.spelling import nearest_name
from officeplane.edits.all_edits import all_edits
from officeplane.handlers.agent_types import AGENT_TYPES
from officeplane.handlers.contract import MARK, TaskType

ENTRY_POINT_GROUP: Final = "officeplane.handlers"


class DuplicateTaskTypeError(Exception):
    """Two handlers claim the same task type."""


class Catalogue:
    """The task types of this process, and what it has learnt of those that the ledger declares."""

    def __init__(self, types: Iterable[TaskType]) -> None:
        own: dict[str, TaskType] = {}
        for task_type in types:
            known = own.setdefault(task_type.name, task_type)
            if known is not task_type:
                places = f"in {known.origin} and in {task_type.origin}"
                message = f"Task type {task_type.name!r} is declared twice: {places}."
                raise DuplicateTaskTypeError(message)
        self._own: Final[Mapping[str, TaskType]] = own
        self._types: Mapping[str, TaskType] = own
        self.handled: Final = frozenset(own)
        """The names of the types that are found in the code: of these the ledger has nothing to say."""

    def learn(self, declared: Iterable[TaskType]) -> None:
        """Know these besides, in place of what was learnt before; what has a handler here stays that handler's."""
        # Put in place whole: requests are taken in beside the loop as well.
        self._types = {**{task_type.name: task_type for task_type in declared}, **self._own}

    @property
    def types(self) -> Mapping[str, TaskType]:
        """Every task type by name."""
        return self._types

    @property
    def runnable(self) -> list[str]:
        """The names of the task types that a worker with this catalogue may claim."""
        return sorted(
            name
            for name, known in self._own.items()
            # Of batches only the atomic ones are ever offered.
            if known.run is not None or known.edits_document or name == BATCH_TYPE
        )

    @property
    def own_seconds(self) -> dict[str, float]:
        """How long attempts may take by their types, of those that have a breaker."""
        return {name: known.own_seconds for name, known in self._own.items() if known.has_breaker}

    def has_breaker(self, name: str) -> bool:
        """Tell whether failures hold this type back; of one that is not known here, nobody can say that they do not."""
        known = self._types.get(name)
        return known is None or known.has_breaker

    def find(self, name: str) -> TaskType:
        """Return the task type of this name; raise when there is none."""
        try:
            return self._types[name]
        except KeyError:
            known = ", ".join(sorted(self._types))
            meant = nearest_name(name, self._types)
            what = "There is no such task type" + ("." if meant is None else f"; did you mean {meant!r}?")
            message = f"There is no task type {name!r}; known are: {known}."
            raise UnknownTaskTypeError(message, [FieldError("taskType", what)]) from None


@dataclass(frozen=True, slots=True)
class Installed:
    """A module with handlers that nobody has named: a package that is installed here brings it."""

    module: str
    package: str
    place: str


def installed_handlers() -> list[Installed]:
    """Return what installed packages bring, each imported."""
    return [
        Installed(
            entry.module,
            "unknown" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}",
            str(importlib.import_module(entry.module).__file__),
        )
        for entry in entry_points(group=ENTRY_POINT_GROUP)
    ]


def load_catalogue(modules: Iterable[ModuleType | str] = ()) -> Catalogue:
    """Return the built-in task types with those of the modules and of installed entry points."""
    installed = (found.module for found in installed_handlers())
    done_here = [*_edits(), *_declared([*_builtin_modules(), *installed, *modules])]
    taken = {known.name for known in done_here}
    return Catalogue([*done_here, *(known for known in AGENT_TYPES if known.name not in taken)])


def _edits() -> Iterator[TaskType]:
    for edit in all_edits().values():
        yield TaskType(
            name=edit.task_type,
            title=edit.title_for_people,
            payload=edit,
            run=None,
            is_async=False,
            formats=edit.formats(),
            edits_document=True,
            payload_bytes_max=edit.payload_bytes_max,
            takes_from=edit.takes_from,
        )


def _builtin_modules() -> Iterator[str]:
    for module in pkgutil.iter_modules(builtin.__path__, f"{builtin.__name__}."):
        yield module.name


def _declared(modules: Iterable[ModuleType | str]) -> Iterator[TaskType]:
    seen: set[int] = set()
    for given in modules:
        module = importlib.import_module(given) if isinstance(given, str) else given
        for value in vars(module).values():
            declared = value if isinstance(value, TaskType) else getattr(value, MARK, None)
            if isinstance(declared, TaskType) and id(declared) not in seen:
                seen.add(id(declared))
                yield declared
