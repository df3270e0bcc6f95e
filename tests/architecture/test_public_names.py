import importlib

import officeplane

PUBLIC = {
    "BlockingContext": "officeplane.handlers.context",
    "Context": "officeplane.handlers.context",
    "PermanentFailure": "officeplane.handlers.contract",
    "Plane": "officeplane.plane",
    "RateLimited": "officeplane.handlers.contract",
    "RetryPolicy": "officeplane.domain.retry",
    "Suspended": "officeplane.handlers.spawning",
    "TaskFacts": "officeplane.handlers.facts",
    "handler": "officeplane.handlers.contract",
    "open_plane": "officeplane.plane",
}
"""Whoever takes a name away, or adds one, changes what others may rely on: say so in the changelog."""

METHODS_OF_A_PLANE = {"cancel", "retry", "ring", "submit", "submit_many", "task", "wait"}


def test_the_public_names_are_these() -> None:
    assert sorted(officeplane.__all__) == sorted(PUBLIC)


def test_a_public_name_is_what_its_module_calls_so() -> None:
    for name, module in PUBLIC.items():
        assert getattr(officeplane, name) is getattr(importlib.import_module(module), name)


def test_a_plane_can_do_these_things() -> None:
    methods = {name for name in vars(officeplane.Plane) if not name.startswith("_")}

    assert methods == METHODS_OF_A_PLANE
