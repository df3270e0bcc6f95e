"""`python -m workers`: one worker process, as `officeplane worker` starts it."""

from functools import partial

import typer

from officeplane.cli.exits import run_to_end
from officeplane.cli.worker import worker

if __name__ == "__main__":
    run_to_end(partial(typer.run, worker))
