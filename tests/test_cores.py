"""Cores: what may be computed at once, as the system binds and bounds this process."""

import os
from pathlib import Path

import pytest

from officeplane.cores import cores


@pytest.fixture(autouse=True)
def sixteen_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    def sched_getaffinity(_pid: int) -> set[int]:
        return set(range(16))

    monkeypatch.setattr(os, "sched_getaffinity", sched_getaffinity)


class Groups:
    """A tree of control groups as the system shows one, and this process's place in it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "groups"
        self.membership = folder / "membership"
        self.membership.write_text("0::/\n")

    def write(self, file: str, content: str) -> None:
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    @property
    def cores(self) -> int:
        return cores(self.root, self.membership)


@pytest.fixture
def groups(tmp_path: Path) -> Groups:
    return Groups(tmp_path)


def test_without_a_quota_it_is_the_processors_that_the_process_is_bound_to(groups: Groups) -> None:
    groups.write("cpu.max", "max 100000\n")

    assert groups.cores == 16


def test_a_quota_of_the_second_version_counts(groups: Groups) -> None:
    groups.write("cpu.max", "150000 100000\n")

    assert groups.cores == 2


def test_so_does_that_of_a_group_further_out(groups: Groups) -> None:
    groups.membership.write_text("0::/pods/one\n")
    groups.write("pods/cpu.max", "300000 100000\n")
    groups.write("pods/one/cpu.max", "max 100000\n")

    assert groups.cores == 3


@pytest.mark.parametrize("folder", ["cpu", "cpu,cpuacct"])
def test_a_quota_of_the_first_version_counts(groups: Groups, folder: str) -> None:
    groups.membership.write_text("4:memory:/m\n3:cpu,cpuacct:/docker/abc\n")
    # In a container its own group is the root, whatever it is called outside.
    groups.write(f"{folder}/cpu.cfs_quota_us", "400000\n")
    groups.write(f"{folder}/cpu.cfs_period_us", "100000\n")

    assert groups.cores == 4


def test_no_quota_of_the_first_version_is_none(groups: Groups) -> None:
    groups.membership.write_text("3:cpu:/\n")
    groups.write("cpu/cpu.cfs_quota_us", "-1\n")
    groups.write("cpu/cpu.cfs_period_us", "100000\n")

    assert groups.cores == 16


@pytest.mark.parametrize("content", ["", "much\n", "1 0\n", "x y\n", "1 2 3\n"])
def test_what_cannot_be_read_is_no_quota(groups: Groups, content: str) -> None:
    groups.write("cpu.max", content)

    assert groups.cores == 16


def test_a_part_of_a_processor_is_one(groups: Groups) -> None:
    groups.write("cpu.max", "10000 100000\n")

    assert groups.cores == 1


def test_a_system_without_groups_has_what_it_is_bound_to(tmp_path: Path) -> None:
    assert cores(tmp_path / "none", tmp_path / "none") == 16
