"""A task: what its two parties do with it, and waiting for what the other one does."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast
from urllib.parse import unquote

from ._http import pages, quoted
from ._plain import CLEAR_NAME, DELETED, Trust
from ._tables import TERMINAL
from ._wire import MessageView, Status, TaskView
from .client import File, checked_id
from .errors import AnswerLost, InputRequired, Refused, TandemError, TaskFailed, Unreachable, Untrusted

if TYPE_CHECKING:
    from .client import Tandem

Outcome = Literal["completed", "failed", "cancelled"]
Files = Sequence[File | str | Path]


class Message(NamedTuple):
    """A message in the clear. Its text was written by another owner's agent: it is data, never an instruction."""

    id: str
    sender: str
    sender_name: str | None
    text: str
    trust: Trust
    why: str | None
    view: MessageView


@dataclass(frozen=True)
class ReceivedFile(File):
    """A file of a task. Name and content come from its sender."""

    sender: str = ""
    message_id: str = ""
    trust: Trust = "plain"


class Result(NamedTuple):
    """What a task came to."""

    text: str
    status: Status
    files: list[ReceivedFile]


class Signal:
    """Says that a task may have changed."""

    def __init__(self) -> None:
        self._event, self._error = asyncio.Event(), cast("BaseException | None", None)

    def set(self, error: BaseException | None = None) -> None:
        self._error = error or self._error
        self._event.set()

    def is_set(self) -> bool:
        return self._event.is_set()

    async def wait(self) -> None:
        await self._event.wait()
        self._event.clear()
        if self._error:
            raise self._error


def is_passing(error: TandemError) -> bool:
    """Whether the same may succeed later."""
    return isinstance(error, (Unreachable, AnswerLost)) or (
        isinstance(error, Refused) and (error.status in (401, 429) or error.status >= 500)
    )


def again_soon(error: TandemError, signal: Signal) -> None:
    """Tries again in a moment if that can help, else raises the error."""
    if not is_passing(error):
        raise error
    asyncio.get_running_loop().call_later(1.0, signal.set)


def disposition(header: str) -> str:
    """The name in a `Content-Disposition` header."""
    encoded = re.search(r"filename\*=UTF-8''([^;]+)", header)
    if encoded:
        return unquote(encoded[1])
    found = re.search(r'filename="([^"]*)"', header)
    return found[1] if found else "file"


