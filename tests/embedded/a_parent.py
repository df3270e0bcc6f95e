"""A process that keeps an embedded stack until it is ended, for tests that end it roughly.

python a_parent.py DATA_DIR        says its pids and URLs as one line of JSON
"""

import asyncio
import json
import sys
from pathlib import Path

from officeplane.embedded.errors import EmbeddedError
from officeplane.embedded.stack import embedded_stack


async def main(data_dir: Path) -> None:
    async with embedded_stack(data_dir, durable=False) as stack:
        facts = {
            "postgres": stack.postgres.pid,
            "valkey": stack.valkey.pid,
            "watchdog": stack.watchdog.pid,
            "database_url": stack.database_url,
            "redis_url": stack.redis_url,
        }
        print(json.dumps(facts), flush=True)  # noqa: T201
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    try:
        asyncio.run(main(Path(sys.argv[1])))
    except EmbeddedError as error:
        sys.exit(str(error))
