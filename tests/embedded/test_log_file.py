"""What a program writes is kept, shown and bounded."""

import io
import os
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from officeplane.embedded import log_file
from officeplane.embedded.log_file import LogFile


def write(descriptor: int, words: str) -> None:
    os.write(descriptor, words.encode())


def test_what_is_written_is_shown_once_and_kept(tmp_path: Path) -> None:
    log, screen = LogFile(tmp_path / "it.log"), io.StringIO()
    descriptor = log.open()

    write(descriptor, "one\n")
    log.show(screen)
    write(descriptor, "two\n")
    log.show(screen)
    os.close(descriptor)

    assert screen.getvalue() == "one\ntwo\n"
    assert log.path.read_text() == "one\ntwo\n"
    assert log.path.stat().st_mode & 0o077 == 0


def test_what_an_earlier_run_wrote_is_not_shown_again(tmp_path: Path) -> None:
    (tmp_path / "it.log").write_text("yesterday\n")
    log, screen = LogFile(tmp_path / "it.log"), io.StringIO()
    descriptor = log.open()

    write(descriptor, "today\n")
    log.show(screen)
    os.close(descriptor)

    assert screen.getvalue() == "today\n"
    assert log.path.read_text() == "yesterday\ntoday\n"


def test_a_log_that_cannot_be_kept_is_begun_anew_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_file, "LARGEST_BYTES", 10)
    # As on a disk that is full, but the same for root.
    (tmp_path / "it.log.1").mkdir()
    log, screen = LogFile(tmp_path / "it.log"), io.StringIO()
    descriptor = log.open()

    with capture_logs() as said:
        write(descriptor, "much too much\n")
        log.show(screen)
        write(descriptor, "more\n")
        log.show(screen)
    os.close(descriptor)

    assert screen.getvalue() == "much too much\nmore\n"
    assert log.path.read_text() == "more\n"
    assert [entry["event"] for entry in said] == ["log.not_kept"]


def test_a_log_that_grew_too_large_is_kept_once_and_begun_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_file, "LARGEST_BYTES", 10)
    log, screen = LogFile(tmp_path / "it.log"), io.StringIO()
    descriptor = log.open()

    write(descriptor, "much too much\n")
    log.show(screen)
    write(descriptor, "more\n")
    log.show(screen)
    os.close(descriptor)

    assert screen.getvalue() == "much too much\nmore\n"
    assert log.path.read_text() == "more\n"
    assert (tmp_path / "it.log.1").read_text() == "much too much\n"
