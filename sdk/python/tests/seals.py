"""Seals what it is asked to, one JSON request per line, for Rust to open: `python -m tests.seals` with the vectors' keys."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tandem_hub._seal import PrivateKey, seal

VECTORS = Path(__file__).parents[2] / "vectors"


def main() -> None:
    keys = json.loads((VECTORS / "keys.json").read_text(encoding="utf-8"))
    private = {name: PrivateKey(keys[name]["private"]) for name in ("ana", "bob")}
    recipients = {f"agent_{name}": key.public for name, key in private.items()}
    for line in sys.stdin:
        asked = json.loads(line)
        text = json.dumps(asked["value"], ensure_ascii=False, separators=(",", ":")).encode()
        print(json.dumps(seal(asked["taskId"], private[asked["sender"]], recipients, text)))


if __name__ == "__main__":
    main()
