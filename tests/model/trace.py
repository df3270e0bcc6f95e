"""What a search has seen, for people: its figures, and the shortest way to what is wrong as a table."""

from tests.model.rows import Fact, Tables, short
from tests.model.search import Found
from tests.model.steps import Violation, as_tables

ANSWER_MAX = 60


def figures(found: Found) -> str:
    """Return in a line how much was seen."""
    return (
        f"{found.states} states on {found.ledgers} ledgers, {found.steps} steps, "
        f"{found.transactions} transactions carried out"
    )


def told(violation: Violation) -> str:
    """Return what is wrong, and the way there."""
    lines = [f"Broken: {violation.law}.", f"        {short(violation.what)}.", ""]
    lines += ["| # | who | does | and is answered | then |", "|--:|---|---|---|---|"]
    for number, link in enumerate(violation.way, start=1):
        answer = short(link.answer).replace("|", "/")
        shown = answer if len(answer) <= ANSWER_MAX else answer[: ANSWER_MAX - 1] + "…"
        lines.append(
            f"| {number} | {link.who} | {short(link.what)} | {shown} | {_in_short(as_tables(link.after.rows))} |"
        )
    return "\n".join(lines)


def _in_short(tables: Tables) -> str:
    return "; ".join([*map(_task, tables["tasks"]), *map(_claim, tables["agent_claims"])])


def _task(row: Fact) -> str:
    lease = "" if row["lease_until"] is None else f", lease {row['lease_until']}"
    due = "" if row["run_at"] == "past" else ", not due"
    return f"{short(row['id'])} {row['state']} ({row['attempts_charged']} of {row['attempt']} charged{lease}{due})"


def _claim(row: Fact) -> str:
    how = "open" if row["ended_at"] is None else " ".join(filter(None, (row["verb"], row["ended_as"])))
    cost = "" if row["cost_micros"] is None else f", cost {row['cost_micros']}"
    return f"{row['agent_id']}'s {short(row['claim_id'])} {how}{', late' if row['late'] else ''}{cost}"
