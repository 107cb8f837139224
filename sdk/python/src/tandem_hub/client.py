"""A hub, and the agent that calls it: registration, pairing, tasks, files, events."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import hashlib
import mimetypes
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

from . import _files, profiles
from ._calls import Calls
from ._http import Http, each
from ._names import folded
from ._plain import Plain
from ._wire import ConnectedView, ConnectionView, CreateTask, PairingCodeView, TaskView
from ._wire import Profile as AgentView
from .errors import ProfileError, Refused, TandemError, Untrusted
from .events import Events, Notice, Transport

if TYPE_CHECKING:
    from typing_extensions import Self

    from .encryption import Encryption, Keyring
    from .tasks import Task


@dataclass(frozen=True)
class File:
    """A file to send."""

    name: str
    data: bytes
    mime: str = "application/octet-stream"

    @classmethod
    def of(cls, given: File | str | Path) -> File:
        """A file of this machine. What is text by its content is sent as text."""
        if isinstance(given, File):
            return given
        path = Path(given)
        data, guessed = path.read_bytes(), mimetypes.guess_type(path.name)[0]
        known = guessed and (guessed.startswith("image/") or guessed in ("application/pdf", "application/json", "text/csv"))
        try:
            data.decode()
            text = b"\0" not in data
        except UnicodeDecodeError:
            text = False
        return cls(path.name, data, str(guessed) if known else "text/plain" if text else "application/octet-stream")


def new_key() -> str:
    """A new API key: whoever makes it himself cannot lose it with an answer."""
    return "tdm_" + secrets.token_urlsafe(32)


def key_hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def solve(challenge: str, difficulty: int) -> str:
    """The solution of a hub's proof of work: so many leading zero bits."""
    number = 0
    while int.from_bytes(hashlib.sha256(f"{challenge}{number}".encode()).digest(), "big") >> (256 - difficulty):
        number += 1
    return str(number)


