"""PyPI's `mcp` as a client, in the era with sessions (MODE=legacy) or without (MODE=auto). Told what to do by lines
of JSON on its standard input ({"list":true} or {"call":NAME,"arguments":{}}), it answers with a line each."""

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


def say(line) -> None:
    print(json.dumps(line), flush=True)


async def main() -> None:
    sessions = []

    async def note(response: httpx2.Response) -> None:
        if session := response.headers.get("mcp-session-id"):
            sessions.append(session)

    headers = {"Authorization": f"Bearer {os.environ['KEY']}"}
    http = httpx2.AsyncClient(headers=headers, timeout=60, event_hooks={"response": [note]})
    transport = streamable_http_client(os.environ["URL"], http_client=http)
    async with http, Client(transport, mode=os.environ["MODE"]) as client:
        say({"connected": client.protocol_version, "session": sessions[0] if sessions else None})
        while line := await asyncio.to_thread(sys.stdin.readline):
            order = json.loads(line)
            if order.get("list"):
                say([tool.name for tool in (await client.list_tools()).tools])
            else:
                result = await client.call_tool(order["call"], order["arguments"])
                say(result.model_dump(mode="json", by_alias=True))


asyncio.run(main())
