"""Handlers that an installed package brings: they are known, and a process says whose they are."""

import sys
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from officeplane.config import Settings
from officeplane.runtime import open_runtime

CODE = """
from officeplane import handler
@handler("brought.along", title="Come along")
async def come_along(payload, context): ...
"""


async def test_handlers_that_a_package_brings_unasked_are_named_with_their_package_and_place(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "brought_handlers.py").write_text(CODE)
    about = tmp_path / "brought-1.2.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: brought\nVersion: 1.2\n")
    (about / "entry_points.txt").write_text("[officeplane.handlers]\nbrought = brought_handlers\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    with capture_logs() as logs:
        async with open_runtime(Settings(database_url=database_url)) as runtime:
            assert "brought.along" in runtime.catalogue.types

    (told,) = [entry for entry in logs if entry["event"] == "handlers.loaded"]
    assert (told["module"], told["package"]) == ("brought_handlers", "brought 1.2")
    assert told["place"] == str(tmp_path / "brought_handlers.py")
