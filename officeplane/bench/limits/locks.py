"""Lock cycles: SET NX PX, then compare and delete by script, a hundred of each to a round trip."""

from typing import Final

from officeplane.bench.ground import Ground
from officeplane.bench.limits import bare
from officeplane.bench.scenario import Limit

_RELEASE: Final = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
_TTL_MILLISECONDS: Final = 60_000


async def _cycles(ground: Ground) -> float:
    count = ground.sized(50_000)
    groups = list(bare.hundreds(count))
    async with ground.installation() as installation, bare.client(installation) as client:
        digest = str(await client.execute_command("SCRIPT LOAD", _RELEASE))

        async def cycle(_lane: int, number: int) -> None:
            names = [bare.key(installation, f"lock-{lock}") for lock in groups[number]]
            taking, giving = bare.pipeline(client), bare.pipeline(client)
            for name in names:
                taking.execute_command("SET", name, "mine", "NX", "PX", _TTL_MILLISECONDS)
                giving.execute_command("EVALSHA", digest, 1, name, "mine")
            await taking.execute()
            await giving.execute()

        return count / len(groups) * await bare.rate(len(groups), 1, cycle)


CYCLES: Final = Limit("lock_cycles", "take and give back a lock, 100 a round trip", "cycles/s", _cycles)
