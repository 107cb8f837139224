"""Runs the blocks of a page in their order, as a reader would: a Python block is a file whose name is in its first line, and a
shell block says what to run. `python -m tests.page ../../docs/python.md`"""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import tomllib

from .local_hub import local_hub

SECONDS = 60
PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


class Page:
    """The files of a page, and the programs that run in the background."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.files, self.ran = folder, set[str](), set[str]()
        self.background: list[subprocess.Popen[bytes]] = []

    def block(self, language: str, text: str) -> None:
        if language == "python":
            name = text.split("\n", 1)[0].removeprefix("# ")
            assert name.endswith(".py"), f"the first line of a block is its file name: {name}"
            (self.folder / name).write_text(text, encoding="utf-8")
            self.files.add(name)
            return
        assert language == "sh", f"nobody runs {language}"
        for line in text.strip().splitlines():
            self.run(shlex.split(line))

    def run(self, words: list[str]) -> None:
        if words[:2] == ["pip", "install"]:
            name, _, extra = words[2].rstrip("]").partition("[")
            project = tomllib.loads(PYPROJECT.read_text())["project"]
            assert name == project["name"] and extra in project["optional-dependencies"], words
        elif words == ["tandem", "serve"]:
            pass  # It runs already, on a port of its own.
        elif words[0] == "python" and words[-1] == "&":
            self.ran.add(words[1])
            self.background.append(subprocess.Popen([sys.executable, words[1]], cwd=self.folder))
        else:
            assert words[0] == "python" and len(words) == 2, words
            self.ran.add(words[1])
            subprocess.run([sys.executable, words[1]], cwd=self.folder, check=True, timeout=SECONDS)

    def end(self) -> None:
        for process in self.background:
            assert process.poll() is None, "a program has ended by itself"
            process.terminate()
            assert process.wait(SECONDS) in (0, -15), process.returncode


def main() -> None:
    page = Path(sys.argv[1]).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page, re.M | re.S)
    assert blocks
    port = free_port()
    os.environ["PYTHONPATH"] = os.path.abspath(os.environ.get("PYTHONPATH", "src"))
    with tempfile.TemporaryDirectory(prefix="tandem-page-") as folder, local_hub() as url:
        run = Page(Path(folder))
        for language, text in blocks:
            run.block(language, text.replace("http://127.0.0.1:3000", url).replace("8123", str(port)))
        run.end()
        assert run.files == run.ran, f"not run: {run.files - run.ran}"


if __name__ == "__main__":
    main()
