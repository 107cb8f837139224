#!/usr/bin/env python3
"""Runs the behaviour suite: every scenario against a real hub, with an agent for each language.

    run.py --tandem target/debug/tandem --drivers "python=python sdk/python/tests/driver.py,rust=target/debug/examples/driver"

With --database and --second-database (both empty) the hub is on PostgreSQL. It needs nothing but Python."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import scenarios
from crowd import many_events
from drivers import Driver
from hub import Hub
from relay import Relay

# Far more than any scenario takes on a machine with other work.
SCENARIO_SECONDS = 300


class Suite:
    """The hub, the network and the agents that all scenarios use."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder, self.relay = options, folder, Relay()
        self.commands = dict(one.split("=", 1) for one in options.drivers.split(","))
        self.hub = Hub(options.tandem, folder / "data", options.database)
        self.agents: list[Driver] = []
        self.fingerprints: dict[str, str] = {}
        self.archive = folder / "hub.tar"
        self.count = 0

    async def start(self) -> None:
        self.relay.target = await self.hub.start()

    async def kill(self) -> None:
        self.relay.target = None
        await self.hub.end()
        self.relay.cut()

    async def backup(self) -> None:
        await self.hub.backup(self.archive)

    async def restore(self) -> None:
        await self.kill()
        self.hub = Hub(self.options.tandem, self.folder / "restored", self.options.second_database)
        await self.hub.restore(self.archive)
        await self.start()

    async def driver(self, language: str, home: Path) -> Driver:
        return await Driver(language, self.commands[language], home, self.options.tandem).start()

    async def fresh(self, language: str) -> Driver:
        """A driver without an agent."""
        self.count += 1
        return await self.driver(language, self.folder / f"home-{self.count}")

    async def twin(self, of: Driver, language: str) -> Driver:
        """Another program of the same agent."""
        twin = await self.driver(language, of.home)
        twin.id = (await twin.do("open", profile="agent"))["agentId"]
        return twin

    async def again(self, driver: Driver) -> None:
        """Starts a driver that was killed."""
        await driver.start()
        await driver.do("open", profile="agent")

    async def agent(self, language: str) -> Driver:
        driver = await self.fresh(language)
        made = await driver.do(
            "register", url=self.relay.url, name=f"Agent of {driver.home.name} in {language}", profile="agent", encrypted=True
        )
        driver.id, self.fingerprints[made["agentId"]] = made["agentId"], made["fingerprint"]
        return driver

    async def set_up(self) -> None:
        await self.relay.start()
        await self.start()
        languages = list(self.commands)
        # There are three agents, however few the languages are.
        wanted = (languages * 3)[: max(3, len(languages))]
        self.agents = await asyncio.gather(*[self.agent(language) for language in wanted])
        for at, one in enumerate(self.agents):
            for other in self.agents[at + 1 :]:
                code = (await one.do("pair"))["code"]
                assert (await other.do("pair", code=code.lower().replace("-", " ")))["agentId"] == one.id

    async def tear_down(self) -> None:
        await asyncio.gather(*[one.end() for one in self.agents])
        await self.hub.end()

    def pairs(self) -> Iterator[tuple[Driver, Driver]]:
        for ada in self.agents:
            for bob in self.agents:
                if ada is not bob:
                    yield ada, bob

    async def clean(self) -> None:
        """Ends all tasks, so that no worker of a later scenario finds them."""
        for one in self.agents:
            for status in ("submitted", "working", "input-required"):
                for task in await one.call("tasks_list", role="initiator", status=status):
                    await one.call("tasks_cancel", task["id"], body={})

    async def connected(self, who: Driver, stream: str) -> None:
        async def is_so() -> bool:
            return "connected" in (await who.do("read", stream=stream, count=0, timeout=0))["notices"]

        await scenarios.until(f"{stream} of {who.language} is connected", is_so)

    @contextlib.contextmanager
    def changing(self, line: str, change: Callable[[Any], Any]) -> Iterator[None]:
        self.relay.changed = (re.compile(line), change)
        try:
            yield
        finally:
            self.relay.changed = None

    def replace(self, path: Path, content: Any) -> None:
        draft = path.with_suffix(".draft")
        draft.touch(0o600)
        draft.write_text(json.dumps(content))
        os.replace(draft, path)

    async def tandem(self, home: Path, *words: str) -> str:
        """Runs the command line as the user of a driver."""
        environment = {"XDG_CONFIG_HOME": str(home / "config"), "XDG_STATE_HOME": str(home / "state")}
        process = await asyncio.create_subprocess_exec(
            self.options.tandem, *words, stdout=-1, env={**os.environ, **environment}
        )
        shown, _ = await process.communicate()
        assert process.returncode == 0, words
        return shown.decode()


def is_wanted(scenario: Callable[..., Any], ada: Driver, bob: Driver, at: int, count: int) -> bool:
    """Which pairs a scenario needs: encryption all of them, the others each agent once on either side."""
    if scenario in (scenarios.encryption, scenarios.files):
        return True
    if scenario in (scenarios.worker, scenarios.worker_outages):
        return "worker" in bob.can
    # The pairs are in the order of their agents: of each agent the next one, round about.
    return at in {first * (count - 1) + (first if first < count - 1 else 0) for first in range(count)}


async def one(suite: Suite, name: str, work: Any) -> bool:
    begun = time.monotonic()
    try:
        await asyncio.wait_for(work, SCENARIO_SECONDS)
        await suite.clean()
    except Exception:
        print(f"FAILED  {name}\n{traceback.format_exc()}", flush=True)
        return False
    finally:
        suite.relay.lost.clear()
        suite.relay.refused.clear()
    print(f"ok      {name}  {time.monotonic() - begun:.1f} s", flush=True)
    return True


async def run(options: argparse.Namespace, folder: Path) -> int:
    suite = Suite(options, folder)
    await suite.set_up()
    failures = 0
    try:
        pairs, count = list(suite.pairs()), len(suite.agents)
        for scenario in scenarios.PAIRED:
            if options.only and options.only != scenario.__name__:
                continue
            for at, (ada, bob) in enumerate(pairs):
                if is_wanted(scenario, ada, bob, at, count):
                    name = f"{scenario.__name__} {ada.language} to {bob.language}"
                    failures += not await one(suite, name, scenario(suite, ada, bob))
        if options.only in (None, "webhooks"):
            for ada in suite.agents:
                failures += not await one(suite, f"webhooks {ada.language}", scenarios.webhooks(suite, ada, ada))
        if options.only in (None, "events"):
            failures += not await one(suite, f"events {options.events}", many_events(suite, options.events))
        if options.only in (None, "restored"):
            failures += not await one(suite, "restored", scenarios.restored(suite))
    finally:
        await suite.tear_down()
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tandem", required=True)
    parser.add_argument("--drivers", required=True, help="language=command, separated by commas")
    parser.add_argument("--database", help="an empty PostgreSQL database; without it, SQLite")
    parser.add_argument("--second-database", help="another one, for the restored hub")
    parser.add_argument("--only", help="one scenario")
    parser.add_argument("--events", type=int, default=20_000)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="tandem-suite-"))
    try:
        return min(asyncio.run(run(options, folder)), 1)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
