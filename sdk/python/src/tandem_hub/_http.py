"""Sends calls, repeats them where that is safe, and tells a hub's refusal from a proxy's page. Knows no route."""

from __future__ import annotations

import asyncio
import json
import random
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import parse_qs, quote, urlsplit

import httpx

from ._codes import BY_CODE
from .errors import AnswerLost, NotAHub, ProfileError, Refused, TandemError, TimedOut, Unreachable

T = TypeVar("T")
VERSION = "0.1.0"
ANSWER_SECONDS = 60.0
RETRY_AFTER_MAX = 86_400.0
PAGES_MAX = 10_000


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a list, and the cursor of the next one."""

    items: list[T]
    next: str | None


def quoted(part: str) -> str:
    return quote(part, safe="")


def hub_url(text: str) -> str:
    """The address of a hub in its one spelling. Without a scheme it is http on this machine, https elsewhere."""
    scheme, _, rest = text.strip().rpartition("://")
    host = (urlsplit("//" + rest).hostname or "").lower()
    local = host == "localhost" or host == "::1" or host.startswith("127.")
    scheme = (scheme or ("http" if local else "https")).lower()
    if scheme not in ("http", "https") or not host or any(c in "?#@" or c.isspace() for c in rest):
        # The address may have a password, which is not repeated.
        raise ProfileError("the address of a hub is scheme, host, port and path, such as https://hub.example.com")
    try:
        port = urlsplit("//" + rest).port
    except ValueError:
        raise ProfileError("the port of a hub's address is a number from 1 to 65535") from None
    host = f"[{host}]" if ":" in host else host
    usual = port is None or port == (443 if scheme == "https" else 80)
    return f"{scheme}://{host}{'' if usual else f':{port}'}{urlsplit('//' + rest).path.rstrip('/')}"


class Backoff:
    """Pauses that double up to 15 s, each shortened at random, so that clients do not come back in step."""

    def __init__(self) -> None:
        self.attempts = 0

    def pause(self) -> float:
        self.attempts += 1
        return float(min(0.2 * 2 ** min(self.attempts - 1, 10), 15.0) * random.uniform(0.5, 1))


def refusal(status: int, headers: Mapping[str, str], text: bytes) -> TandemError:
    """The error that an answer stands for."""
    try:
        body = json.loads(text)
        is_ours = isinstance(body, dict) and isinstance(body.get("error"), str) and isinstance(body.get("code"), str)
    except ValueError:
        body, is_ours = {}, False
    if not is_ours:
        if status in (502, 504):
            return AnswerLost(f"a proxy answered in the hub's place ({status})")
        if status != 503:
            return NotAHub(f"it does not answer like a hub: status {status} without an error body")
        body = {"error": f"the hub is not available ({status})", "code": "unavailable"}
    after = headers.get("retry-after", "")
    seconds = min(float(after), RETRY_AFTER_MAX) if after.isascii() and after.isdigit() and is_ours else None
    return BY_CODE.get(body["code"], Refused)(status, body, seconds, headers.get("x-request-id"))


class Http:
    """The connections to one hub."""

    def __init__(self, url: str, key: str | None, patience: float, key_source: Callable[[], str | None] | None) -> None:
        self.url, self.key, self.patience, self.key_source = hub_url(url), key, patience, key_source
        self.reached = False
        self.client = httpx.AsyncClient(timeout=httpx.Timeout(ANSWER_SECONDS, connect=10.0), follow_redirects=False)

    def headers(self) -> dict[str, str]:
        own = {"user-agent": f"tandem-python/{VERSION}"}
        return {**own, "authorization": f"Bearer {self.key}"} if self.key else own

    def renew_key(self, refused: str | None) -> bool:
        """Reads the key again: another program may have replaced it. False if it is still the refused one."""
        key = self.key_source() if self.key_source else None
        self.key = key or self.key
        return key is not None and key != refused

    def pause_after(self, error: TandemError, repeatable: bool, backoff: Backoff) -> float | None:
        """How long to wait before a call is sent again; None if that is of no use or not safe."""
        if isinstance(error, Refused):
            if error.code == "rate_limited" or (error.code == "unavailable" and repeatable):
                return max(error.retry_after or 0.0, backoff.pause())
            return None
        if isinstance(error, Unreachable):
            return backoff.pause() if self.reached else None
        return backoff.pause() if isinstance(error, AnswerLost) and repeatable else None

    async def send(
        self, method: str, path: str, *, body: Any = None, query: Mapping[str, Any] | None = None,
        file: tuple[str, bytes, str] | None = None, wait: float = 0, idempotency_key: str | None = None,
        if_match: str | None = None,
    ) -> httpx.Response:  # fmt: skip
        """Sends a call until it succeeds, is refused, or patience ends. A POST keeps its idempotency key."""
        extra = {"if-match": if_match} if if_match else {}
        if method == "POST":
            extra["idempotency-key"] = idempotency_key or secrets.token_hex(16)
        params = {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in (query or {}).items()
            if value is not None
        }
        content = None
        if body is not None:
            content, extra["content-type"] = json.dumps(body, ensure_ascii=False).encode(), "application/json"
        deadline, backoff, renewed = time.monotonic() + self.patience, Backoff(), False
        while True:
            key = self.key
            try:
                request = self.client.build_request(
                    method, self.url + path, params=params, content=content, files={"file": file} if file else None,
                    headers={**self.headers(), **extra}, timeout=httpx.Timeout(ANSWER_SECONDS + wait, connect=10.0),
                )  # fmt: skip
                return await self.once(request)
            except TandemError as error:
                if isinstance(error, Refused) and error.code == "unauthorized" and not renewed and self.renew_key(key):
                    renewed = True
                    continue
                pause = self.pause_after(error, method in ("GET", "POST"), backoff)
                if pause is None or time.monotonic() + pause > deadline:
                    raise
                await asyncio.sleep(pause)

    async def once(self, request: httpx.Request) -> httpx.Response:
        try:
            response = await self.client.send(request)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as cause:
            raise Unreachable(f"cannot reach the hub at {self.url}: {cause}") from cause
        except httpx.TimeoutException as cause:
            raise TimedOut(f"the hub at {self.url} did not answer in time") from cause
        except httpx.TransportError as cause:
            raise AnswerLost(f"lost the connection to the hub at {self.url}: {cause}") from cause
        self.reached = True
        if not response.is_success:
            raise refusal(response.status_code, response.headers, response.content)
        return response

    async def content(self, method: str, path: str, **options: Any) -> bytes:
        return (await self.send(method, path, wait=840, **options)).content

    async def json(self, method: str, path: str, **options: Any) -> Any:
        return self.parse(await self.send(method, path, **options))

    async def page(self, method: str, path: str, **options: Any) -> Page[Any]:
        response = await self.send(method, path, **options)
        link, found = response.headers.get("link", ""), None
        if '>; rel="next"' in link:
            found = parse_qs(urlsplit(link.split(">")[0].lstrip("<")).query).get("cursor", [None])[0]
        if found is not None and found == (options.get("query") or {}).get("cursor"):
            raise NotAHub("the hub sends a list without an end")
        return Page(self.parse(response), found)

    def parse(self, response: httpx.Response) -> Any:
        try:
            return response.json()
        except ValueError as cause:
            raise NotAHub(f"it does not answer like a hub: {cause}") from cause


async def pages(read: Callable[..., Awaitable[Page[T]]], *path: str, **query: object) -> list[list[T]]:
    """All pages of a list."""
    found: list[list[T]] = []
    cursor: str | None = None
    for _ in range(PAGES_MAX):
        page = await read(*path, **query, cursor=cursor)
        found.append(page.items)
        if page.next is None:
            return found
        cursor = page.next
    raise NotAHub("the hub sends a list without an end")


async def each(read: Callable[..., Awaitable[Page[T]]], *path: str, **query: object) -> list[T]:
    """All items of a list."""
    return [item for items in await pages(read, *path, **query) for item in items]
