"""The terms of a run: short leases and delays, so that everything that can lapse lapses within seconds."""

from dataclasses import dataclass
from typing import Final

from tests.chaos.marks import MARKS_VARIABLE

API_PROCESSES: Final = 2
WORKER_PROCESSES: Final = 3
PREPARE_SECONDS: Final = 60.0
"""How long the first answers may take, while nothing is wrong yet but how slow the machine is."""


@dataclass(frozen=True, slots=True)
class Failpoints:
    """What is armed in the processes of each kind, as `OFFICEPLANE_FAILPOINTS` has it."""

    workers: str = ""
    apis: str = ""


@dataclass(frozen=True, slots=True)
class Terms:
    """What the processes are told, and what the checker therefore expects of them."""

    lease_seconds: float = 2.0
    heartbeat_seconds: float = 0.4
    sweep_seconds: float = 0.5
    poll_seconds: float = 0.3
    lock_ttl_seconds: float = 6.0
    retry_initial_seconds: float = 0.2
    retry_multiplier: float = 3.0
    drain_seconds: float = 1.0
    concurrency: int = 4
    poison_crashes: int = 2

    def environment(self) -> dict[str, str]:
        """The variables that say so to a process."""
        told: dict[str, object] = {
            "LEASE_SECONDS": self.lease_seconds,
            "HEARTBEAT_SECONDS": self.heartbeat_seconds,
            "SWEEP_SECONDS": self.sweep_seconds,
            "POLL_SECONDS": self.poll_seconds,
            "LOCK_TTL_SECONDS": self.lock_ttl_seconds,
            "BREAKER_FAILURE_THRESHOLD": 1_000_000,
            "RETRY_INITIAL_SECONDS": self.retry_initial_seconds,
            "RETRY_MULTIPLIER": self.retry_multiplier,
            "DRAIN_SECONDS": self.drain_seconds,
            "CONCURRENCY": self.concurrency,
            "POISON_CRASHES": self.poison_crashes,
            "HANDLERS": "tests.chaos.handlers",
            "HANDLER_ENVIRONMENT": MARKS_VARIABLE,
            "LOG_FORMAT": "json",
        }
        return {f"OFFICEPLANE_{name}": str(value) for name, value in told.items()}


NO_FAILPOINTS: Final = Failpoints()
# Rare pauses where two actors can meet, and rare crashes where one can leave work half done.
RARE_FAILPOINTS: Final = Failpoints(
    "after_pop=pause:0.2@0.01,"
    "after_lock=pause:0.2@0.01,"
    "after_claim=crash@0.0005,"
    "handler_end=crash@0.0003,"
    "before_settle=pause:0.2@0.01,"
    "between_settle_and_roll_up=pause:0.2@0.03,"
    "between_settle_and_release=pause:0.2@0.03,"
    "before_commit=pause:0.3@0.15,"
    "after_settle=crash@0.0005,"
    "before_release=crash@0.0005,"
    "reap_read=pause:1@0.5,"
    "reap_settled=crash@0.02,"
    "sweep_marked=crash@0.005,"
    "promote_marked=crash@0.002,"
    "orphan_released=crash@0.05",
    "after_insert=crash@0.001,after_ring=crash@0.0005,cancel_written=pause:0.3@0.1,after_cancel=crash@0.01,"
    "after_reopen=crash@0.01",
)
