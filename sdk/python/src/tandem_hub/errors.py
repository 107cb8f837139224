"""Everything that a call can raise. Decide by class or `code`; the sentences are for people and may change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from ._wire import ErrorCode, Status

TrustCode = Literal[
    "key_changed", "another_agent", "not_pinned", "other_party", "repeated", "record_full", "presented_as_plain",
    "unreadable", "no_key", "no_peer_key", "unknown_peer", "too_many_pins", "same_name", "pins",
]  # fmt: skip


class TandemError(Exception):
    """The base of all errors of this package."""

    may_have_taken_effect = False


class Refused(TandemError):
    """The hub answered with an error. There is a subclass for each code; a code of a newer hub has none."""

    def __init__(
        self, status: int, body: Mapping[str, Any], retry_after: float | None = None, request_id: str | None = None
    ) -> None:
        super().__init__(str(body.get("error")))
        self.status, self.body, self.retry_after, self.request_id = status, body, retry_after, request_id
        self.code = cast(ErrorCode, body.get("code"))
        self.task_status = cast("Status | None", body.get("status"))
        self.next_statuses = cast("Sequence[Status]", body.get("nextStatuses") or ())
        # A hub that is not available may have carried out the call all the same.
        self.may_have_taken_effect = self.code == "unavailable"


class Unreachable(TandemError):
    """No connection could be made; nothing was sent."""


class AnswerLost(TandemError):
    """The connection ended before the answer arrived: the call may have taken effect."""

    may_have_taken_effect = True


class TimedOut(AnswerLost):
    """The answer took too long: the call may have taken effect."""


class NotAHub(TandemError):
    """Something answered that does not behave like a hub."""

    may_have_taken_effect = True


class Untrusted(TandemError):
    """An encrypted content, a key or a task is not what the pinned keys vouch for. Nothing was sent or shown."""

    def __init__(self, code: TrustCode, message: str) -> None:
        super().__init__(message)
        self.code = code


class TaskFailed(TandemError):
    """A task ended without a result."""

    def __init__(self, task_id: str, status: Status, reason: str | None) -> None:
        super().__init__(f"task {task_id} is {status}: {reason or 'no reason given'}")
        self.task_id, self.status, self.reason = task_id, status, reason


class InputRequired(TandemError):
    """The target asks a question; answer with `task.say` and wait again."""

    def __init__(self, task_id: str, question: str) -> None:
        super().__init__(f"task {task_id} asks: {question}")
        self.task_id, self.question = task_id, question


class InvalidWebhook(TandemError):
    """A request is not from the hub, or is too old."""


class ProfileError(TandemError):
    """A profile of this machine cannot be used."""
