"""What is shipped works elsewhere: the wheel is built, installed in a fresh environment and tried there."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment elsewhere that has the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder / "dist", cwd=ROOT)
    (wheel,) = (folder / "dist").glob("*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    install = ("-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel)
    run(sys.executable, *install, cwd=folder)
    purelib = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    # The libraries are borrowed from here. Python does not read .pth files of a folder it was led to by one, so
    # the editable install of the project does not come along.
    (purelib / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def test_the_program_runs_from_the_wheel(python: Path, tmp_path: Path) -> None:
    said = run(python.with_name("officeplane"), "--help", cwd=tmp_path)

    for command in ("up", "serve", "worker", "migrate", "doctor", "tasks"):
        assert command in said


def test_the_packages_come_from_the_wheel(python: Path, tmp_path: Path) -> None:
    said = run(python, "-c", "import officeplane, workers; print(officeplane.__file__, workers.__file__)", cwd=tmp_path)

    assert all(Path(found).is_relative_to(python.parents[1]) for found in said.split())


@pytest.mark.parametrize(
    ("where", "pattern"),
    [("lua", "*.lua"), ("officeplane/store/migrations", "*.sql"), ("officeplane/store/sql", "*.sql")],
)
def test_scripts_and_queries_are_in_the_wheel(python: Path, tmp_path: Path, where: str, pattern: str) -> None:
    found = run(python, "-c", "import officeplane; print(officeplane.__path__[0])", cwd=tmp_path).strip()
    shipped = Path(found) / where.removeprefix("officeplane/")

    assert {path.name for path in shipped.glob(pattern)} == {path.name for path in (ROOT / where).glob(pattern)}
    assert list(shipped.glob(pattern))


def test_an_index_can_show_what_it_is_and_under_which_licence(python: Path, tmp_path: Path) -> None:
    said = run(python, "-c", "from importlib.metadata import metadata; print(metadata('officeplane'))", cwd=tmp_path)
    licences = "from importlib.metadata import distribution as d; print(d('officeplane').read_text('licenses/LICENSE'))"

    for line in ("License-Expression: Apache-2.0", "License-File: LICENSE", "Author: OfficePlane"):
        assert line in said.splitlines()
    assert "Description-Content-Type: text/markdown" in said
    assert "License ::" not in said, "the expression says it"
    assert run(python, "-c", licences, cwd=tmp_path).strip() == (ROOT / "LICENSE").read_text(encoding="utf-8").strip()
