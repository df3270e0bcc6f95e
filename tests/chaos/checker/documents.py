"""I5 and I8: the revisions of a document are one chain, each of one completed edit, and its file says what they did.

Edits that are settled together, those that ended ahead of their turn among them, were
all claimed by one statement; in the chain they are by rank, then in the order accepted.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from tests.chaos.checker.lives import Lives
from tests.chaos.checker.violation import Violation
from tests.chaos.evidence import Evidence, RevisionRow, TaskRow


def check_documents(evidence: Evidence, lives: Lives) -> Iterator[Violation]:
    """Yield edits that are lost, doubled, or not in their place."""
    made = Counter(revision.task_id for revision in evidence.revisions)
    for life in lives.values():
        task = life.task
        if task.is_edit and made[task.id] != (task.state == "COMPLETED"):
            yield Violation("I5", f"edit {task.id} is {task.state} and made {made[task.id]} revisions")
    chains: defaultdict[str, list[RevisionRow]] = defaultdict(list)
    for revision in sorted(evidence.revisions, key=lambda revision: revision.revision):
        chains[revision.document_id].append(revision)
    for document, chain in chains.items():
        yield from _links(document, chain, evidence)
        edits = [evidence.tasks[one.task_id] for one in chain if one.task_id in evidence.tasks]
        yield from _order(document, edits, lives)
        yield from _words(document, [task.title for task in edits], evidence.chapters.get(document, []))


def _words(document: str, edits: Sequence[str | None], chapters: Sequence[str]) -> Iterator[Violation]:
    if edits != chapters:
        alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(edits, chapters, strict=False)))
        yield Violation(
            "I8", f"{document} has {len(edits)} edits, its file {len(chapters)}; they differ from {alike} on"
        )


def _links(document: str, chain: Sequence[RevisionRow], evidence: Evidence) -> Iterator[Violation]:
    numbers = [(one.revision, one.base) for one in chain]
    if numbers != [(number, number - 1) for number in range(1, len(chain) + 1)]:
        yield Violation("I5", f"the revisions of {document} are no chain: {numbers}")
    if evidence.heads.get(document) != len(chain):
        yield Violation("I5", f"{document} is at {evidence.heads.get(document)} and has {len(chain)} revisions")
    for one in chain[1:]:
        task = evidence.tasks.get(one.task_id or "")
        if task is None or task.document_id != document:
            yield Violation("I5", f"revision {one.revision} of {document} is of {one.task_id}, no task of its lane")


def _order(document: str, edits: Sequence[TaskRow], lives: Lives) -> Iterator[Violation]:
    """Yield edits that come before one that was claimed before them."""
    for before, then in pairwise(edits):
        claimed, later = (lives[task.id].entered("RUNNING")[-1:] for task in (before, then))
        if not claimed or not later:
            continue
        place, following = ((one[0].id, task.rank, task.seq) for one, task in ((claimed, before), (later, then)))
        if place > following:
            yield Violation("I6", f"in {document} {then.id} was edited after {before.id}, which was not before it")