class Task:
    """A task of the agent. `view` is the wire view in the clear; `trust` says what is known of its content."""

    def __init__(self, hub: Tandem, raw: TaskView, view: TaskView, trust: Trust, why: str | None) -> None:
        self.hub, self._raw, self.view, self.trust, self.why = hub, raw, view, trust, why
        self._signal: Signal | None = None
        self._asked: set[str] = set()

    @classmethod
    async def opened(cls, hub: Tandem, raw: TaskView) -> Task:
        return cls(hub, raw, *await hub.encryption.open_task(raw))

    async def _show(self, raw: TaskView) -> TaskView:
        self._raw = checked_id(raw, self.id)
        self.view, self.trust, self.why = await self.hub.encryption.open_task(raw)
        return self.view

    async def refresh(self) -> TaskView:
        return await self._show(await self.hub.view(self.id))

    @property
    def id(self) -> str:
        return self._raw["id"]

    @property
    def status(self) -> Status:
        return self._raw["status"]

    @property
    def title(self) -> str:
        return self.view["title"]

    @property
    def description(self) -> str:
        return self.view["description"] or ""

    async def messages(self) -> list[Message]:
        """The whole thread, oldest first."""
        # The first page has the newest ones.
        found = reversed(await pages(self.hub.calls.messages_list, self.id, limit=1000))
        opened = await self.hub.encryption.open_messages(self._raw, [one for items in found for one in items])
        return [
            Message(view["id"], view["senderAgentId"], view["senderAgentName"], view["content"], trust, why, view)
            for view, trust, why in opened
        ]

    def _is_said(self, message: Message) -> bool:
        """Whether it is a text of its sender: no file, nothing deleted, and nothing that the hub could have written."""
        is_trusted = message.trust == ("verified" if self._raw["encrypted"] else "plain")
        return is_trusted and message.view["contentType"] != "file" and message.text != DELETED

    async def files(self, sender: str | None = None) -> list[ReceivedFile]:
        """The files of the task, read. Those of an encrypted task that cannot be verified raise `Untrusted`."""
        messages = [one for one in await self.messages() if one.view["contentType"] == "file"]
        return [await self._read(one) for one in messages if sender in (None, one.sender)]

    async def _read(self, message: Message) -> ReceivedFile:
        answer = await self.hub._http.send("GET", f"/files/{quoted(message.text)}", wait=840)
        if message.trust == "unopened":
            opened = await self.hub.encryption.open_file(self._raw, message.view, answer.content)
            return ReceivedFile(opened[0], opened[2], opened[1], message.sender, message.id, "verified")
        name, mime = disposition(answer.headers.get("content-disposition", "")), answer.headers.get("content-type", "")
        return ReceivedFile(name, answer.content, mime, message.sender, message.id)

    def is_encrypted(self) -> bool:
        return self.hub.encryption.is_encrypted(self._raw)

    async def _sealed(self, text: str) -> dict[str, Any]:
        """The fields of a message."""
        if not self.is_encrypted():
            return {"content": text}
        sealed = await self.hub.encryption.seal_for(self._raw, {"contentType": "text", "body": text})
        keys = {"encryptedKeys": sealed["keys"], "senderSignature": sealed["signature"]}
        return {"content": sealed["content"], "contentType": "encrypted", **keys}

    async def say(self, text: str, *, files: Files = (), idempotency_key: str | None = None) -> MessageView:
        """Sends a message, after the files."""
        for one in files:
            await self.upload(one)
        body = await self._sealed(text)
        return await self.hub.calls.messages_send(self.id, cast(Any, body), idempotency_key=idempotency_key)

    async def upload(self, given: File | str | Path, *, idempotency_key: str | None = None) -> str:
        """Sends a file; returns the id of its message."""
        file, key = File.of(given), idempotency_key
        if self.is_encrypted():
            fields = {"filename": file.name, "mimeType": file.mime, "data": base64.b64encode(file.data).decode()}
            sealed = await self.hub.encryption.seal_for(self._raw, fields)
            body: dict[str, Any] = {"filename": CLEAR_NAME, "mimeType": "application/octet-stream"}
            body.update(base64Content=sealed["content"], encryptedKeys=sealed["keys"], senderSignature=sealed["signature"])
            sent = await self.hub.calls.files_upload_json(self.id, cast(Any, body), idempotency_key=key)
        else:
            sent = await self.hub.calls.files_upload(self.id, (file.name, file.data, file.mime), idempotency_key=key)
        return sent["messageId"]

    async def set_status(
        self, status: Status, reason: str | None = None, *, expected: Status | None = None, session_key: str | None = None
    ) -> TaskView:
        """Changes the status. After a lost answer the task itself tells whether it was done."""
        fields = {"status": status, "reason": reason, "expectedStatus": expected, "sessionKey": session_key}
        body = {name: value for name, value in fields.items() if value is not None}
        try:
            return await self._show(await self.hub.calls.tasks_change(self.id, cast(Any, body)))
        except AnswerLost:
            view = await self.refresh()
            if view["status"] != status or session_key not in (None, view["targetSessionKey"]):
                raise
            return view

    async def cancel(self, reason: str | None = None) -> TaskView:
        return await self._show(await self.hub.calls.tasks_cancel(self.id, {"reason": reason} if reason else {}))

    async def progress(self, percent: int | None = None, note: str | None = None) -> None:
        """Reports that the work goes on."""
        fields = {name: value for name, value in (("progress", percent), ("note", note)) if value is not None}
        await self.hub.calls.tasks_heartbeat(self.id, cast(Any, fields))

    async def reply(
        self, text: str, outcome: Outcome = "completed", *, files: Files = (), expected: Status | None = None,
        idempotency_key: str | None = None,
    ) -> TaskView:  # fmt: skip
        """Delivers the result, as the target."""
        for one in files:
            await self.upload(one)
        body = {**await self._sealed(text), "outcome": outcome, **({"expectedStatus": expected} if expected else {})}
        view = await self.hub.calls.tasks_reply(self.id, cast(Any, body), idempotency_key=idempotency_key)
        return await self._show(view)

    @asynccontextmanager
    async def _changes(self) -> AsyncIterator[Signal]:
        """A signal for every event of this task, and for every time that some may have been missed."""
        if self._signal:
            self._signal.set()
            yield self._signal
            return
        signal = Signal()
        events = self.hub.events(on_notice=lambda notice: signal.set() if notice.kind != "lost" else None)

        async def watch() -> None:
            try:
                async for event in events:
                    if event.task_id == self.id:
                        signal.set()
            except Exception as error:
                signal.set(error)

        watching = asyncio.ensure_future(watch())
        try:
            yield signal
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            await events.aclose()

    async def result(
        self, timeout: float | None = None, *, on_question: Callable[[str], Awaitable[str]] | None = None
    ) -> Result:
        """Waits for the result; follows the events, also over restarts of the hub. Raises `TaskFailed` if there is none, and
        `InputRequired` if the target asks and there is no `on_question`. A reviewed task has one when it is delivered."""
        return await asyncio.wait_for(self._result(on_question), timeout)

    async def _result(self, on_question: Callable[[str], Awaitable[str]] | None) -> Result:
        async with self._changes() as signal:
            while True:
                await signal.wait()
                try:
                    view = await self.refresh()
                    is_delivered = self.status == "input-required" and view["requiresReview"] and view["result"]
                    if self.status == "completed" or is_delivered:
                        if self.trust == "unreadable":
                            raise Untrusted("unreadable", self.why or "the result cannot be opened")
                        return Result(view["result"] or "", self.status, await self.files(view["targetAgentId"]))
                    if self.status in TERMINAL:
                        raise TaskFailed(self.id, self.status, view["statusReason"] or view["result"])
                    if self.status == "input-required":
                        await self._answer(on_question)
                except TandemError as error:
                    again_soon(error, signal)

    async def _answer(self, on_question: Callable[[str], Awaitable[str]] | None) -> None:
        asked = [one for one in await self.messages() if one.sender == self._raw["targetAgentId"] and self._is_said(one)]
        question = asked[-1] if asked else None
        if question and question.id in self._asked:
            return
        if on_question is None:
            raise InputRequired(self.id, question.text if question else self.view["statusReason"] or "")
        await self.say(await on_question(question.text if question else ""))
        self._asked.add(question.id if question else "")

    async def ask(self, question: str, timeout: float | None = None) -> str:
        """Asks the initiator, as the target, and waits for the next message. After a restart of a worker the same question
        is not asked a second time."""
        return await asyncio.wait_for(self._ask(question), timeout)

    async def _ask(self, question: str) -> str:
        me, peer = self._raw["targetAgentId"], self._raw["initiatorAgentId"]
        said = [one for one in await self.messages() if one.sender == me and self._is_said(one)]
        earlier = [one for one in said if one.text.strip() == question.strip()]
        asked = next((one.id for one in earlier if one.id not in self._asked), None)
        asked = asked or (await self.say(question))["id"]
        self._asked.add(asked)
        async with self._changes() as signal:
            is_paused = False
            while True:
                try:
                    thread = await self.messages()
                    at = next((number for number, one in enumerate(thread) if one.id == asked), len(thread))
                    answer = next((one for one in thread[at + 1 :] if one.sender == peer and self._is_said(one)), None)
                    await self.refresh()
                    if answer is not None:
                        if self.status != "working":
                            await self.set_status("working", expected=self.status)
                        return answer.text
                    if self.status == "working" and not is_paused:
                        await self.set_status("input-required", expected="working")
                        is_paused = True
                except TandemError as error:
                    again_soon(error, signal)
                await signal.wait()
