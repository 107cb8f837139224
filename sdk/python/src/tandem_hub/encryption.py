"""End-to-end encryption on top of the calls. The hub says which agents a task has and what their keys are, and could lie:
content counts only if the pinned key of its sender has signed it, and everything else of an encrypted task is left out."""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
from pathlib import Path
from typing import Any, Literal, cast

from ._calls import Calls
from ._http import each
from ._names import folded, is_invisible, line
from ._pins import PeerKey, Pins, Seen, other_party
from ._plain import CLEAR_NAME, CLEAR_TITLE, DELETED, SEALED_ID, OpenedMessage, OpenedTask, Plain, without_content
from ._seal import PrivateKey, PublicKey, Sealed, SealError, envelope, seal, unseal
from ._wire import MessageView, TaskView
from .errors import Untrusted

Kind = Literal["description", "message", "file"]


def is_file_id(content: str) -> bool:
    return 0 < len(content) < 30 and all(c.isascii() and (c.isalnum() or c in "_-") for c in content)


def safe_name(name: str) -> str:
    """A file's name without folders and control characters. It comes from its sender."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    clean = "".join(c for c in last if c.isprintable() and not is_invisible(c))[:200]
    return clean.strip().lstrip(".").strip() or CLEAR_NAME


class Keyring:
    """What an agent needs to seal and open: its id and name, its private key, and the pinned keys of others. Without a path of
    pins everything is forgotten with the process."""

    def __init__(self, agent: str, name: str, key: PrivateKey | Path, pins: Path | None = None) -> None:
        self.agent, self.name, self._key = agent, name, key
        self.pins = Pins(pins)
        self.seen = Seen(pins.with_suffix(".seen.d") if pins else None)
        self.checked: dict[str, PublicKey] = {}

    @property
    def key(self) -> PrivateKey:
        if isinstance(self._key, Path):
            try:
                self._key = PrivateKey.load(self._key)
            except FileNotFoundError as cause:
                raise Untrusted("no_key", "this agent has no private key here") from cause
            except (SealError, ValueError) as cause:
                raise Untrusted("no_key", str(cause)) from cause
        return self._key


class Encryption(Plain):
    """Seals and opens for one agent."""

    has_keyring = True

    def __init__(self, calls: Calls, keyring: Keyring) -> None:
        super().__init__()
        self._calls, self.keyring = calls, keyring

    def is_known(self, task: str) -> bool:
        return super().is_known(task) or self.keyring.pins.task(task)[0]

    def check_named(self, named: str, agent: str) -> None:
        self.keyring.pins.check_named(named, agent)

    def check_created(self, view: TaskView, agent: str) -> None:
        if not self.is_encrypted(view) or self.peer_of(view) != agent:
            raise Untrusted("presented_as_plain", f"the hub presents {view['id']} as another task than was created")

    def peer_of(self, task: TaskView, pinnable: bool = True) -> str:
        """The other party, the same as before. With `pinnable`, its key is pinned or may be at first sight: only a task that
        was received, and is new here, may do that."""
        me, pins = self.keyring.agent, self.keyring.pins
        parties = [task["initiatorAgentId"], task["targetAgentId"]]
        if parties.count(me) != 1:
            raise Untrusted("unreadable", f"{me}, whose key this is, has no part in the task")
        peer = parties[1 - parties.index(me)]
        known = pins.task(task["id"])[1]
        if known not in (None, peer):
            raise other_party(task["id"], str(known), peer)
        is_new = task["targetAgentId"] == me and known is None
        if pinnable and not is_new and pins.get(peer) is None:
            raise Untrusted("not_pinned", f"{task['id']} is with {peer}, but no key of {peer} is pinned here")
        return peer

    async def presented_key(self, agent: str) -> PeerKey:
        """The key that the hub presents for a connection, or for a member of one of the caller's networks."""
        found: dict[str, Any] | None = None
        for one in await each(self._calls.connections_list, limit=1000):
            found = cast("dict[str, Any]", one) if one["agentId"] == agent else found
        for network in [] if found else (await self._calls.networks_list()).items:
            for member in await each(self._calls.networks_members, network["id"], limit=500):
                found = cast("dict[str, Any]", member) if member["agentId"] == agent else found
        if found is None:
            raise Untrusted("unknown_peer", f"{agent} is not connected, so the hub does not show its public key")
        if not found["publicKey"]:
            raise Untrusted("no_peer_key", f"{line(found['agentName'])} ({agent}) has no public key")
        try:
            return PeerKey(agent, found["agentName"], found.get("alias"), PublicKey(found["publicKey"]))
        except SealError as cause:
            raise Untrusted("no_peer_key", f"the public key of {agent} cannot be used: {cause}") from cause

    async def key_for_sealing(self, agent: str) -> PublicKey:
        """The key that the hub presents, if it is the pinned one."""
        pins, checked = self.keyring.pins, self.keyring.checked.get(agent)
        if checked is not None and pins.get(agent) == checked:
            return checked
        found = await self.presented_key(agent)
        pins.check(found)
        self.keyring.checked[agent] = found.key
        return found.key

    async def key_for_opening(self, agent: str) -> PublicKey:
        """The pinned key of an agent, also when it is no longer connected."""
        if agent == self.keyring.agent:
            return self.keyring.key.public
        return self.keyring.pins.get(agent) or await self.key_for_sealing(agent)

    async def seal(self, task: str, peer: str, fields: dict[str, str]) -> Sealed:
        me, key, peer_key = self.keyring.agent, self.keyring.key, await self.key_for_sealing(peer)
        text = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
        return await asyncio.to_thread(seal, task, key, {me: key.public, peer: peer_key}, text)

    async def seal_for(self, task: TaskView, fields: dict[str, str]) -> Sealed:
        """Seals for the other party of an existing task. One that is not known yet must have signed the task."""
        peer = self.peer_of(task)
        if peer == task["initiatorAgentId"] and self.keyring.pins.task(task["id"])[1] is None:
            await self.description(task)
        return await self.seal(task["id"], peer, fields)

    async def new_task(self, peer: str, title: str, description: str) -> dict[str, Any]:
        """The fields of a new encrypted task. Its id is made here, because the signature covers it."""
        task = SEALED_ID + secrets.token_hex(8)
        sealed = await self.seal(task, peer, {"title": title, "description": description})
        # Before the call: the task may exist although the answer is lost.
        self.keyring.pins.choose(task, peer)
        keys = {"descriptionKeys": sealed["keys"], "senderSignature": sealed["signature"]}
        return {"id": task, "title": CLEAR_TITLE, "description": sealed["content"], "encrypted": True, **keys}

    async def _open(self, task: str, sender: str, content: str, view: Any, kind: Kind) -> dict[str, str]:
        keys = view.get("descriptionKeys" if kind == "description" else "encryptedKeys")
        if not isinstance(keys, dict) or not isinstance(view.get("senderSignature"), str):
            raise Untrusted("unreadable", "its keys or its signature are missing")
        sealed: Sealed = {"content": content, "keys": keys, "signature": view["senderSignature"]}
        key, me = await self.key_for_opening(sender), self.keyring
        try:
            return envelope(await asyncio.to_thread(unseal, task, sealed, me.agent, me.key, key), kind)
        except SealError as cause:
            if cause.part == "signature" and sender != me.agent:
                # Says so if the signature fails because the sender's key has changed.
                await self.key_for_sealing(sender)
            raise Untrusted("unreadable", str(cause)) from cause

    async def description(self, task: TaskView) -> dict[str, str]:
        """Opens title and description. That the task is encrypted is remembered, whether it can be opened or not."""
        try:
            is_own = task["initiatorAgentId"] == self.keyring.agent
            peer = self.peer_of(task, pinnable=not is_own)
            content = task["description"] or ""
            fields = await self._open(task["id"], task["initiatorAgentId"], content, task, "description")
            if not is_own:
                self.keyring.pins.remember(task["id"], peer)
            return fields
        finally:
            self.keyring.pins.remember(task["id"], None)

    def known_name(self, agent: str) -> str:
        """An agent's name as it is known here, else its id: the hub could put any name next to a text."""
        if agent == self.keyring.agent:
            return self.keyring.name
        name = self.keyring.pins.name(agent)
        return name if name and folded(name) != folded(self.keyring.name) else agent

    async def _opened(self, task: TaskView) -> OpenedTask:
        fields = await self.description(task)
        view: TaskView = {**task, "title": fields["title"], "description": fields["description"] or None, "result": None}
        view["initiatorAgentName"] = self.known_name(task["initiatorAgentId"])
        view["targetAgentName"] = self.known_name(task["targetAgentId"])
        try:
            view["result"] = await self._result(task, task["result"]) if task["result"] else None
        except Untrusted as why:
            return OpenedTask(view, "unreadable", str(why))
        return OpenedTask(view, "verified")

    async def _result(self, task: TaskView, content: str) -> str:
        """The task has no keys and signature for its result; they are with the message that delivered it."""
        self.peer_of(task)
        messages = await each(self._calls.messages_list, task["id"], limit=1000)
        reply = next((one for one in messages if one["content"] == content), None)
        if reply is None:
            raise Untrusted("unreadable", "the message with the keys of the result is gone")
        return (await self._open(task["id"], task["targetAgentId"], content, reply, "message"))["body"]

    async def _opened_messages(self, task: TaskView, messages: list[MessageView]) -> list[OpenedMessage]:
        opened = [await self._message(task, one) for one in messages]
        announced: set[str] = set()
        for at, one in enumerate(opened):
            if one.trust in ("unopened", "verified"):
                if messages[at]["content"] in announced:
                    opened[at] = without_content(one.view, "it is a repeated message")
                announced.add(messages[at]["content"])
        verified = [at for at, one in enumerate(opened) if one.trust == "verified"]
        reasons = self._record(
            task, [(one["senderAgentId"], one["content"], one["id"]) for one in map(messages.__getitem__, verified)]
        )
        for at, why in zip(verified, reasons, strict=True):
            if why:
                opened[at] = without_content(opened[at].view, why)
        return opened

    def _record(self, task: TaskView, read: list[tuple[str, str, str]]) -> list[str | None]:
        """Records what pinned keys have signed: sender, content, message. Says of each why it must not be shown, if so."""
        pins = self.keyring.pins
        try:
            for sender in {sender for sender, _, _ in read} - {self.keyring.agent}:
                pins.remember(task["id"], sender)
        except Untrusted as why:
            return [str(why)] * len(read)
        known = (entry[0] for entry in pins.known()["tasks"])
        codes = self.keyring.seen.record(task["id"], [one[1:] for one in read], known) if read else []
        reasons = {"repeated": "it is a repeated message", "record_full": "too much of this task was read"}
        return [reasons[code] if code else None for code in codes]

    async def _message(self, task: TaskView, message: MessageView) -> OpenedMessage:
        sender, content = message["senderAgentId"], message["content"]
        if sender == "system":
            return OpenedMessage({**message, "senderAgentName": None}, "plain")
        view: MessageView = {**message, "senderAgentName": self.known_name(sender)}
        if content == DELETED:
            return OpenedMessage(view, "plain")
        if message["contentType"] != "encrypted":
            return without_content(view, "it is not encrypted, so the hub could have written it")
        if is_file_id(content):
            return OpenedMessage({**view, "contentType": "file"}, "unopened")
        try:
            self._check_sender(task, sender)
            fields = await self._open(task["id"], sender, content, message, "message")
        except Untrusted as why:
            return without_content(view, str(why))
        kind = cast(Literal["text", "json"], fields["contentType"])
        return OpenedMessage({**view, "content": fields["body"], "contentType": kind}, "verified")

    def _check_sender(self, task: TaskView, sender: str) -> None:
        self.peer_of(task, pinnable=sender != self.keyring.agent)
        if sender not in (task["initiatorAgentId"], task["targetAgentId"]):
            raise Untrusted("unreadable", "its sender has no part in the task")

    async def open_file(self, task: TaskView, message: MessageView, stored: bytes) -> tuple[str, str, bytes]:
        """Name, media type and content of an encrypted file."""
        sender = message["senderAgentId"]
        self._check_sender(task, sender)
        content = base64.b64encode(stored).decode()
        fields = await self._open(task["id"], sender, content, message, "file")
        why = self._record(task, [(sender, content, message["id"])])[0]
        if why:
            raise Untrusted("repeated", why)
        return safe_name(fields["filename"]), fields["mimeType"], base64.b64decode(fields["data"])
