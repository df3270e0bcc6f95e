"""What may go wrong when an attempt failed."""

from officeplane.domain.outcome import ByAgent, HandedBack, Outcome, RetryRules, Verdict, judge
from officeplane.domain.retry import RetryPolicy, RetryState
from officeplane.domain.task import ClaimedTask
from officeplane.services.settle import judgement
from officeplane.services.settle.judgement import Judged
from tests.chaos.mutants.texts import monkey_patch


def backoff_off_by_one() -> None:
    """The delays are those of one retry earlier."""
    right = RetryPolicy.delay_seconds

    def wrong(policy: RetryPolicy, retry: int, chance: float) -> float:
        return right(policy, retry - 1, chance)

    monkey_patch(RetryPolicy, "delay_seconds", wrong)


def hand_back_charged() -> None:
    """An attempt that was stopped for no fault of its own is charged."""

    def judged(
        task: ClaimedTask,
        outcome: Outcome,
        rules: RetryRules,
        chance: float,
        rate_limits: int,
        by_agent: ByAgent | None,
    ) -> Verdict:
        verdict = judge(task, outcome, rules, chance, rate_limits, by_agent)
        return verdict._replace(charged=True) if isinstance(outcome, HandedBack) else verdict

    def leads_to_more(one: Judged) -> bool:
        # The statement for plain ends charges nobody.
        return one.verdict.charged or right(one)

    right = Judged.leads_to_more.__get__
    monkey_patch(judgement, "judge", judged)
    monkey_patch(Judged, "leads_to_more", property(leads_to_more))


def poison_ignored() -> None:
    """A task may take down as many processes as it has attempts."""
    monkey_patch(RetryState, "is_poisoned", property(lambda _: False))
