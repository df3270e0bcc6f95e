"""One case of the sweep: arrange, crash, start again, and see that everything ends as it must."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import httpx

from officeplane.domain.document import Format
from officeplane.domain.failure import FailureKind
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import Task
from officeplane.failpoints import CRASH_STATUS
from tests.failpoints.cases import API_POINTS, LOSSES, POINTS_OF_CANCELLATION, Case, Kind
from tests.failpoints.site import END_SECONDS, TIMES, Site, lapse, leaf
from tests.forks import Fork
from tests.journeys.processes import NOT_KEPT
from tests.support import eventually

DOCUMENT: Final = "contract"
AFTER: Final = "depends_on"
LATER: Final = timedelta(hours=1)
_STOPS: Final = 20
LEFT_TO_CHORES: Final = frozenset({"sweep_marked", "promote_marked"})
"""Where only a chore may come upon the task, and not a worker that has heard nothing for two sweeps."""
LOOKS_LATE: Final = "2"
"""With sweeps so far apart. A chore's first round is at once; a worker that is slow to begin might look before that."""
LEASES_LAST: Final = "60"
"""What lapses on a busy machine is reaped, in a transaction that it would not have come by."""


async def run_case(site: Site, case: Case, folder: Path) -> None:
    """Crash where the case says, and check what comes of it; or see that it is never reached."""
    await site.clear(folder)
    if case.kind is Kind.EDIT:
        await site.bench(case.kind).runtime.documents.create(LOCAL, DOCUMENT, Format.DOCX, None, None)
    crash = _Crash(site, case)
    try:
        if case.point in API_POINTS:
            await crash.of_server()
        elif case in LOSSES:
            await crash.of_database()
        elif case.is_reachable:
            await crash.of_worker()
        else:
            await crash.of_nobody()
        await crash.check()
    finally:
        site.marks.open_all_gates()
        await site.end_all()


