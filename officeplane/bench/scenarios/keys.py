"""Keys: what it costs that every request has one, beside a server that asks nobody."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from officeplane.bench.figures import Figure
from officeplane.bench.scenario import Scenario
from officeplane.bench.scenarios.post import post
from officeplane.bench.servers import Servers
from officeplane.domain.principal import LOCAL, Scope
from officeplane.runtime import open_runtime

TURNS: Final = 8
_WARM_UP: Final = 200


@dataclass(frozen=True, slots=True)
class Keyed:
    """How quickly tasks were accepted with keys and without, in turns."""

    tasks: int
    with_key: float
    without: float

    def figures(self) -> Sequence[Figure]:
        return [
            Figure("rate", self.with_key, "requests/s"),
            Figure("to that without keys", self.with_key / self.without, "x"),
        ]


async def _measure(servers: Servers) -> Keyed:
    tasks = servers.sized(1_500)
    rates: dict[str, list[float]] = {"": []}
    async with servers.installation() as installation:
        async with open_runtime(installation.settings) as runtime:
            made = await runtime.api_keys.create(LOCAL, "bench", [Scope.EDIT])
        rates[made.text] = []
        async with installation.server(auth="off") as open_to_all, installation.server(auth="required") as guarded:
            both = [("", open_to_all), (made.text, guarded)]
            for turn in range(TURNS + 1):
                # Each is the first as often as the other, which finds what the first has left to be written.
                for key, port in both if turn % 2 else both[::-1]:
                    per_second, _ = await post(port, tasks if turn else _WARM_UP, key)
                    if turn:
                        rates[key].append(per_second)
    return Keyed(tasks * TURNS, median(rates[made.text]), median(rates[""]))


KEYS: Final = Scenario("keys", "POST /api/tasks with a key and where nobody is asked for one, in turns", _measure)
