"""The API as `officeplane serve` serves it, within limits that a test need not wait for: `python -m … '{…}'`."""

import json
import sys
from typing import NoReturn

from officeplane.cli.connections import WireLimits
from officeplane.cli.environment import read_settings
from officeplane.cli.hosting import host_server, listen
from officeplane.server import create_app
from officeplane.telemetry.logs import configure_logs


def main() -> int:
    settings = read_settings(port=0)
    configure_logs(settings)
    with listen(settings) as listener:
        return host_server(create_app(settings), settings, listener, WireLimits(**json.loads(sys.argv[1])))


def run() -> NoReturn:
    sys.exit(main())


if __name__ == "__main__":
    run()
