"""`python -m tests.chaos.broken MUTANT -- worker ...`: the normal command line of a product with one guard removed."""

import sys

from officeplane.cli.main import run
from tests.chaos.mutants import MUTANTS


def main() -> None:
    """Break what is named, then run the rest of the arguments as `officeplane` would."""
    name, dashes, *arguments = sys.argv[1:]
    assert dashes == "--", "python -m tests.chaos.broken MUTANT -- COMMAND ..."
    MUTANTS[name].apply()
    sys.argv[1:] = arguments
    run()


if __name__ == "__main__":
    main()
