"""What processes that tests have started wrote down, and what must not be in there."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote

_KEY: Final = re.compile(r"opk_[0-9A-Za-z]{36}")


def found_in(logs: Mapping[str, str], words: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return which secrets are in which logs, however they are written there."""
    return [
        (name, what)
        for name, log in logs.items()
        for what, word in words.items()
        if word and any(spelling in log for spelling in (word, quote(word, safe=""), json.dumps(word)[1:-1]))
    ]


def secrets_below(folder: Path, words: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return where below a folder a log has one of these secrets, or a key."""
    logs = {str(file): file.read_text(errors="replace") for file in (*folder.rglob("*.log"), *folder.rglob("err"))}
    return [*found_in(logs, words), *((name, "a key") for name, log in logs.items() if _KEY.search(log))]
