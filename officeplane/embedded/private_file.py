"""Files that hold a secret: readable by their owner alone from the first moment."""

import os
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Put the text there, whole or not at all, even if the power fails."""
    aside = path.with_name(f"{path.name}.new")
    aside.unlink(missing_ok=True)
    with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
