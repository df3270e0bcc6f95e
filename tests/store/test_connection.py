"""Connections to Postgres: what is said of a server that does not answer."""

import pytest

from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.store.connection import translated


def test_a_server_that_hangs_is_told_of_in_words() -> None:
    with pytest.raises(DatabaseUnavailableError, match=r"TimeoutError: no answer in time$"), translated():
        raise TimeoutError
