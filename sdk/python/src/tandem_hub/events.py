"""The event stream: an agent's events in the order of its log, each once. It resumes by cursor and epoch, by a WebSocket,
else by server-sent events, else by long polls."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, Literal, NamedTuple, cast

import httpx
import websockets.asyncio.client as websocket
from websockets.exceptions import InvalidStatus, WebSocketException

from ._http import Backoff, Http, refusal
from ._wire import EventType
from .errors import AnswerLost, NotAHub, Refused, TandemError, TimedOut, Unreachable

Transport = Literal["ws", "sse", "poll"]
ORDER: tuple[Transport, ...] = ("ws", "sse", "poll")
OPEN_SECONDS, SILENCE_SECONDS, WAIT_SECONDS, LESSER_SECONDS, KEY_SECONDS = 15.0, 75.0, 25, 600.0, 3.0
# A connection that lasted this long was a good one: the next pause is short.
GOOD_SECONDS = 10.0
END_OF_LOG = 2**63 - 1


class Event(NamedTuple):
    """An event of the agent's log. `data` has all its fields."""

    cursor: int
    type: EventType
    task_id: str | None
    from_agent_id: str | None
    created_at: str | None
    data: dict[str, Any]


class Start(NamedTuple):
    """Where a connection starts: the events after this cursor of the log with this epoch follow."""

    cursor: int
    epoch: str | None


class Notice(NamedTuple):
    """What happened to a stream; it goes on by itself."""

    kind: Literal["connected", "lost", "rewound"]
    detail: str


class _Renew(Exception):
    """Connect again at once; nothing is wrong."""


def parse_frame(text: str) -> Start | Event:
    """A message of a socket or stream."""
    try:
        frame = json.loads(text)
        cursor, kind = int(frame["cursor"]), str(frame["type"])
    except (ValueError, KeyError, TypeError, AttributeError) as cause:
        raise NotAHub(f"a pushed event that is none: {cause}") from cause
    return Start(cursor, checked_epoch(frame.get("epoch"))) if kind == "connected" else event_of(cursor, frame)


def event_of(cursor: int, found: dict[str, Any]) -> Event:
    """An event, the same on every channel. A socket of an older hub has its fields only beside the number."""
    data = found.get("data") or {name: value for name, value in found.items() if name not in ("cursor", "createdAt")}
    kind = cast(EventType, found["type"])
    return Event(cursor, kind, found.get("taskId"), found.get("fromAgentId"), found.get("createdAt"), data)


def checked_epoch(epoch: object) -> str | None:
    is_one = isinstance(epoch, str) and 1 <= len(epoch) <= 64 and epoch.isascii() and epoch.isalnum()
    return str(epoch) if is_one else None


def place(after: Start | None) -> dict[str, Any]:
    return {"after": after.cursor, "epoch": after.epoch} if after else {}


Source = AsyncGenerator["Start | Event", None]


