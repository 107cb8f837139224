"""What is remembered of other agents: their keys as first seen, the encrypted tasks with their other party, and what was read.
The files are those of the command line."""

from __future__ import annotations

import copy
import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ._files import locked, make_private, read_secret, replace
from ._names import folded, line
from ._seal import PublicKey, SealError
from .errors import ProfileError, TrustCode, Untrusted

T = TypeVar("T")
NAMES_MAX, AGENTS_MAX, TASKS_MAX, UNSIGNED_MAX, CONTENTS_MAX, SLACK = 16, 10_000, 10_000, 1_000, 16_384, 1_000
FILE_BYTES_MAX = 64 * 1024 * 1024


class PeerKey(NamedTuple):
    """A key as the hub presents it, not compared with any pin."""

    agent: str
    name: str
    alias: str | None
    key: PublicKey

    def names(self) -> list[str]:
        return list(dict.fromkeys(folded(name) for name in (line(self.name), line(self.alias or "")) if name))


def is_called(agent: str, pin: dict[str, Any], name: str) -> bool:
    return any(folded(known) == name for known in (agent, pin["name"], *pin["names"]))


class Pins:
    """The pinned keys and known tasks, in a file or in memory."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._version: tuple[int, int, int] | None = None
        self._known: dict[str, Any] = {"agents": {}, "tasks": []}

    def known(self) -> dict[str, Any]:
        if self.path:
            version = self._version_now()
            if version and version != self._version:
                self._known, self._version = self._read(), version
        return self._known

    def _version_now(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self.path) if self.path else None
        except FileNotFoundError:
            found = None
        return (found.st_ino, found.st_mtime_ns, found.st_size) if found else None

    def _read(self) -> dict[str, Any]:
        """A file that cannot be read is an error: an empty one would trust every key again."""
        try:
            text = read_secret(self.path, FILE_BYTES_MAX) if self.path else None
            known = {"tasks": [], **json.loads(text)} if text is not None else {"agents": {}, "tasks": []}
            if set(known) != {"agents", "tasks"}:
                raise ValueError("unknown fields")
            for pin in known["agents"].values():
                pin.setdefault("names", [])
            return known
        except (ValueError, TypeError, AttributeError, ProfileError) as cause:
            raise Untrusted("pins", f"the pinned keys in {self.path} cannot be used: {cause}") from cause

    def change(self, change: Callable[[dict[str, Any]], T]) -> T:
        if not self.path:
            return change(self._known)
        with locked(self.path.with_name(self.path.name + ".lock")):
            if self._version and not self.path.exists():
                # Without it every key would be the first one.
                raise Untrusted("pins", f"the pinned keys in {self.path} were there and are gone")
            before = self._read()
            after = copy.deepcopy(before)
            done = change(after)
            if after != before:
                text = json.dumps(after, indent=2, ensure_ascii=False)
                if len(text.encode()) >= FILE_BYTES_MAX:
                    raise Untrusted("too_many_pins", "the file of the pins would be too long to be read again")
                replace(self.path, text)
            self._known, self._version = after, self._version_now()
        return done

    def key_of(self, agent: str, pin: dict[str, Any]) -> PublicKey:
        try:
            key = PublicKey(pin["publicKey"])
        except SealError:
            key = None
        if key is None or key.fingerprint != pin["fingerprint"]:
            raise Untrusted("pins", f"the pinned key of {agent} is damaged")
        return key

    def get(self, agent: str) -> PublicKey | None:
        pin = self.known()["agents"].get(agent)
        return self.key_of(agent, pin) if pin else None

    def called(self, name: str) -> list[str]:
        """The agents that are pinned under a name."""
        return [agent for agent, pin in self.known()["agents"].items() if is_called(agent, pin, folded(name))]

    def name(self, agent: str) -> str | None:
        """The name under which an agent was pinned, if it is its alone."""
        pin = self.known()["agents"].get(agent)
        name = line(pin["name"]) if pin else ""
        return name if name and self.called(name) == [agent] else None

    def check(self, found: PeerKey) -> None:
        """Compares a key with the pinned one, and pins the first one of an agent."""

        def pin_or_refuse(known: dict[str, Any]) -> None:
            names, pin = found.names(), known["agents"].get(found.agent)
            if pin:
                pinned = self.key_of(found.agent, pin)
                if pinned != found.key:
                    raise Untrusted("key_changed", changed(found, pinned))
                names = [name for name in names if not is_called(found.agent, pin, name)]
            for other, one in known["agents"].items():
                if other != found.agent and any(is_called(other, one, name) for name in names):
                    message = f"{found.agent} has the name or alias of {other}, whose key is pinned"
                    raise Untrusted("another_agent", f"{message}; compare the fingerprints before you accept it")
            if not pin and len(known["agents"]) >= AGENTS_MAX:
                raise Untrusted("too_many_pins", "the keys of very many agents are pinned already")
            if pin:
                pin["names"] += names[: max(0, NAMES_MAX - len(pin["names"]))]
            else:
                known["agents"][found.agent] = new_pin(found)

        self.change(pin_or_refuse)

    def check_named(self, named: str, agent: str) -> None:
        """Refuses another agent under the name or alias of a pinned one."""
        called = self.called(named)
        if called and called != [agent]:
            code: TrustCode = "same_name" if agent in called else "another_agent"
            raise Untrusted(code, f"{line(named)!r} means {' or '.join(called)}, and the hub says {agent}")

    def accept(self, found: PeerKey, named: str | None = None) -> None:
        """Pins a key in place of any other: only for a person who has compared the fingerprints."""

        def pin(known: dict[str, Any]) -> None:
            agents, pin = known["agents"], new_pin(found)
            for other, one in agents.items():
                if named and other != found.agent:
                    one["names"] = [name for name in one["names"] if folded(name) != folded(named)]
                    one["name"] = other if folded(one["name"]) == folded(named) else one["name"]
            old = agents.get(found.agent, {"name": "", "names": []})
            earlier = [folded(name) for name in (old["name"], *old["names"]) if name]
            new = [name for name in earlier if not is_called(found.agent, pin, name)]
            agents[found.agent] = {**pin, "names": pin["names"] + new[:NAMES_MAX]}
            if old.get("chosen"):
                agents[found.agent]["chosen"] = True

        self.change(pin)

    def task(self, task: str) -> tuple[bool, str | None]:
        """Whether a task is known as encrypted, and its other party."""
        found = next((peer for known, peer in reversed(self.known()["tasks"]) if known == task), "")
        return found != "", found or None

    def choose(self, task: str, peer: str) -> None:
        """Notes that the owner sends an encrypted task to an agent, and with whom it is."""
        self.remember(task, peer)
        if not self.known()["agents"].get(peer, {"chosen": True}).get("chosen"):
            self.change(lambda known: known["agents"][peer].update(chosen=True))

    def remember(self, task: str, peer: str | None) -> None:
        is_known, known_peer = self.task(task)
        if is_known and peer in (None, known_peer):
            return

        def add(known: dict[str, Any]) -> None:
            entry = next((one for one in reversed(known["tasks"]) if one[0] == task), None)
            if entry is None:
                known["tasks"].append([task, peer])
            elif peer and entry[1] and entry[1] != peer:
                raise other_party(task, entry[1], peer)
            elif peer:
                entry[1] = peer
            forget(known["tasks"], known["agents"])

        self.change(add)


def forget(tasks: list[list[str | None]], agents: dict[str, Any]) -> None:
    """Removes the oldest of the agent with the most, if there are too many; of one to which the owner has sent a task only if
    there is no other. The unsigned ones have room of their own."""
    counts = Counter(peer for _, peer in tasks)
    unsigned = counts.pop(None, 0)
    if unsigned > UNSIGNED_MAX:
        tasks.remove(next(one for one in tasks if one[1] is None))
    elif len(tasks) - unsigned > TASKS_MAX:
        most = max(counts, key=lambda peer: (not agents.get(str(peer), {}).get("chosen"), counts[peer]))
        tasks.remove(next(one for one in tasks if one[1] == most))


def new_pin(found: PeerKey) -> dict[str, Any]:
    own = {"name": line(found.name), "names": found.names()}
    return {**own, "fingerprint": found.key.fingerprint, "publicKey": found.key.pem}


def changed(found: PeerKey, pinned: PublicKey) -> str:
    head = f"the public key of {line(found.name)} ({found.agent}) has changed; it may belong to someone else"
    return f"{head}\n  pinned: {pinned.words}\n  now:    {found.key.words}\nCompare the words before you accept it"


def other_party(task: str, known: str, found: str) -> Untrusted:
    return Untrusted("other_party", f"{task} is an encrypted task with {known}, but the hub presents {found}")


def half(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:16]


class Seen:
    """Which sealed content came with which message, one file per task: a hub cannot present one as a second message."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._memory: dict[str, dict[bytes, bytes]] = {}

    def record(self, task: str, read: Iterable[tuple[str, str]], remembered: Iterable[str]) -> list[TrustCode | None]:
        entries = [(half(text), half(message)) for text, message in read]
        if self.folder is None:
            return add(self._memory.setdefault(task, {}), entries)[0]
        path = self.folder / half(task).hex()
        make_private(self.folder)
        if not path.exists():
            self._remove_forgotten(remembered)
        with locked(path) as opened:
            data = os.pread(opened, CONTENTS_MAX * 32, 0)
            whole = len(data) // 32 * 32
            contents: dict[bytes, bytes] = {}
            for at in range(0, whole, 32):
                contents.setdefault(data[at : at + 16], data[at + 16 : at + 32])
            outcomes, new = add(contents, entries)
            if new:
                os.pwrite(opened, b"".join(text + message for text, message in new), whole)
                os.ftruncate(opened, whole + 32 * len(new))
                os.fsync(opened)
        return outcomes

    def _remove_forgotten(self, remembered: Iterable[str]) -> None:
        files = list(self.folder.iterdir()) if self.folder else []
        if len(files) > TASKS_MAX + SLACK:
            kept = {half(task).hex() for task in remembered}
            for file in files:
                if file.name not in kept:
                    file.unlink(missing_ok=True)


def add(
    contents: dict[bytes, bytes], entries: list[tuple[bytes, bytes]]
) -> tuple[list[TrustCode | None], list[tuple[bytes, bytes]]]:
    outcomes: list[TrustCode | None] = []
    new: list[tuple[bytes, bytes]] = []
    for text, message in entries:
        if text in contents:
            outcomes.append(None if contents[text] == message else "repeated")
        elif len(contents) >= CONTENTS_MAX:
            outcomes.append("record_full")
        else:
            contents[text] = message
            new.append((text, message))
            outcomes.append(None)
    return outcomes, new
