"""What may go wrong with tasks that wait for others, and with those that handlers spawn."""

from tests.chaos.mutants.texts import change


def fan_in_uncounted() -> None:
    """What depends on several goes on as soon as one of them has completed."""
    change("dependencies", "release", "blockers = blockers - freed.met,", "blockers = 0,")
    change("dependencies", "release", "unmet = unmet - freed.met,", "unmet = 0,")
    for then in ("'QUEUED'", "clock_timestamp()"):
        due = f"run_at <= clock_timestamp() THEN {then}"
        change("dependencies", "release", f"WHEN blockers = freed.met AND {due}", f"WHEN {due}")


def spawn_key_ignored() -> None:
    """What was spawned under a key and has not completed yet is spawned again."""
    has_completed = "EXISTS (SELECT FROM tasks d WHERE d.id = s.task_id AND d.state = 'COMPLETED')"
    change("spawns", "look", "AND s.key = :key::text", f"AND s.key = :key::text AND {has_completed}")
