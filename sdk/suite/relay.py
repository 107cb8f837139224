"""The network between the agents and the hub: it keeps its address when the hub changes, and loses, refuses or changes what it
is told to. It looks at the beginnings of requests, and reads answers as a whole only where it changes them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any


def refusal(status: int, code: str, seconds: int) -> bytes:
    body = json.dumps({"error": "not now", "code": code}).encode()
    head = f"HTTP/1.1 {status} Not Now\r\nretry-after: {seconds}\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Relay:
    """One address for a hub that may move."""

    def __init__(self) -> None:
        self.target: int | None = None
        self.port = 0
        self.connections: set[asyncio.StreamWriter] = set()
        # Requests whose first line matches: their next answer is lost.
        self.lost: list[re.Pattern[str]] = []
        # The same, answered in the hub's place: pattern, answer.
        self.refused: list[tuple[re.Pattern[str], bytes]] = []
        # While it is there, answers to such requests are changed.
        self.changed: tuple[re.Pattern[str], Callable[[Any], Any]] | None = None
        self.server: asyncio.Server | None = None
        self.seen: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        self.server = await asyncio.start_server(self.carry, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]

    def lose_answer(self, line: str) -> None:
        self.lost.append(re.compile(line))

    def refuse(self, line: str, status: int, code: str, times: int, seconds: int = 1) -> None:
        self.refused += [(re.compile(line), refusal(status, code, seconds))] * times

    def cut(self) -> None:
        """Ends all connections."""
        for writer in list(self.connections):
            writer.transport.abort()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.add(writer)
        upstream = None
        try:
            if self.target is None:
                return
            hub_reader, upstream = await asyncio.open_connection("127.0.0.1", self.target)
            self.connections.add(upstream)
            state = {"lose": False, "change": False}
            both = [
                asyncio.ensure_future(self.up(reader, writer, upstream, state)),
                asyncio.ensure_future(self.down(hub_reader, writer, state)),
            ]
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            for one in both:
                one.cancel()
            await asyncio.gather(*both, return_exceptions=True)
        except OSError:
            pass
        finally:
            for one in (writer, upstream):
                if one:
                    self.connections.discard(one)
                    one.close()

    async def up(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, hub: asyncio.StreamWriter, state: dict[str, bool]
    ) -> None:
        while data := await reader.read(65536):
            line = data.split(b"\r\n", 1)[0].decode("latin-1")
            if line.endswith("HTTP/1.1"):
                self.seen.append(line)
                refused = next((one for one in self.refused if one[0].search(line)), None)
                if refused:
                    self.refused.remove(refused)
                    writer.write(refused[1])
                    await writer.drain()
                    # The rest of the request is still to come; the client closes when it has read the answer.
                    writer.write_eof()
                    while await asyncio.wait_for(reader.read(65536), 5):
                        pass
                    return
                lost = next((one for one in self.lost if one.search(line)), None)
                if lost:
                    self.lost.remove(lost)
                    state["lose"] = True
                state["change"] = bool(self.changed and self.changed[0].search(line))
            hub.write(data)
            await hub.drain()

    async def down(self, hub: asyncio.StreamReader, writer: asyncio.StreamWriter, state: dict[str, bool]) -> None:
        while data := await hub.read(65536):
            if state["lose"]:
                writer.transport.abort()
                return
            if state["change"] and self.changed:
                data = await self.change(data, hub)
            writer.write(data)
            await writer.drain()

    async def change(self, data: bytes, hub: asyncio.StreamReader) -> bytes:
        while b"\r\n\r\n" not in data:
            data += await hub.read(65536)
        head, body = data.split(b"\r\n\r\n", 1)
        found = re.search(rb"content-length: (\d+)", head, re.I)
        assert found and self.changed, head
        while len(body) < int(found[1]):
            body += await hub.read(65536)
        new = json.dumps(self.changed[1](json.loads(body))).encode()
        head = head.replace(found[0], b"content-length: " + str(len(new)).encode())
        return head + b"\r\n\r\n" + new
