"""Fixtures of `tests/dispatch`."""

from tests.dispatch.fixtures import (
    ask,
    doorbell,
    keys,
    nothing_is_left_for_ever,
    own_doorbell,
    proxy,
    redis,
    server,
    settings,
    through_proxy,
)

__all__ = [
    "ask",
    "doorbell",
    "keys",
    "nothing_is_left_for_ever",
    "own_doorbell",
    "proxy",
    "redis",
    "server",
    "settings",
    "through_proxy",
]
