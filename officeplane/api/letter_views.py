"""Dead letters as the API shows them."""

from officeplane.api.task_views import ErrorView, FailureView, failure_view
from officeplane.api.views import Time, View
from officeplane.domain.dead_letter import Decided, Decision, Reviewed
from officeplane.domain.space import bare


class DecisionView(View):
    """What somebody decided about a letter of the task."""

    decision: Decision
    by: str
    at: Time
    note: str | None
    generation: int


class LetterView(View):
    """One generation of a task that gave up."""

    task_id: str
    generation: int
    task_type: str
    document_id: str | None
    dag_id: str | None
    error: ErrorView
    failures: tuple[FailureView, ...]
    total_cost_usd: float
    fingerprint: str
    poison_pill: bool
    recurring: bool
    dead_lettered_at: Time
    escalated_at: Time | None
    resolution: Decision | None
    resolved_by: str | None
    resolved_at: Time | None
    note: str | None
    decisions: tuple[DecisionView, ...]


class SkippedView(View):
    """A letter for which the decision could not be carried out."""

    task_id: str
    code: str
    detail: str


class PartView(View):
    """What became of a part of the letters that are alike; with a `cursor` there may be more."""

    fingerprint: str
    decision: Decision
    count: int
    skipped: tuple[SkippedView, ...]
    cursor: str | None


def letter_view(reviewed: Reviewed) -> LetterView:
    """Return a letter as it is shown."""
    letter = reviewed.letter
    return LetterView(
        task_id=letter.task_id,
        generation=letter.generation,
        task_type=letter.task_type,
        document_id=None if letter.document_id is None else bare(letter.document_id),
        dag_id=letter.dag_id,
        error=ErrorView(kind=letter.kind, message=letter.message),
        failures=tuple(map(failure_view, reviewed.failures)),
        total_cost_usd=letter.total_cost_usd,
        fingerprint=letter.fingerprint,
        poison_pill=letter.poison_pill,
        recurring=letter.recurring,
        dead_lettered_at=letter.dead_lettered_at,
        escalated_at=letter.escalated_at,
        resolution=letter.resolution,
        resolved_by=letter.resolved_by,
        resolved_at=letter.resolved_at,
        note=letter.note,
        decisions=tuple(map(_decision_view, reviewed.decisions)),
    )


def _decision_view(decided: Decided) -> DecisionView:
    return DecisionView(
        decision=decided.decision, by=decided.by, at=decided.at, note=decided.note, generation=decided.generation
    )
