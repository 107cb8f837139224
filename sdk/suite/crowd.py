"""Very many events: a network of all agents, and broadcasts by a few plain connections, while the agents' own break."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from run import Suite

SENDERS, CUTS = 16, 4
TRANSPORTS = ("ws", "sse", "poll")


class Plain:
    """One connection to the hub, without any package."""

    def __init__(self, port: int, key: str = "") -> None:
        self.port, self.key = port, key

    async def post(self, path: str, body: Any) -> Any:
        if not hasattr(self, "reader"):
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        data = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {self.key}\r\n"
        head += f"content-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n"
        self.writer.write(head.encode() + data)
        answer = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(answer.split("content-length: ")[1].split("\r\n")[0])
        found = json.loads(await self.reader.readexactly(length))
        assert answer.split(" ")[1] in ("200", "201"), found
        return found


async def many_events(suite: Suite, count: int) -> None:
    """Every agent gets so many events on each transport, in order, without a gap or a double, while connections are cut."""
    port = suite.relay.target
    assert port
    owner = Plain(port)
    owner.key = (await owner.post("/agents", {"name": "Crowd"}))["apiKey"]
    network = (await owner.post("/networks", {"name": "Crowd"}))["id"]
    code = (await owner.post(f"/networks/{network}/invites", {"maxUses": len(suite.agents)}))["code"]
    for one in suite.agents:
        await one.call("networks_join", body={"code": code})
        end = (await one.call("events_read", after=2**53))["cursor"]
        for transport in TRANSPORTS:
            await one.do("follow", stream=f"many {transport}", after=end, transport=transport)
    left = iter(range(count))
    cuts = {count * cut // (CUTS + 1) for cut in range(1, CUTS + 1)}

    async def send() -> None:
        sender = Plain(port, owner.key)
        for number in left:
            if number in cuts:
                suite.relay.cut()
            await sender.post(f"/networks/{network}/broadcast", {"content": str(number)})

    await asyncio.gather(*[send() for _ in range(SENDERS)])
    for one in suite.agents:
        for transport in TRANSPORTS:
            found = await one.do("summary", stream=f"many {transport}", count=count, timeout=100)
            wanted = {"count": count, "gaps": 0, "doubles": 0}
            assert {name: found[name] for name in wanted} == wanted, (one.language, transport, found)
            assert found["last"] - found["first"] == count - 1, found
            await one.do("unfollow", stream=f"many {transport}")
