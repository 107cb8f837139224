"""A driver: one agent, played by the package of one language in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

ANSWER_SECONDS = 120.0
DOCUMENT = Path(__file__).parents[2] / "docs/openapi.json"


def routes() -> dict[str, tuple[str, str]]:
    """Method and path of every operation: a driver may take those, or a typed call of its package."""
    paths = json.loads(DOCUMENT.read_text(encoding="utf-8"))["paths"]
    return {one["operationId"]: (verb.upper(), path) for path, verbs in paths.items() for verb, one in verbs.items()}


ROUTES = routes()


def called(operation: str, path: list[str], query: dict[str, Any], body: Any) -> dict[str, Any]:
    """The fields of the command `call`."""
    method, route = ROUTES[operation]
    for part in path:
        route = re.sub(r"\{\w+\}", lambda _, part=part: quote(part, safe=""), route, count=1)  # type: ignore[misc]
    route += f"?{urlencode(query)}" if query else ""
    typed = {"operation": operation, "path": path, "query": query, "body": body}
    return {**typed, "method": method, "route": route}


class Failed(Exception):
    """A command that the driver answered with an error."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(json.dumps(error))
        self.kind, self.code = error["kind"], error.get("code")


class Driver:
    """Sends commands and matches the answers."""

    def __init__(self, language: str, command: str, home: Path, tandem: str) -> None:
        self.language, self.command, self.home, self.tandem = language, command, home, tandem
        self.id = ""
        self.can: list[str] = []
        self.waiting: dict[int, asyncio.Future[Any]] = {}
        self.number = 0

    async def start(self) -> Driver:
        environment = {"XDG_CONFIG_HOME": str(self.home / "config"), "XDG_STATE_HOME": str(self.home / "state")}
        # The driver of Rust makes profiles by the command line.
        environment["TANDEM_BIN"] = self.tandem
        self.process = await asyncio.create_subprocess_exec(
            *shlex.split(self.command), stdin=-1, stdout=-1, env={**os.environ, **environment}, limit=64 * 1024 * 1024
        )
        greeting = asyncio.get_running_loop().create_future()
        self.waiting[0] = greeting
        self.reading = asyncio.ensure_future(self.read())
        self.can = (await asyncio.wait_for(greeting, ANSWER_SECONDS))["can"]
        return self

    async def read(self) -> None:
        assert self.process.stdout
        while line := await self.process.stdout.readline():
            answer = json.loads(line)
            waiting = self.waiting.pop(answer["id"])
            if waiting.done():
                continue
            if "ok" in answer:
                waiting.set_result(answer["ok"])
            else:
                waiting.set_exception(Failed(answer["error"]))
        for waiting in self.waiting.values():
            if not waiting.done():
                waiting.set_exception(Failed({"kind": "ended", "message": f"the driver of {self.language} has ended"}))

    def begin(self, do: str, **fields: Any) -> asyncio.Future[Any]:
        """Sends a command; its answer comes later."""
        self.number += 1
        answer = asyncio.get_running_loop().create_future()
        self.waiting[self.number] = answer
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"id": self.number, "do": do, **fields}).encode() + b"\n")
        return answer

    async def do(self, do: str, **fields: Any) -> Any:
        try:
            return await asyncio.wait_for(self.begin(do, **fields), ANSWER_SECONDS)
        except asyncio.TimeoutError:
            raise AssertionError(f"{self.language}: no answer to {do} {fields}") from None

    async def call(self, operation: str, *path: str, body: Any = None, **query: Any) -> Any:
        return await self.do("call", **called(operation, list(path), query, body))

    async def fails(self, kind: str, code: str | None, do: str, **fields: Any) -> None:
        try:
            done = await self.do(do, **fields)
        except Failed as error:
            assert (error.kind, error.code) == (kind, code) or (code is None and error.kind == kind), error
            return
        raise AssertionError(f"{self.language}: {do} {fields} was done: {done}")

    async def kill(self) -> None:
        self.process.kill()
        await self.process.wait()
        await self.reading

    async def end(self) -> None:
        if self.process.returncode is None:
            assert self.process.stdin
            self.process.stdin.close()
            try:
                await asyncio.wait_for(self.process.wait(), 10)
            except asyncio.TimeoutError:
                await self.kill()
        await self.reading
