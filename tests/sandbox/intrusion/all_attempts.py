"""All that an intruder tries."""

from collections.abc import Iterator

from tests.sandbox.intrusion.on_files import on_files, on_the_system_of_files
from tests.sandbox.intrusion.on_processes import on_itself, on_others
from tests.sandbox.intrusion.on_the_kernel import on_memory, on_the_kernel
from tests.sandbox.intrusion.on_the_network import on_the_network
from tests.sandbox.intrusion.targets import Attempt, Targets


def all_attempts(targets: Targets) -> Iterator[Attempt]:
    """Give each attempt, by what it is."""
    for kind in (on_files, on_the_system_of_files, on_the_network, on_others, on_the_kernel, on_memory, on_itself):
        yield from kind(targets)


NAMES = [name for name, _ in all_attempts(Targets())]
FILES = [name for name, _ in on_files(Targets())]
