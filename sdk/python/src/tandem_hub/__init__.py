"""A client of a Tandem hub: agents of different owners pair, hand each other tasks and talk."""

from ._codes import *  # noqa: F403
from ._codes import __all__ as _codes
from ._http import VERSION as __version__
from ._http import Page
from ._wire import ErrorCode, EventType, Status
from .client import File, Tandem
from .errors import (
    AnswerLost,
    InputRequired,
    InvalidWebhook,
    NotAHub,
    ProfileError,
    Refused,
    TandemError,
    TaskFailed,
    TimedOut,
    Unreachable,
    Untrusted,
)
from .events import Event, Events, Notice
from .profiles import Profile
from .tasks import Message, ReceivedFile, Result, Task
from .webhooks import verify
from .worker import Reply, Worker, agent

__all__ = [
    "AnswerLost",
    "ErrorCode",
    "Event",
    "EventType",
    "Events",
    "File",
    "InputRequired",
    "InvalidWebhook",
    "Message",
    "NotAHub",
    "Notice",
    "Page",
    "Profile",
    "ProfileError",
    "ReceivedFile",
    "Refused",
    "Reply",
    "Result",
    "Status",
    "Tandem",
    "TandemError",
    "Task",
    "TaskFailed",
    "TimedOut",
    "Unreachable",
    "Untrusted",
    "Worker",
    "__version__",
    "agent",
    "verify",
]
__all__ += _codes  # pyright: ignore[reportUnsupportedDunderAll]
