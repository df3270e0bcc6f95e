"""What a program writes is kept, shown and bounded."""

import io
import os
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from officeplane.embedded import log_file
from officeplane.embedded.log_file import LogFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "it.log"


def shown(path: Path, *words: str) -> str:
    """What a screen shows of words that a program writes one after the other."""
    log, screen = LogFile(path), io.StringIO()
    descriptor = log.open()
    for each in words:
        os.write(descriptor, each.encode())
        log.show(screen)
    os.close(descriptor)
    return screen.getvalue()


def test_what_is_written_is_shown_once_and_kept(path: Path) -> None:
    assert shown(path, "one\n", "two\n") == "one\ntwo\n"

    assert path.read_text() == "one\ntwo\n"
    assert path.stat().st_mode & 0o077 == 0


def test_what_an_earlier_run_wrote_is_not_shown_again(path: Path) -> None:
    path.write_text("yesterday\n")

    assert shown(path, "today\n") == "today\n"
    assert path.read_text() == "yesterday\ntoday\n"


def test_a_log_that_grew_too_large_is_kept_once_and_begun_anew(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_file, "LARGEST_BYTES", 10)

    assert shown(path, "much too much\n", "more\n") == "much too much\nmore\n"

    assert path.read_text() == "more\n"
    assert path.with_name("it.log.1").read_text() == "much too much\n"


def test_a_log_that_cannot_be_kept_is_begun_anew_all_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_file, "LARGEST_BYTES", 10)
    # As on a disk that is full, but the same for root.
    path.with_name("it.log.1").mkdir()

    with capture_logs() as said:
        assert shown(path, "much too much\n", "more\n") == "much too much\nmore\n"

    assert path.read_text() == "more\n"
    assert [entry["event"] for entry in said] == ["log.not_kept"]
