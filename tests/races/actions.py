"""What actors do, and in which words they tell what they got."""

from collections.abc import Sequence
from typing import Final

from officeplane.domain.errors import IllegalStateError
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.outcome import Failed, HandedBack, Outcome, Succeeded
from officeplane.domain.patch import TaskPatch
from officeplane.domain.principal import LOCAL
from officeplane.services.settle.settlements import Fenced
from tests.races.arena import Act, Arena, Round, Who

LATER: Final = "2999-01-01T00:00:00Z"


async def _claim(arena: Arena, round_: Round, who: Who) -> str:
    hint = next(task for task in reversed(round_.tasks) if not task.is_batch)
    claimed = await arena.claim(round_.actor(who), hint)
    return "nothing" if claimed is None else "the attempt"


async def _settle(arena: Arena, round_: Round, who: Who, outcome: Outcome) -> str:
    settled = await round_.actor(who).settle(round_.holds[who], outcome)
    if isinstance(settled, Fenced):
        arena.fenced += 1
        return "fenced"
    return settled.state


async def _complete(arena: Arena, round_: Round, who: Who) -> str:
    return await _settle(arena, round_, who, Succeeded(f'{{"by": "{who}"}}'))


async def _fail(arena: Arena, round_: Round, who: Who) -> str:
    return await _settle(arena, round_, who, Failed(Failure(FailureKind.ERROR, "it went wrong")))


async def _time_out(arena: Arena, round_: Round, who: Who) -> str:
    return await _settle(arena, round_, who, Failed(Failure(FailureKind.TIMEOUT, "it took too long")))


async def _hand_back(arena: Arena, round_: Round, who: Who) -> str:
    return await _settle(arena, round_, who, HandedBack())


async def _cancel(_arena: Arena, round_: Round, who: Who) -> str:
    try:
        await round_.actor(who).runtime.cancellation.cancel(LOCAL, round_.target, None)
    except IllegalStateError:
        return "refused"
    return "accepted"


async def _retry(_arena: Arena, round_: Round, who: Who) -> str:
    try:
        await round_.actor(who).runtime.reopening.retry(LOCAL, round_.target)
    except IllegalStateError:
        return "refused"
    round_.retries += 1
    return "accepted"


async def _put_off(_arena: Arena, round_: Round, who: Who) -> str:
    try:
        await round_.actor(who).runtime.patches.patch(LOCAL, round_.target, TaskPatch.model_validate({"runAt": LATER}))
    except IllegalStateError:
        return "refused"
    return "accepted"


async def _renew(_arena: Arena, round_: Round, who: Who) -> str:
    held = round_.holds[who]
    lost = await round_.actor(who).worker.leases.renew([(held.id, held.claim_id)], 30)
    return "a loss" if lost else "no loss"


async def _reap(arena: Arena, wave: Sequence[Round], who: Who) -> str:
    # One round of the chore ends all that has lapsed; what it ended shows in the tasks.
    ended = await wave[0].actor(who).worker.redelivery.reap()
    arena.reaped += ended
    return "done"


CLAIM: Final = Act("claim", _claim)
COMPLETE: Final = Act("complete", _complete)
FAIL: Final = Act("fail", _fail)
TIME_OUT: Final = Act("time out", _time_out)
CANCEL: Final = Act("cancel", _cancel)
RETRY: Final = Act("retry", _retry)
REAP: Final = Act("reap", wave_action=_reap)
# The settlement of a child that is its batch's last.
ROLL_UP: Final = Act("roll up", _complete)

HAND_BACK: Final = Act("hand back", _hand_back)
RENEW: Final = Act("renew", _renew)
PUT_OFF: Final = Act("put off", _put_off)

NAMED: Final = (CLAIM, COMPLETE, FAIL, CANCEL, RETRY, REAP, TIME_OUT, ROLL_UP)
