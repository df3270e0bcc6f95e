"""The installation of this machine, found without being told of it."""

import json
from pathlib import Path

import pytest

from officeplane.local import ADDRESSES, DATA_DIR, local_installation


@pytest.fixture(autouse=True)
def _named_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OFFICEPLANE_DATA_DIR")


def test_the_nearest_installation_above_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = tmp_path / "one" / "two"
    (below.parent / DATA_DIR).mkdir(parents=True)
    below.mkdir()
    facts = {"url": "http://127.0.0.1:1", "databaseUrl": "d", "ownerUrl": "o", "redisUrl": "r"}
    (below.parent / DATA_DIR / ADDRESSES).write_text(json.dumps(facts))
    monkeypatch.chdir(below)

    found = local_installation()

    assert found is not None
    assert (found.data_dir, found.url) == (below.parent / DATA_DIR, "http://127.0.0.1:1")


def test_in_a_folder_that_was_removed_none_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert local_installation() is None