class Tandem:
    """An agent of a hub. Use it with `async with`, or close it."""

    def __init__(
        self, url: str, key: str | None = None, *, keyring: Keyring | None = None, patience: float = 30.0,
        profile: profiles.Profile | None = None,
    ) -> None:  # fmt: skip
        source: Callable[[], str | None] | None = (lambda: profiles.key_source(profile)) if profile else None
        self._http = Http(url, key, patience, source)
        self.calls, self.profile, self._keyring = Calls(self._http), profile, keyring
        self._me: AgentView | None = None
        self._streams: WeakSet[Events] = WeakSet()
        self._encryption: Plain | None = None

    @classmethod
    def from_profile(cls, name: str | None = None, *, patience: float = 30.0, url: str | None = None) -> Self:
        """The agent of a profile of the command line: the named one, else the current one, else the only one."""
        profile = profiles.select(name)
        return cls(url or profile.hub, profile.api_key, patience=patience, profile=profile)

    @classmethod
    async def register(
        cls, url: str, name: str, *, profile: str | None = None, encrypted: bool = True, description: str | None = None,
        capabilities: Sequence[str] | None = None, patience: float = 30.0,
    ) -> Self:  # fmt: skip
        """Registers an agent with keys that are made here, and stores them as a profile. Called again after a failure, it
        finishes what it has begun."""
        told = {"name": name, "description": description, "capabilities": list(capabilities) if capabilities else None}
        request = {field: value for field, value in told.items() if value is not None}
        stored = profiles.profile_name(profile or name)
        with profiles.reserved(stored):
            if profiles.load(stored):
                raise ProfileError(f"there is already a profile {stored!r} on this machine")
            hub = cls(url, patience=patience)
            begun = profiles.pending(stored)
            if begun and (begun["hub"], begun["request"]["name"]) != (hub._http.url, name):
                raise ProfileError(f"another registration was begun as profile {stored!r}; finish it, or remove it")
            pem, path = None, profiles.file(stored, "pem")
            if path.exists() and not begun:
                raise ProfileError(f"there is a private key without a profile: {path}")
            if begun["encrypted"] if begun else encrypted:
                from ._seal import PrivateKey

                pem = PrivateKey.load(path) if path.exists() else await asyncio.to_thread(PrivateKey.generate)
            fields = begun or {
                "hub": hub._http.url, "apiKey": new_key(), "idempotencyKey": secrets.token_hex(16), "encrypted": encrypted,
                "request": request,
            }  # fmt: skip
            # Written down before the hub is asked, so the agent cannot get lost with an answer or with this process.
            profiles.save_pending(stored, fields)
            if pem:
                _files.replace(path, pem.pem)
            try:
                made = await hub._register(fields, pem.public.pem if pem else None)
            except Refused as error:
                # What was written down goes if the hub has refused it, and knows nothing of an earlier try.
                if not begun and 400 <= error.status < 500 and await hub._is_unknown(fields["apiKey"]):
                    for suffix in ("pending", "pem"):
                        profiles.file(stored, suffix).unlink(missing_ok=True)
                raise
            finally:
                await hub.close()
            key = made.get("apiKey") or fields["apiKey"]
            profiles.save(profiles.Profile(stored, hub._http.url, made["id"], made["name"], key))
            if not (profiles.folder() / "current").exists():
                _files.replace(profiles.folder() / "current", f"{stored}\n")
        return cls.from_profile(stored, patience=patience)

    async def _register(self, begun: dict[str, Any], public_key: str | None) -> Any:
        """Registers, or finds that an earlier try did."""
        body = {**begun["request"], "apiKeyHash": key_hash(begun["apiKey"])}
        if public_key:
            body["publicKey"] = public_key
        challenge = await self.calls.agents_challenge()
        if challenge["difficulty"]:
            if challenge["difficulty"] > 40:
                raise TandemError("the hub asks for a proof of work that nobody can solve")
            body.update(challenge=challenge["challenge"], solution=solve(challenge["challenge"], challenge["difficulty"]))
        try:
            return await self.calls.agents_register(cast(Any, body), idempotency_key=begun["idempotencyKey"])
        except TandemError as error:
            if getattr(error, "code", None) in ("key_taken", "idempotency_conflict") or error.may_have_taken_effect:
                with contextlib.suppress(TandemError):
                    return await self._holder(begun["apiKey"])
            raise

    async def _holder(self, key: str) -> AgentView:
        """The agent that has a key, by one quick call."""
        async with Tandem(self._http.url, key, patience=0) as other:
            return await other.calls.agents_profile()

    async def _is_unknown(self, key: str) -> bool:
        try:
            await self._holder(key)
        except TandemError as error:
            return getattr(error, "code", None) == "unauthorized"
        return False

    async def rotate_key(self) -> str:
        """Replaces the API key. The old one stops working at once, everywhere."""
        if self.profile is None:
            return await self._rotate(new_key())
        with profiles.reserved(self.profile.name):
            stored = profiles.load(self.profile.name)
            if stored is None or stored.agent_id != self.profile.agent_id:
                raise ProfileError("another program has removed the profile")
            # A rotation that was cut off goes on with its key: a third one could end both.
            key = stored.next_api_key or new_key()
            profiles.save(dataclasses.replace(stored, next_api_key=key))
            self._http.key = stored.api_key
            try:
                key = await self._rotate(key)
            except Refused as error:
                if error.code == "key_taken":
                    # A key that another agent has is of no use.
                    profiles.save(dataclasses.replace(stored, next_api_key=None))
                raise
            self.profile = dataclasses.replace(stored, api_key=key, next_api_key=None)
            profiles.save(self.profile)
        return key

    async def _rotate(self, key: str) -> str:
        source, self._http.key_source = self._http.key_source, None
        try:
            answer = await self.calls.agents_rotate_key({"apiKeyHash": key_hash(key)})
            key = answer["apiKey"] or key
        except TandemError as error:
            is_done = getattr(error, "code", None) in ("unauthorized", "key_taken")
            if not (is_done or error.may_have_taken_effect):
                raise
            try:
                await self._holder(key)
            except TandemError:
                raise error from None
        finally:
            self._http.key_source = source
        self._http.key = key
        return key

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def close(self) -> None:
        for events in list(self._streams):
            await events.aclose()
        await self._http.client.aclose()

    async def me(self) -> AgentView:
        if self._me is None:
            self._me = await self.calls.agents_profile()
        return self._me

    async def agent_id(self) -> str:
        return self.profile.agent_id if self.profile else (await self.me())["id"]

    @property
    def encryption(self) -> Plain:
        """Seals and opens with the keyring, or with the key files of the profile."""
        if self._encryption is None:
            self._encryption = self._with_keys()
        return self._encryption

    def _with_keys(self) -> Plain:
        profile, keyring = self.profile, self._keyring
        if keyring is None and (profile is None or not profiles.file(profile.name, "pem").exists()):
            return Plain()
        try:
            from .encryption import Encryption, Keyring
        except ImportError:
            return Plain("encryption needs the package cryptography: pip install 'tandem-hub[encryption]'")
        if keyring is None and profile:
            pem, pins = profiles.file(profile.name, "pem"), profiles.file(profile.name, "pins")
            keyring = Keyring(profile.agent_id, profile.agent_name, pem, pins)
        return Encryption(self.calls, keyring) if keyring else Plain()

    @property
    def keys(self) -> Encryption:
        """The keys of others, to look at and to accept."""
        encryption = self.encryption
        if not encryption.has_keyring:
            encryption.no_key()
        return cast("Encryption", encryption)

    async def pair(self) -> PairingCodeView:
        """A code for another agent; it can be used once, for ten minutes."""
        return await self.calls.connections_generate_code()

    async def connect(self, code: str) -> ConnectedView:
        """Redeems a code that another owner gave you."""
        return await self.calls.connections_redeem_code({"code": code})

    async def connections(self) -> list[ConnectionView]:
        return await each(self.calls.connections_list, limit=1000)

    async def find(self, named: str, among: list[ConnectionView] | None = None) -> str:
        """The id of the connected agent that an id, an alias or a name means. A pinned name means its agent only."""
        found = await self.connections() if among is None else among
        word, is_id = folded(named), folded(named).startswith("agent_")
        steps: list[Callable[[ConnectionView], bool]] = [
            lambda one: one["agentId"] == named,
            lambda one: not is_id and one["alias"] == named,
            lambda one: not is_id and folded(one["alias"] or "") == word,
            lambda one: not is_id and folded(one["agentName"]) == word,
        ]
        for step in steps if word else []:
            agents = [one["agentId"] for one in found if step(one)]
            if len(agents) > 1:
                raise Untrusted("same_name", f"{named!r} can mean {' or '.join(agents)}")
            if agents:
                if agents[0] != named:
                    self.encryption.check_named(named, agents[0])
                return agents[0]
        return named

    async def send(
        self, to: str, title: str, description: str = "", *, files: Sequence[File | str | Path] = (),
        encrypt: bool = False, idempotency_key: str | None = None, **options: Any,
    ) -> Task:  # fmt: skip
        """Sends a task. `to` is an id, your alias, or a name; `options` are further fields of the route, such as
        `requiresReview=True` or `ttlSeconds=600`."""
        from .tasks import Task

        prepared, agent = [File.of(one) for one in files], await self.find(to)
        body: dict[str, Any] = {"targetAgentId": agent, "title": title, "description": description or None, **options}
        if encrypt:
            body.update(await self.encryption.new_task(agent, title, description))
        body = {name: value for name, value in body.items() if value is not None}
        is_draft = bool(body.get("draft"))
        if prepared:
            # Whoever sees it first sees it whole.
            body["draft"] = True
        view = await self.calls.tasks_create(cast(CreateTask, body), idempotency_key=idempotency_key)
        if encrypt:
            self.encryption.check_created(checked_id(view, body["id"]), agent)
        task = await Task.opened(self, view)
        for one in prepared:
            await task.upload(one)
        if prepared and not is_draft:
            await task.set_status("submitted")
        return task

    async def task(self, task_id: str) -> Task:
        from .tasks import Task

        return await Task.opened(self, await self.view(task_id))

    async def view(self, task_id: str) -> TaskView:
        return checked_id(await self.calls.tasks_view(task_id), task_id)

    def events(
        self, after: int | None = None, *, epoch: str | None = None, transport: Transport | None = None,
        on_notice: Callable[[Notice], None] | None = None,
    ) -> Events:  # fmt: skip
        """The agent's events after a cursor, or only new ones; see `Events`."""
        events = Events(self._http, after, epoch, transport, on_notice)
        self._streams.add(events)
        return events


def checked_id(view: TaskView, task: str) -> TaskView:
    if view["id"] != task:
        raise TandemError("the hub answered with another task")
    return view


def content_key(task: str, attempt: int, file: File) -> str:
    """The idempotency key of a worker's file: the same after a restart."""
    digest = hashlib.sha256(file.data).hexdigest()
    return hashlib.sha256(f"tandem-file\n{task}\n{attempt}\n{file.name}\n{digest}".encode()).hexdigest()
