"""One agent of the behaviour suite, by this package: commands as JSON lines on stdin, answers on stdout."""

from __future__ import annotations

import asyncio
import base64
import inspect
import itertools
import json
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from tandem_hub import (
    AnswerLost,
    Event,
    Events,
    File,
    InputRequired,
    InvalidWebhook,
    NotAHub,
    ProfileError,
    Refused,
    Reply,
    Tandem,
    Task,
    TaskFailed,
    TimedOut,
    Unreachable,
    Untrusted,
    Worker,
    verify,
)

KINDS: list[tuple[type[BaseException], str]] = [
    (Refused, "refused"),
    (Unreachable, "unreachable"),
    (TimedOut, "timed_out"),
    (AnswerLost, "lost"),
    (NotAHub, "not_a_hub"),
    (Untrusted, "untrusted"),
    (TaskFailed, "task_failed"),
    (InputRequired, "input_required"),
    (ProfileError, "profile"),
    (InvalidWebhook, "webhook"),
]


def as_file(given: dict[str, str]) -> File:
    return File(given["name"], base64.b64decode(given["base64"]), given["mime"])


class Followed:
    """What a stream has given so far."""

    def __init__(self, events: Events) -> None:
        self.events, self.got, self.notices, self.read = events, list[Event](), list[str](), 0
        self.arrived = asyncio.Condition()
        self.task = asyncio.ensure_future(self.collect())
        self.error: BaseException | None = None

    async def collect(self) -> None:
        try:
            async for event in self.events:
                self.got.append(event)
                async with self.arrived:
                    self.arrived.notify_all()
        except Exception as error:
            self.error = error
            async with self.arrived:
                self.arrived.notify_all()

    async def until(self, count: int, timeout: float) -> None:
        async def enough() -> None:
            async with self.arrived:
                await self.arrived.wait_for(lambda: len(self.got) >= count or self.error is not None)

        try:
            await asyncio.wait_for(enough(), timeout)
        except asyncio.TimeoutError:
            pass
        if self.error:
            raise self.error


