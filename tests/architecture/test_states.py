"""The states are spelled once: whoever else spells them says the same."""

import ast
import re
from pathlib import Path

from officeplane.domain.lifecycle import TaskState
from tests.workbench import Workbench

ROOT = Path(__file__).parents[2]


async def test_the_database_knows_exactly_the_states_of_the_table(bench: Workbench) -> None:
    (row,) = await bench.execute(
        "SELECT pg_get_constraintdef(oid) AS said FROM pg_constraint WHERE conname = 'tasks_state_is_known'"
    )

    assert sorted(re.findall(r"'([A-Z]+)'", row["said"])) == sorted(TaskState)


def test_no_module_spells_a_state_as_text() -> None:
    table = ROOT / "officeplane" / "domain" / "lifecycle.py"
    modules = [path for folder in ("officeplane", "workers") for path in (ROOT / folder).rglob("*.py")]

    found = [
        f"{path}:{node.lineno}: {node.value}"
        for path in modules
        if path != table
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in set(TaskState)
    ]

    assert found == []
