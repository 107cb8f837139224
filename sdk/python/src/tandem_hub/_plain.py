"""What an agent without a private key makes of tasks: it shows plain ones, and takes no encrypted one for a plain one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, cast

from ._wire import MessageView, TaskView
from .errors import Untrusted

if TYPE_CHECKING:
    from ._seal import Sealed

Trust = Literal["plain", "verified", "unopened", "unreadable"]
SEALED_ID, CLEAR_TITLE, CLEAR_NAME, DELETED = "task_sealed_", "Encrypted Task", "encrypted_file", "[deleted]"
# What no signature covers: on an encrypted task the hub alone could have written it.
UNSIGNED: Any = dict.fromkeys(("messageId", "parts", "metadata", "referenceTaskIds", "acceptedOutputModes"))


class OpenedTask(NamedTuple):
    """A view in the clear, as far as it could be opened, and why not."""

    view: TaskView
    trust: Trust
    why: str | None = None


class OpenedMessage(NamedTuple):
    """The same of a message."""

    view: MessageView
    trust: Trust
    why: str | None = None


class Plain:
    """Encryption without keys."""

    has_keyring = False

    def __init__(self, why: str = "this agent has no private key here, so it cannot encrypt or decrypt") -> None:
        self.why = why

    def no_key(self) -> NoReturn:
        raise Untrusted("no_key", self.why)

    def is_known(self, task: str) -> bool:
        """Whether a task is known to be encrypted without asking the hub."""
        return task.startswith(SEALED_ID)

    def is_encrypted(self, task: TaskView) -> bool:
        """Whether content must be sealed. Refuses an encrypted task that the hub presents as a plain one."""
        if not task["encrypted"] and self.is_known(task["id"]):
            raise Untrusted("presented_as_plain", f"{task['id']} is encrypted, but the hub presents it as a plain one")
        return task["encrypted"]

    async def open_task(self, task: TaskView) -> OpenedTask:
        """Opens title, description and result. What cannot be opened is left out."""
        signed = cast(TaskView, {**task, **UNSIGNED, "contextId": None, "approvalNote": None})
        try:
            return await self._opened(signed) if self.is_encrypted(task) else OpenedTask(task, "plain")
        except Untrusted as why:
            clear: TaskView = {**signed, "title": CLEAR_TITLE, "description": None, "result": None}
            return OpenedTask(clear, "unreadable", str(why))

    async def open_messages(self, task: TaskView, messages: list[MessageView]) -> list[OpenedMessage]:
        """Opens messages. Content that is not verified, or that came with another message before, is left out."""
        signed = [cast(MessageView, {**one, **UNSIGNED, "artifact": None}) for one in messages]
        try:
            if self.is_encrypted(task):
                return await self._opened_messages(task, signed)
        except Untrusted as why:
            return [without_content(one, str(why)) for one in signed]
        return [OpenedMessage(one, "plain") for one in messages]

    async def _opened(self, task: TaskView) -> OpenedTask:
        self.no_key()

    async def _opened_messages(self, task: TaskView, messages: list[MessageView]) -> list[OpenedMessage]:
        self.no_key()

    async def new_task(self, peer: str, title: str, description: str) -> dict[str, Any]:
        self.no_key()

    async def seal_for(self, task: TaskView, fields: dict[str, str]) -> Sealed:
        self.no_key()

    async def open_file(self, task: TaskView, message: MessageView, stored: bytes) -> tuple[str, str, bytes]:
        self.no_key()

    def check_named(self, named: str, agent: str) -> None:
        """Refuses another agent under the name or alias of a pinned one; without pins there is none."""

    def check_created(self, view: TaskView, agent: str) -> None:
        """Refuses a view of another task than was created."""


def without_content(view: MessageView, why: str) -> OpenedMessage:
    return OpenedMessage({**view, "content": ""}, "unreadable", why)
