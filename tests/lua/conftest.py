"""Fixtures of `tests/lua`."""

from tests.dispatch.fixtures import ask, keys, nothing_is_left_for_ever, redis

__all__ = ["ask", "keys", "nothing_is_left_for_ever", "redis"]
