"""Tries the installed package: two agents, an encrypted task, a worker. Run in an environment that has only the built wheel."""

from __future__ import annotations

import asyncio
import importlib
import importlib.metadata
import importlib.resources
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


import tandem_hub
from tandem_hub import Tandem, Task, Worker


async def try_it(url: str) -> None:
    ada = await Tandem.register(url, "Ada", profile="ada")
    bob = await Tandem.register(url, "Bob", profile="bob")
    async with ada, bob:
        await bob.connect((await ada.pair())["code"])

        async def work(task: Task) -> str:
            return f"read: {task.description}"

        worker = Worker(bob, work, accept_from=["ada"])
        working = asyncio.ensure_future(worker.serve())
        task = await ada.send("bob", "Installed", "from the wheel", encrypt=True)
        assert (await task.result(30)).text == "read: from the wheel"
        worker.stop()
        await working


def main() -> None:
    assert "site-packages" in str(tandem_hub.__file__), tandem_hub.__file__
    found = importlib.metadata.metadata("tandem-hub")
    assert found["License-Expression"] == "MIT OR Apache-2.0" and "# tandem-hub" in str(found.json["description"])
    assert importlib.resources.files("tandem_hub").joinpath("py.typed").is_file()
    assert {path.name for path in importlib.metadata.files("tandem-hub") or []} >= {"LICENSE-MIT", "LICENSE-APACHE"}
    # It is beside this file, not in a package.
    with importlib.import_module("local_hub").local_hub() as url:
        asyncio.run(try_it(url))


if __name__ == "__main__":
    main()
