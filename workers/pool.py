"""The pool: one worker process, its slots, its helpers and its share of the chores.

When asked to stop it takes nothing more, lets what runs finish for a while,
then stops the rest and hands it back uncharged.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import structlog

from officeplane.config import Settings
from officeplane.dispatch.announcements import Reconnected
from officeplane.dispatch.availability import RedisUnavailable
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.ids import TaskId
from officeplane.domain.outcome import Outcome
from officeplane.domain.task import ClaimedTask
from officeplane.runtime import Runtime, WorkerServices, open_runtime, worker_services
from officeplane.store.workers import Heartbeat
from officeplane.telemetry.logs import configure_logs
from workers.attempts import Attempt, Attempts, Deadlines, StopReason
from workers.children import Children
from workers.lease import LeaseKeeper, LeaseNews, LeaseTerms
from workers.loop import Loop
from workers.maintenance.all_chores import all_chores
from workers.maintenance.leader import Leader
from workers.reports import LedgerReports
from workers.rescue import Rescue
from workers.runner import Runner
from workers.settler import Settler
from workers.signals import StopSignals, stop_signals
from workers.slots import Slots

STOP_SECONDS: Final = 1.5
_log = structlog.stdlib.get_logger(__name__)


async def run_worker(settings: Settings) -> int:
    """Run one worker process until it is told to stop; return its exit code."""
    configure_logs(settings)
    with stop_signals() as signals:
        async with open_runtime(settings, for_worker=True) as runtime:
            pool = Pool(runtime, worker_services(runtime))
            await pool.run(signals)
            if pool.has_stubborn_handlers:
                # These handlers ignore their cancellation, and the loop would wait for them for ever.
                sys.stderr.flush()
                os._exit(0)
    return 0


class Pool:
    """Everything one worker process runs."""

    def __init__(self, runtime: Runtime, services: WorkerServices) -> None:
        settings = runtime.settings
        self._runtime = runtime
        self._services = services
        self._settings = settings
        self._slots = Slots(settings.concurrency)
        self._attempts = Attempts()
        self._deadlines = Deadlines()
        self._reports = LedgerReports(services.leases)
        self._children = Children(settings.handlers, settings.handler_environment)
        self._runner = Runner(
            runtime.catalogue,
            services.leases,
            services.editing,
            services.spawner,
            self._reports,
            self._children,
        )
        self._lease = LeaseKeeper(
            LeaseTerms(settings.database_url, settings.lease_seconds, settings.heartbeat_seconds),
            LeaseNews(
                cancelled=lambda task_ids: self._attempts.stop(task_ids, StopReason.CANCELLED),
                lost=self._attempts.lose,
            ),
            self._heartbeat,
            services.meter,
            Rescue(settings.database_url, services.worker_id, runtime.settlements, counted_by=services.counted_by(4)),
        )
        self._settler = Settler(
            runtime.settlements,
            services.desk,
            counted_by=(services.counted_by(1), services.counted_by(2)),
            counted_together_by=services.counted_by(3),
            lease_seconds=settings.lease_seconds,
            finished=self._finished,
        )
        self._loop = Loop(
            runtime.doorbell,
            services.desk,
            self._slots,
            self._start,
            poll_seconds=settings.poll_seconds,
            # The sweeper has rung by then for whatever was lost.
            look_seconds=2 * settings.sweep_seconds,
        )

    @property
    def has_stubborn_handlers(self) -> bool:
        """Whether handlers are left that were told to stop and did not."""
        return self._attempts.stubborn > 0

    async def run(self, signals: StopSignals) -> None:
        """Work until told to stop; what is in hand is settled or handed back first."""
        _log.info("worker.started", worker_id=self._services.worker_id, concurrency=self._slots.total)
        leader = Leader(self._services, self._settings, self._runtime.doorbell.availability, all_chores())
        self._lease.start()
        async with asyncio.TaskGroup() as helpers:
            background = [
                helpers.create_task(work)
                for work in (
                    self._settler.run(),
                    self._reports.flush(),
                    self._loop.watch_redis(),
                    self._hear_control(),
                    self._renew_locks(),
                    leader.run(),
                )
            ]
            working = helpers.create_task(self._loop.run())
            await signals.drain.wait()
            await self._drain(signals, working)
            for helper in background:
                helper.cancel()
        await self._leave()
        _log.info("worker.stopped", worker_id=self._services.worker_id)

    async def _drain(self, signals: StopSignals, working: asyncio.Task[None]) -> None:
        _log.info("worker.draining", running=len(self._attempts), seconds=self._settings.drain_seconds)
        self._loop.stop()
        self._settler.may_continue = False
        finishing = asyncio.ensure_future(self._finish(working))
        hurrying = asyncio.ensure_future(signals.stop.wait())
        await asyncio.wait(
            {finishing, hurrying}, timeout=self._settings.drain_seconds, return_when=asyncio.FIRST_COMPLETED
        )
        hurrying.cancel()
        if not finishing.done():
            self._attempts.stop_all(StopReason.DRAINED)
            with suppress(TimeoutError):
                await asyncio.wait_for(finishing, STOP_SECONDS)

    async def _finish(self, working: asyncio.Task[None]) -> None:
        await working
        await self._attempts.wait_none_left()
        await self._settler.wait_told()

    async def _leave(self) -> None:
        await self._lease.stop()
        await self._children.close()
        await self._services.editing.lookahead.close()
        try:
            await self._services.leases.report(self._services.worker_id, self._services.meter)
            await self._services.leases.leave(self._services.worker_id)
        except DatabaseUnavailableError as error:
            _log.warning("worker.left_without_word", error=str(error))

    def _start(self, task: ClaimedTask) -> None:
        attempt = Attempt(task, self._ended, self._deadlines)
        self._attempts.add(attempt)
        self._lease.hold(task)
        self._services.meter.waited(task.task_type, task.waited_seconds)
        attempt.start(self._runner.run(task))

    def _ended(self, attempt: Attempt, outcome: Outcome | None) -> None:
        self._services.meter.ran(attempt.task.task_type, attempt.ran_seconds)
        self._settler.add(attempt.task, outcome)

    def _finished(self, tasks: Sequence[ClaimedTask], followed_by: Sequence[ClaimedTask]) -> None:
        for task in tasks:
            self._lease.drop(task)
            self._attempts.remove(task)
        for task in followed_by:
            self._start(task)
        self._slots.release(len(tasks) - len(followed_by))

    async def _hear_control(self) -> None:
        async with self._runtime.doorbell.announcements.listen_control() as listener:
            async for heard in listener:
                if isinstance(heard, Reconnected):
                    continue
                # Anybody can publish: what the ledger does not confirm is not stopped.
                asked = self._attempts.among([TaskId(task_id) for task_id in heard.ids])
                claims = [(attempt.task.id, attempt.task.claim_id) for attempt in asked]
                with suppress(DatabaseUnavailableError):
                    confirmed = await self._services.leases.cancelled(claims) if claims else []
                    self._attempts.stop(confirmed, StopReason.CANCELLED)

    async def _renew_locks(self) -> None:
        while True:
            await asyncio.sleep(self._settings.lock_ttl_seconds / 3)
            with suppress(RedisUnavailable):
                await self._runtime.doorbell.locks.renew(self._services.desk.holds)

    def _heartbeat(self) -> Heartbeat:
        return Heartbeat(
            self._services.worker_id,
            socket.gethostname(),
            os.getpid(),
            self._slots.total,
            # Slots in use are not counted: those that wait for a hint are in use, too.
            len(self._attempts),
            self._runtime.catalogue.runnable,
            sorted(self._runtime.sandbox.confinement),
        )
