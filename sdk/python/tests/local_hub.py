"""A hub of its own for a test, and a home for profiles: the program `tandem` is named by TANDEM_BIN."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator


@contextlib.contextmanager
def local_hub() -> Iterator[str]:
    """The address of a hub that ends with the block. Profiles are in a folder of its own meanwhile."""
    with tempfile.TemporaryDirectory(prefix="tandem-python-") as folder:
        os.environ["XDG_CONFIG_HOME"], os.environ["XDG_STATE_HOME"] = f"{folder}/config", f"{folder}/state"
        command = [os.environ["TANDEM_BIN"], "serve", "--listen", "127.0.0.1:0", "--data", f"{folder}/data"]
        limits = ["--set", "rate_limit_register_max=0", "--set", "webhook_allow_http=1", "--set", "webhook_allow_private=1"]
        with subprocess.Popen([*command, *limits], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as hub:
            address = ""
            try:
                assert hub.stdout
                for line in hub.stdout:
                    if line.startswith("Listening "):
                        address = line.split()[1]
                    if line.startswith("Ctrl-C"):
                        yield address
                        break
            finally:
                hub.terminate()
