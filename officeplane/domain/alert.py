"""Alerts: what somebody outside is told when tasks give up, or an agent is paused."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from officeplane.domain.dead_letter import DeadLetter
from officeplane.domain.ids import AgentId

SHOWN_LENGTH: Final = 500
CAUSES_SHOWN: Final = 5

Reason = Literal["dead_lettered", "escalated"]


@dataclass(frozen=True, slots=True)
class Alert:
    """One letter that somebody is to be told of."""

    id: int
    reason: Reason
    letter: DeadLetter


@dataclass(frozen=True, slots=True)
class AgentAlert:
    """An agent that was paused because it let one claim after the other run out."""

    id: int
    agent_id: AgentId
    reason: Literal["agent_paused"] = "agent_paused"


def summary(alerts: Sequence[Alert | AgentAlert]) -> str:
    """Say for people what happened, agents first, and then the most frequent causes."""
    letters = [alert for alert in alerts if isinstance(alert, Alert)]
    agents = sorted({alert.agent_id for alert in alerts if isinstance(alert, AgentAlert)})
    told = [f"Agent {agent_id} was paused: its last claims all ran out." for agent_id in agents]
    return "\n".join([*told, *([_summary_of_letters(letters)] if letters else [])])


def _summary_of_letters(alerts: Sequence[Alert]) -> str:
    gave_up = sum(alert.reason == "dead_lettered" for alert in alerts)
    escalated = len(alerts) - gave_up
    counts = ((gave_up, "gave up"), (escalated, "escalated"))
    head = ", ".join(f"{_tasks(count)} {what}" for count, what in counts if count)
    causes = Counter((alert.letter.task_type, alert.letter.kind, alert.letter.fingerprint) for alert in alerts)
    examples = {alert.letter.fingerprint: alert.letter.message for alert in alerts}
    lines = [
        f"{count} × {task_type}, {kind}: {_plain(examples[fingerprint][:SHOWN_LENGTH])} [{fingerprint}]"
        for (task_type, kind, fingerprint), count in causes.most_common(CAUSES_SHOWN)
    ]
    more = len(causes) - len(lines)
    return "\n".join([f"{head}:", *lines, *([f"and {more} more causes"] if more else [])])


def _plain(words: str) -> str:
    """Return words of a caller's in one line, so that no chat tool takes them for a link or a call to everybody."""
    words = "".join(character if character.isprintable() else " " for character in words)
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _tasks(count: int) -> str:
    return f"{count} task" if count == 1 else f"{count} tasks"
