"""What happens in every world: the reaper, somebody who cancels, and time."""

from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import ACTIVE
from officeplane.domain.principal import LOCAL
from tests.model.rows import OLD, PAST, TO_COME, Fact, Tables, short
from tests.model.steps import Deed, Shift, Site


def reaping(*, is_left: bool = True) -> Deed:
    """Let the reaper look, and end what it has found."""

    async def reap(site: Site) -> object:
        return await site.worker.redelivery.reap()

    return Deed("the reaper", "reaps", reap, is_left=is_left)


def cancelling(row: Fact) -> Deed:
    """Let a person cancel a task."""

    async def cancel(site: Site) -> None:
        await site.runtime.cancellation.cancel(LOCAL, TaskId(row["id"]), None)

    return Deed("a person", f"cancels {short(row['id'])}", cancel)


def lease_over(number: int) -> Shift:
    """Let the lease of a task run out."""

    def passed(tables: Tables) -> bool:
        row = tables["tasks"][number]
        is_there: bool = row["state"] in ACTIVE and row["lease_until"] == TO_COME
        if is_there:
            row["lease_until"] = PAST
        return is_there

    return Shift(f"passes: the lease of t{number + 1} is over", passed)


def time_up(number: int) -> Shift:
    """Let a task run longer than it may."""

    def passed(tables: Tables) -> bool:
        row = tables["tasks"][number]
        is_there: bool = row["state"] == "RUNNING" and row["started_at"] == PAST
        if is_there:
            # No lease goes beyond that.
            row["started_at"], row["lease_until"] = OLD, PAST
        return is_there

    return Shift(f"passes: t{number + 1} has run for too long", passed)


def retry_due(number: int) -> Shift:
    """Let the retry of a task come due."""

    def passed(tables: Tables) -> bool:
        row = tables["tasks"][number]
        is_there: bool = row["run_at"] == TO_COME
        row["run_at"] = PAST
        return is_there

    return Shift(f"passes: t{number + 1} is due", passed)


def decline_forgotten() -> Shift:
    """Let those be asked again who declined a task."""

    def passed(tables: Tables) -> bool:
        fresh = [row for row in tables["agent_declines"] if row["declined_at"] == PAST]
        for row in fresh:
            row["declined_at"] = OLD
        return bool(fresh)

    return Shift("passes: a minute", passed)
