"""Fixtures of `tests/dispatch`."""

from tests.dispatch.fixtures import (
    ask,
    doorbell,
    in_a_hurry,
    keys,
    long_silence,
    nothing_is_left_for_ever,
    own_doorbell,
    proxy,
    redis,
    server,
    settings,
    through_proxy,
    what_is_said_arrives,
)

__all__ = [
    "ask",
    "doorbell",
    "in_a_hurry",
    "keys",
    "long_silence",
    "nothing_is_left_for_ever",
    "own_doorbell",
    "proxy",
    "redis",
    "server",
    "settings",
    "through_proxy",
    "what_is_said_arrives",
]
