"""`python -m workers`: one worker process, as `officeplane worker` starts it."""

from officeplane.cli.worker import main

if __name__ == "__main__":
    main()
