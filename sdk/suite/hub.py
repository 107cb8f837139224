"""A hub as a process: started, killed, backed up and restored. It knows nothing of agents."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

LIMITS = ("rate_limit_max", "rate_limit_register_max", "max_messages_per_minute", "pair_attempts_max")


class Hub:
    """One hub with its data folder, and maybe its database."""

    def __init__(self, tandem: str, data: Path, database: str | None) -> None:
        self.tandem, self.data, self.database = tandem, data, database
        self.process: asyncio.subprocess.Process | None = None
        self.log = data.with_suffix(".log")

    def command(self, *words: str) -> list[str]:
        database = ["--database", self.database] if self.database else []
        return [self.tandem, *words, "--data", str(self.data), *database]

    async def start(self) -> int:
        """Starts it, and returns its port."""
        limits = [word for name in LIMITS for word in ("--set", f"{name}=0")]
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        serve = self.command("serve", "--listen", "127.0.0.1:0")
        self.process = await asyncio.create_subprocess_exec(*serve, *limits, stdout=asyncio.subprocess.PIPE, stderr=log)
        os.close(log)
        assert self.process.stdout
        port = 0
        while line := (await self.process.stdout.readline()).decode():
            if line.startswith("Listening "):
                port = int(line.strip().rsplit(":", 1)[1])
            if line.startswith("Ctrl-C"):
                return port
        raise AssertionError(f"the hub did not start: {self.log.read_text()[-2000:]}")

    async def end(self, how: signal.Signals = signal.SIGKILL) -> None:
        if self.process and self.process.returncode is None:
            self.process.send_signal(how)
            await self.process.wait()

    async def run(self, *words: str) -> None:
        process = await asyncio.create_subprocess_exec(*self.command(*words), stdout=-3, stderr=asyncio.subprocess.PIPE)
        _, error = await process.communicate()
        assert process.returncode == 0, f"{words}: {error.decode()}"

    async def backup(self, file: Path) -> None:
        await self.run("backup", str(file))

    async def restore(self, file: Path) -> None:
        await self.run("restore", str(file))
