"""`python -m workers`: one worker process, as `officeplane worker` starts it."""

import typer

from officeplane.cli.worker import worker

if __name__ == "__main__":
    typer.run(worker)
