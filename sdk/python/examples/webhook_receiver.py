"""A webhook receiver with FastAPI that reads each new task when it is told of it.

    WEBHOOK_SECRET=whsec_… uvicorn webhook_receiver:app --port 8000

Set the same secret with `tandem webhook set`. Needs: pip install fastapi uvicorn"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, HTTPException, Request

from tandem_hub import InvalidWebhook, Tandem, verify

SEEN_MAX = 10_000
seen: dict[str, None] = {}
titles: list[str] = []


@asynccontextmanager
async def opened(app: FastAPI) -> AsyncIterator[None]:
    async with Tandem.from_profile(os.environ.get("TANDEM_AGENT")) as hub:
        app.state.hub = hub
        yield


app = FastAPI(lifespan=opened)


@app.post("/hook")
async def hook(request: Request) -> dict[str, bool]:
    try:
        sent = verify(request.headers, await request.body(), os.environ["WEBHOOK_SECRET"])
    except InvalidWebhook as error:
        raise HTTPException(401, str(error)) from error
    delivery = request.headers["webhook-id"]
    # The hub sends again what was not answered in time; the id stays the same.
    if delivery not in seen and sent["event"] == "task.created":
        task = await app.state.hub.task(sent["data"]["taskId"])
        titles.append(task.title)
        print(f"new task: {task.title}", flush=True)
    seen[delivery] = None
    if len(seen) > SEEN_MAX:
        del seen[next(iter(seen))]
    return {"ok": True}
