"""What Redis says of itself: commands so far, processor time so far."""

from officeplane.dispatch.commands import packed
from officeplane.dispatch.connection import Connection

POPS = frozenset({"blpop", "brpop", "lpop", "rpop", "lmpop", "blmpop"})


async def commands(redis: Connection) -> dict[str, int]:
    """Return how often each command was run so far, by whomever, in scripts too."""
    found: dict[str, int] = {}
    for name, value in (await info(redis, "commandstats")).items():
        calls = dict(part.split("=", 1) for part in value.split(","))["calls"]
        command = name.removeprefix("cmdstat_").partition("|")[0]
        found[command] = found.get(command, 0) + int(calls)
    return found


async def processor_seconds(redis: Connection) -> float:
    """Return the processor time that the server has used so far."""
    said = await info(redis, "cpu")
    return float(said["used_cpu_user"]) + float(said["used_cpu_sys"])


async def info(redis: Connection, section: str) -> dict[str, str]:
    """Return one section of INFO."""
    (reply,) = await redis.ask([packed("INFO", section)], within_seconds=10)
    lines = str(reply).splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line and not line.startswith("#"))
