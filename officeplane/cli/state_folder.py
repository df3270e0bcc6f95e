"""Where programs of a user keep what they noticed, as is agreed among programs."""

import os
from contextlib import suppress
from pathlib import Path
from uuid import uuid4


def state_file(*names: str) -> Path:
    """Return where a file of ours is kept, whether it is there or not."""
    given = os.environ.get("XDG_STATE_HOME", "")
    # One that is not absolute counts as none.
    folder = Path(given) if Path(given).is_absolute() else Path("~/.local/state").expanduser()
    return folder.joinpath("officeplane", *names)


def keep(file: Path, text: str) -> bool:
    """Write a file whole or not at all, as two commands may at once; False when it cannot be written."""
    beside = file.with_name(f"{file.name}.{uuid4()}")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(text)
        beside.replace(file)
        return True
    return False
