"""The rescue: a process whose loop is blocked ends, whatever else fails."""

import os
import subprocess
import sys
from typing import Final

from workers.rescue import EXIT_CODE

BLOCKED_WITHOUT_STANDARD_ERROR: Final = """
import asyncio, os
from officeplane.domain.blockage import Blockage
from workers.rescue import Rescue
os.close(2)
rescue = Rescue("postgresql://127.0.0.1:9/nowhere", "worker", None, counted_by="worker")
asyncio.run(rescue.end_process(Blockage(7.0, "acme.py:7"), [], "its time was over"))
"""


def test_a_process_that_cannot_say_why_ends_all_the_same() -> None:
    ended = subprocess.run([sys.executable, "-c", BLOCKED_WITHOUT_STANDARD_ERROR], check=False, timeout=120)

    assert ended.returncode == EXIT_CODE == os.EX_TEMPFAIL