class Driver:
    """The commands."""

    def __init__(self) -> None:
        self.hub: Tandem
        self.streams: dict[str, Followed] = {}
        self.workers: dict[str, tuple[Worker, asyncio.Task[None], dict[str, int], asyncio.Event]] = {}

    async def register(self, url: str, name: str, profile: str, encrypted: bool, patience: float = 30.0) -> Any:
        self.hub = await Tandem.register(url, name, profile=profile, encrypted=encrypted, patience=patience)
        pem = self.hub.keys.keyring.key.public.fingerprint if encrypted else None
        return {"agentId": await self.hub.agent_id(), "fingerprint": pem}

    async def open(self, profile: str, url: str | None = None, patience: float = 30.0) -> Any:
        self.hub = Tandem.from_profile(profile, url=url, patience=patience)
        return {"agentId": await self.hub.agent_id()}

    async def key(self) -> Any:
        return {"key": self.hub._http.key}

    async def rotate(self) -> Any:
        return {"key": await self.hub.rotate_key()}

    async def pair(self, code: str | None = None) -> Any:
        if code is None:
            return {"code": (await self.hub.pair())["code"]}
        return {"agentId": (await self.hub.connect(code))["agentId"]}

    async def call(self, operation: str, path: list[str], query: dict[str, Any], body: Any, method: str, route: str) -> Any:
        options = {"with_agent" if name == "with" else name: value for name, value in query.items()}
        typed = getattr(self.hub.calls, operation)
        takes_body = "body" in inspect.signature(typed).parameters
        answer = await typed(*path, *([body] if takes_body and body is not None else []), **options)
        return answer.items if hasattr(answer, "next") else answer

    async def send(
        self, to: str, title: str, description: str = "", files: list[dict[str, str]] | None = None,
        encrypt: bool = False, options: dict[str, Any] | None = None,
    ) -> Any:  # fmt: skip
        prepared = [as_file(one) for one in files or []]
        task = await self.hub.send(to, title, description, files=prepared, encrypt=encrypt, **(options or {}))
        return {"taskId": task.id}

    async def view(self, task: str) -> Any:
        found = await self.hub.task(task)
        names = ("status", "title", "description", "result", "progress", "encrypted")
        return {**{name: found.view.get(name) for name in names}, "trust": found.trust, "why": found.why}

    async def say(self, task: str, text: str) -> Any:
        return {"messageId": (await (await self.hub.task(task)).say(text))["id"]}

    async def upload(self, task: str, file: dict[str, str]) -> Any:
        return {"messageId": await (await self.hub.task(task)).upload(as_file(file))}

    async def messages(self, task: str) -> Any:
        found = await (await self.hub.task(task)).messages()
        return [
            {"id": one.id, "from": one.sender, "contentType": one.view["contentType"], "text": one.text, "trust": one.trust}
            for one in found
        ]

    async def files(self, task: str) -> Any:
        found = await (await self.hub.task(task)).files()
        return [
            {"name": one.name, "mime": one.mime, "base64": base64.b64encode(one.data).decode(), "trust": one.trust}
            for one in found
        ]

    async def status(self, task: str, status: Any, reason: str | None = None) -> Any:
        return {"status": (await (await self.hub.task(task)).set_status(status, reason))["status"]}

    async def take(self, task: str) -> Any:
        return await self.status(task, "working")

    async def reply(self, task: str, text: str, outcome: Any = "completed") -> Any:
        return {"status": (await (await self.hub.task(task)).reply(text, outcome))["status"]}

    async def result(self, task: str, timeout: float) -> Any:
        found = await (await self.hub.task(task)).result(timeout)
        return {"status": found.status, "text": found.text}

    async def follow(self, stream: str, after: int | None = None, epoch: str | None = None, transport: Any = None) -> Any:
        notices: list[str] = []
        events = self.hub.events(after, epoch=epoch, transport=transport, on_notice=lambda one: notices.append(one.kind))
        self.streams[stream] = Followed(events)
        self.streams[stream].notices = notices
        return {}

    async def read(self, stream: str, count: int, timeout: float) -> Any:
        followed = self.streams[stream]
        await followed.until(followed.read + count, timeout)
        got = followed.got[followed.read : followed.read + count]
        followed.read += len(got)
        shown = [{"cursor": one.cursor, "type": one.type, "taskId": one.task_id} for one in got]
        return {"events": shown, "notices": list(followed.notices)}

    async def summary(self, stream: str, count: int, timeout: float) -> Any:
        followed = self.streams[stream]
        await followed.until(count, timeout)
        cursors = [one.cursor for one in followed.got]
        steps = [later - earlier for earlier, later in itertools.pairwise(cursors)]
        gaps, doubles = sum(step > 1 for step in steps), sum(step < 1 for step in steps)
        return {"count": len(cursors), "first": cursors[0], "last": cursors[-1], "gaps": gaps, "doubles": doubles}

    async def unfollow(self, stream: str) -> Any:
        followed = self.streams.pop(stream)
        followed.task.cancel()
        await asyncio.gather(followed.task, return_exceptions=True)
        await followed.events.aclose()
        return {"cursor": followed.events.cursor, "epoch": followed.events.epoch}

    async def work(self, worker: str, script: str, acceptFrom: list[str], concurrency: int = 1) -> Any:
        runs: dict[str, int] = {}
        release = asyncio.Event()

        async def handle(task: Task) -> Reply | str:
            runs[task.id] = runs.get(task.id, 0) + 1
            if script == "echo":
                return f"done: {task.title}"
            if script == "ask":
                return f"you said {await task.ask('Which one?')}"
            if script == "file":
                await task.progress(40, "reading")
                files = await task.files(task.view["initiatorAgentId"])
                return Reply("read", files=[File(f"re-{one.name}", one.data, one.mime) for one in files])
            if script == "hold":
                await release.wait()
                return "released"
            raise RuntimeError("as the script says")

        made = Worker(self.hub, handle, acceptFrom, concurrency)
        self.workers[worker] = (made, asyncio.ensure_future(made.serve()), runs, release)
        return {}

    async def release(self, worker: str) -> Any:
        self.workers[worker][3].set()
        return {}

    async def unwork(self, worker: str) -> Any:
        made, serving, runs, _ = self.workers[worker]
        made.stop()
        await serving
        del self.workers[worker]
        return {"runs": runs}

    async def pin(self, agent: str) -> Any:
        key = self.hub.keys.keyring.pins.get(agent)
        return {"fingerprint": key.fingerprint if key else None}

    async def accept(self, agent: str) -> Any:
        self.hub.keys.keyring.pins.accept(await self.hub.keys.presented_key(agent))
        return {}

    async def verify(self, headers: dict[str, str], body: str, secret: str, now: float) -> Any:
        try:
            verify(headers, body, secret, now=now)
        except InvalidWebhook:
            return {"valid": False}
        return {"valid": True}


def failure(error: BaseException) -> dict[str, Any]:
    kind = next((kind for of, kind in KINDS if isinstance(error, of)), "other")
    code = getattr(error, "code", None) or getattr(error, "status", None)
    return {"kind": kind, "code": code, "message": f"{type(error).__name__}: {error}"}


def say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


async def answer(driver: Driver, request: dict[str, Any]) -> None:
    number, name = request.pop("id"), request.pop("do")
    try:
        command: Callable[..., Awaitable[Any]] = getattr(driver, name)
        say({"id": number, "ok": await command(**request)})
    except Exception as error:
        say({"id": number, "error": failure(error)})


async def main() -> None:
    driver, loop, running = Driver(), asyncio.get_running_loop(), set[asyncio.Task[None]]()
    lines: asyncio.Queue[str | None] = asyncio.Queue()

    def read() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
    say({"id": 0, "ok": {"language": "python", "can": ["worker", "webhook"]}})
    while (line := await lines.get()) is not None:
        task = asyncio.ensure_future(answer(driver, json.loads(line)))
        running.add(task)
        task.add_done_callback(running.discard)


if __name__ == "__main__":
    asyncio.run(main())
