"""The examples work: a worker that asks a model, here a local stand-in, and a webhook receiver."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from tandem_hub import Tandem

from .local_hub import local_hub

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))


class Model(BaseHTTPRequestHandler):
    """Answers with the last message in capital letters."""

    asked: list[Any] = []  # noqa: RUF012

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked.append(body["messages"])
        text = json.dumps({"choices": [{"message": {"content": body["messages"][-1]["content"].upper()}}]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        pass


async def pair(url: str) -> tuple[Tandem, Tandem]:
    ada, bob = [await Tandem.register(url, name, profile=name.lower(), encrypted=False) for name in ("Ada", "Bob")]
    await bob.connect((await ada.pair())["code"])
    return ada, bob


class Examples(unittest.TestCase):
    """Each with a hub of its own."""

    def test_the_worker_asks_the_model(self) -> None:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
        Thread(target=server.serve_forever, daemon=True).start()
        os.environ["MODEL_URL"] = f"http://127.0.0.1:{server.server_port}/v1"
        import model_worker

        async def run(url: str) -> None:
            ada, bob = await pair(url)
            async with ada, bob:
                worker = model_worker.worker("bob", ["ada"])
                working = asyncio.ensure_future(worker.serve())
                task = await ada.send("bob", "Translate", "guten Tag")
                self.assertIn("GUTEN TAG", (await task.result(30)).text)
                worker.stop()
                await working

        with local_hub() as url:
            asyncio.run(run(url))
        server.shutdown()
        server.server_close()
        self.assertEqual([message["role"] for message in Model.asked[0]], ["system", "user"])

    def test_the_receiver_takes_what_the_hub_has_signed(self) -> None:
        import uvicorn

        os.environ.update(WEBHOOK_SECRET="a secret of the tests", TANDEM_AGENT="bob")
        import webhook_receiver

        async def run(url: str) -> None:
            ada, bob = await pair(url)
            server = uvicorn.Server(uvicorn.Config(webhook_receiver.app, port=0, log_level="error"))
            serving = asyncio.ensure_future(server.serve())
            while not server.started:
                await asyncio.sleep(0.01)
            port = server.servers[0].sockets[0].getsockname()[1]
            async with ada, bob:
                hook, secret = f"http://127.0.0.1:{port}/hook", os.environ["WEBHOOK_SECRET"]
                await bob.calls.agents_change({"webhookUrl": hook, "webhookSecret": secret})
                await ada.send("bob", "By webhook")
                while not webhook_receiver.titles:
                    await asyncio.sleep(0.01)
            server.should_exit = True
            await serving

        with local_hub() as url:
            asyncio.run(asyncio.wait_for(run(url), 60))
        self.assertEqual(webhook_receiver.titles, ["By webhook"])
