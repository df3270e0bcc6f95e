"""Stacks of their own for tests that kill them, and parents that can be killed with them."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PARENT = Path(__file__).with_name("a_parent.py")


@dataclass(frozen=True, slots=True)
class Parent:
    """A process that holds a stack, and what it said of it."""

    process: subprocess.Popen[str]
    postgres: int
    valkey: int
    watchdog: int
    database_url: str
    redis_url: str


StartParent = Callable[[Path], Parent]


@pytest.fixture
def a_parent() -> Iterator[StartParent]:
    """Starts a process that keeps a stack on a folder; it is ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(data_dir: Path) -> Parent:
        process = subprocess.Popen(
            [sys.executable, PARENT, data_dir], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        return Parent(process, **json.loads(process.stdout.readline()))

    yield start
    for process in started:
        process.communicate()
