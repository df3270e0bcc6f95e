"""The header of a Lua script is its contract: whoever calls it needs to read no further."""

import re
from pathlib import Path

import pytest

LUA = Path(__file__).parents[2] / "lua"
SCRIPTS = sorted(LUA.glob("*.lua"))


def _header_and_body(path: Path) -> tuple[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    begins = next(number for number, line in enumerate(lines) if not line.startswith("--"))
    return "\n".join(line.removeprefix("--").strip() for line in lines[:begins]), "\n".join(lines[begins:])


def _numbered(header: str, what: str) -> set[int]:
    """Return the numbers of the keys or arguments that the header tells of."""
    told = re.search(rf"^{what}\s+(.*?)(?=^(?:KEYS|ARGV|Returns)\b|\Z)", header, re.MULTILINE | re.DOTALL)
    assert told is not None
    numbers: set[int] = set()
    for first, last in re.findall(r"(?:^|\s)(\d)(?: to (\d))?\s", told[1]):
        numbers |= set(range(int(first), int(last or first) + 1))
    return numbers


def _named(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", SCRIPTS, ids=_named)
def test_a_script_is_a_verb_and_a_noun_and_says_what_it_does(path: Path) -> None:
    header, _ = _header_and_body(path)

    assert re.fullmatch(r"[a-z]+_[a-z]+", path.stem)
    assert re.match(r"[A-Z][^\n]+\.\n\n", header)
    assert re.search(r"^Returns \S", header, re.MULTILINE)


@pytest.mark.parametrize("what", ["KEYS", "ARGV"])
@pytest.mark.parametrize("path", SCRIPTS, ids=_named)
def test_a_script_tells_of_every_key_and_argument_it_uses(path: Path, what: str) -> None:
    header, body = _header_and_body(path)

    used = {int(number) for number in re.findall(rf"{what}\[(\d)", body)}

    assert used
    assert used <= _numbered(header, what)
