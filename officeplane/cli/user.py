"""The user: who types a command, as the machine knows them."""

import getpass


def user_name() -> str | None:
    """Return who runs this, as far as the machine knows."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return None