class Socket(websocket.connect):
    """A WebSocket that follows no redirect: the key is for the hub alone."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


async def by_socket(http: Http, after: Start | None) -> Source:
    query = httpx.QueryParams({name: value for name, value in place(after).items() if value is not None})
    url = f"ws{http.url[4:]}/ws" + (f"?{query}" if query else "")
    try:
        async with Socket(
            url,
            additional_headers=http.headers(),
            open_timeout=OPEN_SECONDS,
            ping_interval=30,
            ping_timeout=30,
            close_timeout=2,
        ) as socket:
            http.reached = True
            async for text in socket:
                yield parse_frame(text if isinstance(text, str) else text.decode())
        raise AnswerLost("the hub ended the socket")
    except InvalidStatus as cause:
        answer = cause.response
        headers = {name.lower(): value for name, value in answer.headers.raw_items()}
        raise refusal(answer.status_code, headers, bytes(answer.body or b"")) from cause
    except ConnectionRefusedError as cause:
        raise Unreachable(f"cannot reach the hub at {http.url}: {cause}") from cause
    except (OSError, WebSocketException, asyncio.TimeoutError) as cause:
        raise AnswerLost(f"lost the connection to the hub at {http.url}: {cause}") from cause


async def by_stream(http: Http, after: Start | None) -> Source:
    query = {name: value for name, value in place(after).items() if value is not None}
    timeout = httpx.Timeout(OPEN_SECONDS, read=SILENCE_SECONDS)
    try:
        async with http.client.stream(
            "GET", f"{http.url}/events/stream", params=query, headers=http.headers(), timeout=timeout
        ) as response:
            http.reached = True
            if not response.is_success:
                raise refusal(response.status_code, response.headers, await response.aread())
            data: list[str] = []
            async for line in response.aiter_lines():
                if line.startswith("data:"):
                    data.append(line[5:].removeprefix(" "))
                elif not line and data:
                    yield parse_frame("\n".join(data))
                    data = []
        raise AnswerLost("the hub ended the stream")
    except (httpx.ConnectError, httpx.ConnectTimeout) as cause:
        raise Unreachable(f"cannot reach the hub at {http.url}: {cause}") from cause
    except httpx.TransportError as cause:
        raise AnswerLost(f"lost the connection to the hub at {http.url}: {cause}") from cause


async def by_polls(http: Http, after: Start | None) -> Source:
    asked = after or Start(END_OF_LOG, None)
    page = await http.json("GET", "/events", query=place(asked))
    position, until = polled_from(asked, page), time.monotonic() + LESSER_SECONDS
    yield position
    while time.monotonic() < until:
        page = await http.json("GET", "/events", query={**place(position), "wait": WAIT_SECONDS}, wait=WAIT_SECONDS)
        if checked_epoch(page.get("epoch")) != position.epoch or page["cursor"] < position.cursor:
            raise _Renew
        for one in page["events"]:
            yield event_of(one["id"], one)
            position = Start(one["id"], position.epoch)
    raise _Renew


def polled_from(asked: Start, page: dict[str, Any]) -> Start:
    """Where the events of a first page start."""
    epoch, events = checked_epoch(page.get("epoch")), page["events"]
    if not events:
        return Start(page["cursor"], epoch)
    return Start(asked.cursor if asked.epoch in (None, epoch) else events[0]["id"] - 1, epoch)


SOURCES: dict[Transport, Callable[[Http, Start | None], Source]] = {"ws": by_socket, "sse": by_stream, "poll": by_polls}


class Events:
    """An async iterator of events. `cursor` and `epoch` say how far it has come: store both to go on from there.

    After a restore of the hub, a stream with a cursor goes on after the last acknowledged event, so some may come a second
    time; a stream of new events skips those that were written before the last one that it gave."""

    def __init__(
        self, http: Http, after: int | None = None, epoch: str | None = None, transport: Transport | None = None,
        on_notice: Callable[[Notice], None] | None = None,
    ) -> None:  # fmt: skip
        self.cursor, self.epoch, self._http, self._only = after, epoch, http, transport
        self._notify = on_notice or (lambda notice: None)
        self._is_live, self._failures = after is None, 0
        self._last_at: str | None = None
        self._known_until: str | None = None
        self._transport: Transport = transport or "ws"
        self._lesser_since: float | None = None
        self._backoff = Backoff()
        self._events = self._follow()

    def __aiter__(self) -> Events:
        return self

    async def __anext__(self) -> Event:
        return await self._events.__anext__()

    async def aclose(self) -> None:
        await self._events.aclose()

    def _use(self, transport: Transport) -> None:
        self._transport, self._failures = transport, 0
        self._lesser_since = None if transport == "ws" else time.monotonic()

    async def _follow(self) -> AsyncGenerator[Event, None]:
        while True:
            if self._lesser_since and time.monotonic() - self._lesser_since > LESSER_SECONDS and not self._only:
                self._use("ws")
            key, opened_at = self._http.key, None
            after = None if self.cursor is None else Start(self.cursor, self.epoch)
            try:
                async with aclosing(SOURCES[self._transport](self._http, after)) as source:
                    start = await asyncio.wait_for(source.__anext__(), OPEN_SECONDS)
                    opened_at = time.monotonic()
                    self._begin(start)
                    async for event in source:
                        self._backoff.attempts = 0
                        if isinstance(event, Event) and self._is_new(event):
                            yield event
                raise AnswerLost("the stream has ended")
            except _Renew:
                await asyncio.sleep(0.1)
            except (TandemError, asyncio.TimeoutError) as error:
                cause = error if isinstance(error, TandemError) else TimedOut("the hub did not greet in time")
                if opened_at and time.monotonic() - opened_at > GOOD_SECONDS:
                    self._backoff.attempts = 0
                await self._pause(cause, key, opened_at is not None)

    def _begin(self, start: Start | Event) -> None:
        if not isinstance(start, Start):
            raise NotAHub("an event before the greeting")
        self._failures, before, epoch = 0, self.cursor, self.epoch
        is_other = epoch is not None and start.epoch is not None and epoch != start.epoch
        self.cursor, self.epoch = start
        if before is not None and (is_other or start.cursor < before):
            self._notify(Notice("rewound", f"from {before} to {start.cursor}"))
            if self._is_live and is_other:
                self._known_until = self._last_at
                if self._last_at is None:
                    # It cannot be told what is new: connect once more, at the end of the restored log.
                    self.cursor = None
                    raise _Renew
        self._notify(Notice("connected", self._transport))

    def _is_new(self, event: Event) -> bool:
        if self.cursor is not None and event.cursor <= self.cursor:
            return False
        self.cursor = event.cursor
        if self._known_until and event.created_at and event.created_at <= self._known_until:
            return False
        self._last_at, self._known_until = event.created_at or self._last_at, None
        return True

    async def _pause(self, error: TandemError, key: str | None, is_open: bool) -> None:
        """Waits before the next connection, or raises an error after which none is of use."""
        if isinstance(error, Refused) and error.code == "unauthorized":
            until = time.monotonic() + KEY_SECONDS
            while self._http.key_source and time.monotonic() < until:
                if self._http.renew_key(key):
                    return
                await asyncio.sleep(0.1)
            raise error
        if not is_open and self._transport != "poll" and not isinstance(error, Unreachable):
            # A proxy may refuse what the hub would not: the hub is asked in the plainest way.
            try:
                await self._http.json("GET", "/events", query={"after": END_OF_LOG})
            except TandemError as refused:
                return await self._lost(refused)
            self._failures += 1
            if not self._only and (isinstance(error, (Refused, NotAHub)) or self._failures >= 2):
                self._use(ORDER[ORDER.index(self._transport) + 1])
                return
        await self._lost(error)

    async def _lost(self, error: TandemError) -> None:
        wanted = 0.0
        if isinstance(error, Refused):
            if error.status in (400, 401, 403):
                raise error
            wanted = min(error.retry_after or 0.0, 60.0)
        pause = max(self._backoff.pause(), wanted)
        self._notify(Notice("lost", f"{error}; again in {pause:.1f} s"))
        await asyncio.sleep(pause)