@dataclass(slots=True)
class _Crash:
    site: Site
    case: Case
    tasks: list[Task] = field(default_factory=list[Task])
    expected: dict[str, str] = field(default_factory=dict[str, str])
    is_cancelled: bool = False

    async def of_worker(self) -> None:
        """Crash a worker over the task."""
        await self._arrange()
        sweep_seconds = LOOKS_LATE if self.case.point in LEFT_TO_CHORES else TIMES["SWEEP_SECONDS"]
        worker = await self.site.worker(self.case.kind, self.case.failpoint, SWEEP_SECONDS=sweep_seconds)
        if self.case.point == "hand_back" and self.case.kind is Kind.POLLED:
            worker = await self._stopped_while_it_waits(worker)
        else:
            await self._provoke(worker)
        assert await worker.ended() == CRASH_STATUS, worker.words
        if self.case.kind is not Kind.CANCELLED:
            self.site.marks.open_all_gates()
        await self.site.let_sweep()
        await self._cancel_once_it_runs(await self.site.worker(self.case.kind))

    async def of_database(self) -> None:
        """Let a worker lose its database there, now and then, while it goes on."""
        await self._arrange()
        worker = await self.site.worker(self.case.kind, self.case.failpoint)
        if self.case.kind is not Kind.CANCELLED:
            self.site.marks.open_all_gates()
        await self._provoke(worker)
        if self.case.point == "hand_back":
            assert await worker.ended() == 0, worker.words
            await self.site.worker(self.case.kind)

    async def of_nobody(self) -> None:
        """Let a worker work that would crash if it came by any of the points."""
        await self._submit()
        worker = await self.site.worker(self.case.kind, self.case.failpoint, LEASE_SECONDS=LEASES_LAST)
        await self._cancel_once_it_runs(worker)
        await self.site.all_final()
        assert not worker.status.done(), (self.case.points, worker.words)
        assert await worker.stop() == 0, (self.case.points, worker.words)
        await self.site.worker(self.case.kind)

    async def of_server(self) -> None:
        """Crash an API server over a request, which its client then repeats."""
        match self.case.point:
            case point if point in POINTS_OF_CANCELLATION:
                path = await self._about_to_cancel()
            case "after_reopen":
                path = await self._about_to_retry()
            case _:
                path = ""
        server, url = await self.site.serve(self.case.kind, self.case.failpoint)
        requests: list[tuple[str, Mapping[str, Any]]] = [(path, {})] if path else self._requests()
        async with httpx.AsyncClient(timeout=END_SECONDS, trust_env=False, limits=NOT_KEPT) as client:
            path, body = requests[0]
            with_answer = await _asked(client, url + path, body)
            assert with_answer is None
            assert await server.ended() == CRASH_STATUS, server.words
            _, url = await self.site.serve(self.case.kind)
            known: list[str] = []
            for path, body in requests:
                answer = await _asked(client, url + path, {**body, "dependsOn": known} if "dependsOn" in body else body)
                # A cancel or a retry that was heard the first time is refused the second time.
                assert answer is not None
                assert answer.status_code in ((200, 201) if not path.endswith(("cancel", "retry")) else (200, 202, 409))
                known.append(answer.json().get("id"))
        if self.case.point == "after_reopen":
            self.site.marks.open_all_gates()
        if not (self.case.point in POINTS_OF_CANCELLATION and self.case.kind is Kind.CANCELLED):
            worker = await self.site.worker(self.case.kind)
            if self.case.point in ("after_insert", "after_ring"):
                await self._cancel_once_it_runs(worker)

    async def check(self) -> None:
        """Assert that everything has ended as it must, and that nothing is left in the way."""
        await self.site.all_final()
        await self.site.lanes_are_free(self.case.kind, set() if self.case.kind is Kind.PLAIN else {DOCUMENT})
        await self.site.check(self.expected)
        if self.case.kind is Kind.EDIT:
            done = [name for name, state in self.expected.items() if state == TaskState.COMPLETED]
            await self.site.check_document(DOCUMENT, done)

    async def _arrange(self) -> None:
        """Bring the task to where the crash can happen."""
        kind, bench = self.case.kind, self.site.bench(self.case.kind)
        match self.case.point:
            case "hand_back" if kind is not Kind.CANCELLED:
                return
            case "promote_marked" if kind is not Kind.RETRY:
                # Its time comes after it was submitted, however long that takes: it has to be promoted.
                await self._submit(run_at=datetime.now(UTC) + LATER)
                await bench.make_due()
                return
            case _:
                await self._submit()
        if kind is Kind.RETRY:
            await bench.fail(await bench.claim_next(leaf(self.tasks)))
        match self.case.point:
            case "sweep_marked":
                await self.site.forget_rings(is_retry=kind is Kind.RETRY)
            case "orphan_released":
                await self.site.forget_rings(is_retry=kind is Kind.RETRY)
                await self.site.leave_lock_of_the_dead(DOCUMENT)
            case "promote_marked" if self.case.action == "crash":
                await self.site.leave_to_promoter()
            case "reap_read" | "reap_settled":
                await bench.make_due()
                claimed = await bench.another_worker().claim_next(leaf(self.tasks))
                if kind is Kind.CANCELLED:
                    await bench.runtime.cancellation.cancel(LOCAL, claimed.id, None)
                    self.is_cancelled = True
                await lapse(bench)
            case _:
                pass

    async def _provoke(self, worker: Fork) -> None:
        """Do what the crash still needs."""
        if self.case.point == "hand_back":
            if self.case.kind is Kind.CANCELLED:
                await self._begun(worker)
            else:
                # Whoever has worked waits for the next hint, and takes it although it is to stop.
                await self.site.warm_up(self.case.kind)
            worker.terminate()
            if self.case.kind is not Kind.CANCELLED:
                await self._submit()
                if self.case.kind is Kind.RETRY:
                    # The hint leads to a retry by the time it is popped, or its task is claimed as it is.
                    await self.site.bench(self.case.kind).make_due()
        await self._cancel_once_it_runs(worker)

    async def _stopped_while_it_waits(self, worker: Fork) -> Fork:
        """Stop workers that poll until one did not look at the ledger just then, and submit; return that one."""
        for _ in range(_STOPS):
            await self.site.warm_up(self.case.kind)
            if await worker.stop():
                break
            worker = await self.site.worker(self.case.kind, self.case.failpoint)
        await self._submit()
        return worker

    async def _cancel_once_it_runs(self, worker: Fork) -> None:
        """Cancel the task when its handler runs, unless that was done or the worker crashed before."""
        if self.case.kind is Kind.CANCELLED and not self.is_cancelled and await self._begun(worker):
            if self.case.point == "before_renewal" and self.case.action == "crash":
                # Told to stop, its handler would end before its lease had to be renewed.
                await worker.ended()
            task_id = leaf(self.tasks).id if self.tasks else await self.site.id_of("it")
            await self.site.bench(self.case.kind).runtime.cancellation.cancel(LOCAL, task_id, None)
            self.is_cancelled = True

    async def _begun(self, worker: Fork) -> bool:
        """Return whether the handler runs, or has run, once it does or the worker has crashed before it could."""
        await eventually(lambda: self.site.marks.find("begin", "it") or worker.status.done(), within=END_SECONDS)
        return bool(self.site.marks.find("begin", "it"))

    async def _submit(self, **options: Any) -> None:
        bench = self.site.bench(self.case.kind)
        for body in self._bodies(fails=0):
            dependency = {AFTER: [self.tasks[0].id]} if AFTER in body else {}
            self.tasks += await bench.submit({**body, **options, **dependency})
            options = {}

    def _requests(self) -> list[tuple[str, Mapping[str, Any]]]:
        fails = 1 if self.case.kind is Kind.RETRY else 0
        return [
            ("/api/tasks", {**_named(body), "idempotencyKey": f"key-{index}"})
            for index, body in enumerate(self._bodies(fails=fails))
        ]

    def _bodies(self, *, fails: int) -> list[dict[str, Any]]:
        """Return what is submitted: the task, and in a lane the one after it."""
        kind = self.case.kind
        gated = kind is Kind.CANCELLED or self.case.point == "before_renewal"
        one, other = self._work("it", fails=fails, gated=gated), self._work("next")
        ended = "CANCELLED" if kind is Kind.CANCELLED else "COMPLETED"
        self.expected = {"it": ended, "next": "COMPLETED"}
        if kind is Kind.PLAIN:
            self.expected = {"it": ended}
            return [one]
        if kind is Kind.CHILD:
            self.expected = {"batch": "COMPLETED", **self.expected}
            return [{"title": "batch", "document_id": DOCUMENT, "children": [one, other]}]
        if kind is Kind.CANCELLED and not self.case.is_reachable:
            # Who waits behind it might be swept, and come by the points that it does not come by itself.
            self.expected = {"it": ended}
            return [{**one, "document_id": DOCUMENT}]
        if kind is Kind.AWAITED:
            return [{**one, "document_id": DOCUMENT}, {**other, "document_id": DOCUMENT, AFTER: []}]
        return [{**one, "document_id": DOCUMENT}, {**other, "document_id": DOCUMENT}]

    def _work(self, name: str, *, fails: int = 0, gated: bool = False) -> dict[str, Any]:
        folder = str(self.site.marks.folder)
        is_edit = self.case.kind is Kind.EDIT
        payload = {"folder": folder, "name": name, "fails": fails, "gated": gated, "edits": is_edit}
        return {"task_type": "sweep.work", "title": name, "payload": payload}

    async def _about_to_cancel(self) -> str:
        """Bring the task to where it is cancelled: while it waits, waits for its retry, or runs."""
        bench = self.site.bench(self.case.kind)
        await self._submit()
        if self.case.kind is Kind.RETRY:
            await bench.fail(await bench.claim_next(leaf(self.tasks)))
        if self.case.kind is Kind.CANCELLED:
            await self._begun(await self.site.worker(self.case.kind))
        ended = {"it": "CANCELLED"}
        if self.case.kind in (Kind.CHILD, Kind.AWAITED):
            ended = dict.fromkeys(self.expected, "CANCELLED")
        self.expected |= ended
        return f"/api/tasks/{self.tasks[0].id}/cancel"

    async def _about_to_retry(self) -> str:
        """Bring the task to where it is retried: after it failed, at once or again, or was cancelled."""
        bench = self.site.bench(self.case.kind)
        await self._submit()
        it = leaf(self.tasks)
        claimed = await bench.claim_next(it)
        if self.case.kind is Kind.RETRY:
            await bench.fail(claimed)
            await bench.make_due()
            claimed = await bench.claim_next(it)
        if self.case.kind is Kind.CANCELLED:
            await bench.runtime.cancellation.cancel(LOCAL, it.id, None)
        await bench.fail(claimed, FailureKind.PERMANENT)
        self.expected = dict.fromkeys(self.expected, "COMPLETED")
        return f"/api/tasks/{it.id}/retry"


async def _asked(client: httpx.AsyncClient, url: str, body: Mapping[str, Any]) -> httpx.Response | None:
    """Return the answer, or None when the server was gone before it gave one."""
    try:
        return await (client.post(url, json=body) if body else client.post(url))
    except httpx.TransportError:
        return None


def _named(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body with the names of the HTTP API."""
    names = {"task_type": "taskType", "document_id": "documentId", AFTER: "dependsOn"}
    named = {names.get(name, name): value for name, value in body.items()}
    if "children" in named:
        named["children"] = [_named(child) for child in body["children"]]
    return named
