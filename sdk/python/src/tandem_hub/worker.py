"""A worker: takes the tasks that others send to an agent, runs a handler for each, and delivers exactly one result per task."""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import secrets
import signal as signals
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from . import profiles
from ._files import try_lock
from ._http import Backoff, each
from ._tables import TERMINAL
from ._wire import TaskView
from .client import File, Tandem, content_key
from .errors import Refused, TandemError
from .tasks import Files, Outcome, Signal, Task, is_passing

HEARTBEAT_SECONDS, SCAN_SECONDS, SLOTS = 30.0, 60.0, 16
log = logging.getLogger("tandem_hub")


class Reply(NamedTuple):
    """What a handler returns: the result of its task."""

    text: str
    outcome: Outcome = "completed"
    files: Files = ()


Handler = Callable[[Task], Awaitable["Reply | str | None"]]


class Worker:
    """Runs a handler for the tasks of an agent. `accept_from` lists ids, aliases or names of connected agents; `["*"]` means
    everyone who can reach the agent."""

    def __init__(
        self, hub: Tandem | Callable[[], Tandem], handler: Handler, accept_from: Sequence[str], concurrency: int = 1
    ) -> None:
        if isinstance(accept_from, str) or not accept_from or concurrency < 1:
            raise ValueError("accept_from is a list of agents, and concurrency at least 1")
        self._made, self.handler, self.accept_from, self.concurrency = hub, handler, accept_from, concurrency
        self._stop = asyncio.Event()
        self._running: dict[str, tuple[asyncio.Task[None], Signal]] = {}
        self._waiting: dict[str, None] = {}
        self._key = secrets.token_hex(16)
        self._lock: int | None = None

    def __call__(self, task: Task) -> Awaitable[Reply | str | None]:
        """The handler itself, for tests."""
        return self.handler(task)

    def run(self) -> None:
        """Works until SIGINT or SIGTERM, then finishes what was begun; a second signal gives it up."""
        asyncio.run(self._run())

    async def _run(self) -> None:
        for signal in (signals.SIGINT, signals.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(signal, self.stop)
        await self.serve()

    def stop(self) -> None:
        """Takes no further task and finishes those that were begun; the second time they are given up."""
        if self._stop.is_set():
            for running, _ in self._running.values():
                running.cancel()
        self._stop.set()

    async def serve(self) -> None:
        """Works until `stop`."""
        self.hub = self._made if isinstance(self._made, Tandem) else self._made()
        self.me = await self.hub.agent_id()
        self._lock_key()
        following = asyncio.ensure_future(self._follow())
        stopping = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait([following, stopping], return_when=asyncio.FIRST_COMPLETED)
            self._stop.set()
            while self._running:
                await asyncio.wait([running for running, _ in self._running.values()])
                await asyncio.sleep(0)
            if following.done():
                following.result()
        finally:
            for one in (following, stopping):
                one.cancel()
            await asyncio.gather(following, stopping, return_exceptions=True)
            if self._lock is not None:
                os.close(self._lock)
            if self.hub is not self._made:
                await self.hub.close()

    def _lock_key(self) -> None:
        """The session key of the tasks that this worker takes: with a profile the same after a restart, so that it goes on
        with them; never that of a worker that runs."""
        if self.hub.profile is None:
            return
        folder = profiles.state_folder(self.hub.profile.name)
        for slot in range(1, SLOTS + 1):
            lock = try_lock(folder / f"sdk-worker-{slot}.lock")
            if lock is not None:
                stored = os.pread(lock, 32, 0)
                if len(stored) == 32:
                    self._key = stored.decode("ascii", "replace")
                else:
                    os.pwrite(lock, self._key.encode(), 0)
                    os.fsync(lock)
                self._lock = lock
                return
        raise TandemError(f"{SLOTS} workers of this agent run on this machine already")

    async def _follow(self) -> None:
        """Looks at every task that an event names, and at all of them when some may have been missed."""
        scan = asyncio.Event()
        events = self.hub.events(on_notice=lambda notice: scan.set() if notice.kind != "lost" else None)

        async def scan_often() -> None:
            while True:
                try:
                    await asyncio.wait_for(scan.wait(), SCAN_SECONDS)
                except asyncio.TimeoutError:
                    pass
                scan.clear()
                try:
                    await self._scan()
                except TandemError as error:
                    log.warning("cannot list the tasks: %s", error)
                    await asyncio.sleep(1)
                    scan.set()

        scanning = asyncio.ensure_future(scan_often())
        try:
            async for event in events:
                if event.task_id:
                    self._look_at(event.task_id)
        finally:
            scanning.cancel()
            await asyncio.gather(scanning, return_exceptions=True)
            await events.aclose()

    async def _scan(self) -> None:
        for status in ("working", "input-required", "submitted"):
            # The list has the newest first; the oldest has waited the longest.
            for view in reversed(await each(self.hub.calls.tasks_list, status=status, role="target")):
                self._look_at(view["id"])

    def _look_at(self, task: str) -> None:
        if task in self._running:
            self._running[task][1].set()
        else:
            self._waiting[task] = None
            self._fill()

    def _fill(self) -> None:
        while self._waiting and len(self._running) < self.concurrency and not self._stop.is_set():
            task = next(iter(self._waiting))
            del self._waiting[task]
            signal = Signal()
            running = asyncio.ensure_future(self._work(task, signal))
            self._running[task] = (running, signal)
            running.add_done_callback(functools.partial(self._ended, task))

    def _ended(self, task: str, done: asyncio.Task[None]) -> None:
        _, signal = self._running.pop(task)
        if not done.cancelled() and done.exception():
            log.error("task %s: %s", task, done.exception())
        if signal.is_set():
            self._waiting[task] = None
        self._fill()

    async def _work(self, task: str, signal: Signal) -> None:
        """One look at a task, repeated while the hub cannot be reached."""
        backoff = Backoff()
        while True:
            try:
                view = await self.hub.view(task)
                if await self._is_to_do(view):
                    await self._handle(await Task.opened(self.hub, await self.hub.view(task)), signal)
                return
            except TandemError as error:
                if not is_passing(error):
                    if not (isinstance(error, Refused) and error.code == "not_found"):
                        log.warning("task %s: %s", task, error)
                    return
                await asyncio.sleep(backoff.pause())

    def _is_ours(self, view: TaskView) -> bool:
        return view["targetAgentId"] == self.me and view["targetSessionKey"] == self._key

    async def _is_to_do(self, view: TaskView) -> bool:
        """Whether the handler is to run: the task is submitted and can be taken, or was taken by this worker before."""
        if view["targetAgentId"] != self.me or view["approvalStatus"] == "pending":
            return False
        if view["status"] != "submitted":
            is_at_work = view["status"] == "working" or await self._is_answered(view)
            return is_at_work and self._is_ours(view)
        if not await self._is_accepted(view["initiatorAgentId"]):
            return False
        try:
            task = await Task.opened(self.hub, view)
            await task.set_status("working", expected="submitted", session_key=self._key)
        except Refused as error:
            if is_passing(error):
                raise
            return False
        return True

    async def _is_answered(self, view: TaskView) -> bool:
        """Whether there is an answer to a question that an earlier run of this worker has asked."""
        if view["status"] != "input-required" or not self._is_ours(view) or (view["requiresReview"] and view["result"]):
            return False
        task = await Task.opened(self.hub, view)
        senders = [message.sender for message in await task.messages() if task._is_said(message)]
        return self.me in senders and view["initiatorAgentId"] in senders[len(senders) - senders[::-1].index(self.me) :]

    async def _is_accepted(self, agent: str) -> bool:
        if "*" in self.accept_from or agent in self.accept_from:
            return True
        connections = await self.hub.connections()
        for named in self.accept_from:
            try:
                if await self.hub.find(named, connections) == agent:
                    return True
            except TandemError as error:
                log.warning("%s is not accepted: %s", named, error)
        return False

    async def _handle(self, task: Task, signal: Signal) -> None:
        """Runs the handler, with signs of life, and delivers what it returns. Ends it if the task is taken away."""
        task._signal = Signal()
        handling = asyncio.ensure_future(self._result_of(task))
        beating = asyncio.ensure_future(self._beat(task))
        watching = asyncio.ensure_future(self._watch(task, signal))
        try:
            await asyncio.wait([handling, watching], return_when=asyncio.FIRST_COMPLETED)
            if handling.done():
                await self._deliver(task, handling.result())
        finally:
            for one in (handling, beating, watching):
                one.cancel()
            await asyncio.gather(handling, beating, watching, return_exceptions=True)

    async def _result_of(self, task: Task) -> Reply:
        if task.trust == "unreadable":
            return Reply(f"The task cannot be opened: {task.why}", "failed")
        try:
            result = await self.handler(task)
        except Exception as error:
            if isinstance(error, TandemError) and is_passing(error):
                raise
            # The text may have something that is only the owner's business.
            log.exception("task %s failed", task.id)
            return Reply(f"The worker failed ({type(error).__name__}).", "failed")
        return result if isinstance(result, Reply) else Reply(result or "Done.")

    async def _beat(self, task: Task) -> None:
        while True:
            lease = task.view["leaseSeconds"]
            await asyncio.sleep(lease / 3 if lease else HEARTBEAT_SECONDS)
            try:
                await task.progress()
            except TandemError as error:
                log.debug("no heartbeat for %s: %s", task.id, error)

    async def _watch(self, task: Task, signal: Signal) -> None:
        """Returns when the task is no longer this worker's."""
        while True:
            await signal.wait()
            try:
                view = await self.hub.view(task.id)
                if not self._is_ours(view) or view["status"] in (*TERMINAL, "submitted"):
                    return
            except Refused as error:
                if not is_passing(error):
                    return
            except TandemError:
                asyncio.get_running_loop().call_later(1.0, signal.set)
            if task._signal:
                task._signal.set()

    async def _deliver(self, task: Task, reply: Reply) -> None:
        """Delivers until the hub has answered. A task that has changed meanwhile is looked at again."""
        backoff, key = Backoff(), secrets.token_hex(16)
        files = [File.of(one) for one in reply.files]
        while True:
            try:
                view = await task.refresh()
                if not self._is_ours(view) or view["status"] in TERMINAL:
                    return
                while files:
                    await self._upload(task, files[0])
                    files.pop(0)
                await self._send(task, reply, key)
                return
            except TandemError as error:
                if isinstance(error, Refused) and error.code in ("conflict", "idempotency_conflict"):
                    key = secrets.token_hex(16)
                elif not is_passing(error):
                    raise
                await asyncio.sleep(backoff.pause())

    async def _upload(self, task: Task, file: File) -> None:
        try:
            await task.upload(file, idempotency_key=content_key(task.id, task.view["attempt"], file))
        except Refused as error:
            # It was uploaded before, sealed with other random numbers.
            if error.code != "idempotency_conflict":
                raise

    async def _send(self, task: Task, reply: Reply, key: str) -> None:
        await task.reply(reply.text, reply.outcome, expected=task.status, idempotency_key=key)


def agent(profile: str | None = None, *, accept_from: Sequence[str], concurrency: int = 1) -> Callable[[Handler], Worker]:
    """Makes a worker of a function: `@agent("bob", accept_from=["ada"])`, then `work.run()`."""
    return lambda handler: Worker(lambda: Tandem.from_profile(profile), handler, accept_from, concurrency)
