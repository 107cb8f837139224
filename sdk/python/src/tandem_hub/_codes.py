"""An exception for every error code of the hub.

Written by sdk/generate.py; do not edit."""

from .errors import Refused


class Validation(Refused):
    """`validation`: the request has wrong or missing fields; details names them."""


class InvalidTransition(Refused):
    """`invalid_transition`: no task can go from its current status to that one."""


class Unauthorized(Refused):
    """`unauthorized`: the API key is missing or unknown."""


class NoCredits(Refused):
    """`no_credits`: tasks for that agent cost credits, and your balance is zero."""


class Suspended(Refused):
    """`suspended`: the operator has suspended your agent."""


class AdminOnly(Refused):
    """`admin_only`: the route needs the operator's token."""


class NotConnected(Refused):
    """`not_connected`: you cannot reach that agent; pair with it first."""


class NotAutoAccept(Refused):
    """`not_auto_accept`: that agent accepts connections by pairing code only."""


class Blocked(Refused):
    """`blocked`: one of the two agents has blocked the other."""


class RoleNotAllowed(Refused):
    """`role_not_allowed`: only the other party of the task may do that."""


class ReviewRequired(Refused):
    """`review_required`: the initiator completes this task, not the target."""


class OwnerOnly(Refused):
    """`owner_only`: only the owner of the network may do that."""


class NotSender(Refused):
    """`not_sender`: only the sender of a message may delete it."""


class ForeignHost(Refused):
    """`foreign_host`: MCP is not served for that Host or Origin."""


class ForeignOrigin(Refused):
    """`foreign_origin`: a browser sent the request for a web page of another site."""


class ForeignSession(Refused):
    """`foreign_session`: the MCP session belongs to another key."""


class GuestOnly(Refused):
    """`guest_only`: a guest's key is good at the A2A address of its host only."""


class NotFound(Refused):
    """`not_found`: it does not exist, or you may not see it."""


class MethodNotAllowed(Refused):
    """`method_not_allowed`: the route does not support that method."""


class NotAcceptable(Refused):
    """`not_acceptable`: an MCP client must accept application/json and text/event-stream."""


class HubTimeout(Refused):
    """`timeout`: the request body did not arrive in time."""


class Conflict(Refused):
    """`conflict`: the task has changed since you read it (412 with If-Match)."""


class TaskTerminal(Refused):
    """`task_terminal`: the task has ended."""


class ApprovalPending(Refused):
    """`approval_pending`: the task waits for its target's approval."""


class TaskDraft(Refused):
    """`task_draft`: the task is a draft."""


class TaskLive(Refused):
    """`task_live`: the task has not ended."""


class InvalidState(Refused):
    """`invalid_state`: that cannot be done in the task's current status."""


class TaskEncrypted(Refused):
    """`task_encrypted`: an encrypted task cannot be given to another agent."""


class MessageBudget(Refused):
    """`message_budget`: the task has reached its maximum number of messages."""


class OwnerStays(Refused):
    """`owner_stays`: the owner cannot leave its network; delete the network instead."""


class AlreadyMember(Refused):
    """`already_member`: you are already a member of that network."""


class SignatureReplayed(Refused):
    """`signature_replayed`: that signature was already used on this task."""


class IdTaken(Refused):
    """`id_taken`: that task id is or was already in use."""


class AliasTaken(Refused):
    """`alias_taken`: another of your connections has that alias."""


class KeyTaken(Refused):
    """`key_taken`: an agent has that API key already."""


class AlreadyConnected(Refused):
    """`already_connected`: you are already connected."""


class NoWebhook(Refused):
    """`no_webhook`: you have no active webhook."""


class IdempotencyConflict(Refused):
    """`idempotency_conflict`: that Idempotency-Key was used for a different request."""


class TooLarge(Refused):
    """`too_large`: the body (413), the address (414) or the headers (431) are too large."""


class FileQuota(Refused):
    """`file_quota`: your files have reached their maximum size in total."""


class UnsupportedMediaType(Refused):
    """`unsupported_media_type`: the body is not plain application/json, or the task does not take files of that type."""


class NoSuchRange(Refused):
    """`no_such_range`: the file has no bytes in that range."""


class UpgradeRequired(Refused):
    """`upgrade_required`: the route speaks WebSocket."""


class RateLimited(Refused):
    """`rate_limited`: too many requests; Retry-After says when to try again."""


class TooManyOpenTasks(Refused):
    """`too_many_open_tasks`: 10,000 live tasks between two agents."""


class TooManyCodes(Refused):
    """`too_many_codes`: 100 open pairing codes."""


class TooManyGuests(Refused):
    """`too_many_guests`: 100 guests."""


class TooManyRemotes(Refused):
    """`too_many_remotes`: 100 agents elsewhere."""


class NetworkFull(Refused):
    """`network_full`: 1,000 members, 100 open invitations, or 100 networks per agent."""


class TooManyStreams(Refused):
    """`too_many_streams`: 16 sockets and streams per agent."""


class TooManySessions(Refused):
    """`too_many_sessions`: 32 MCP sessions per agent."""


class Internal(Refused):
    """`internal`: the hub failed; the cause is in its log."""


class Unavailable(Refused):
    """`unavailable`: the hub is busy or cannot reach its database or files; Retry-After says when to try again."""


class StorageFull(Refused):
    """`storage_full`: the hub's disk is full; nothing was saved."""


BY_CODE: dict[str, type[Refused]] = {
    "validation": Validation,
    "invalid_transition": InvalidTransition,
    "unauthorized": Unauthorized,
    "no_credits": NoCredits,
    "suspended": Suspended,
    "admin_only": AdminOnly,
    "not_connected": NotConnected,
    "not_auto_accept": NotAutoAccept,
    "blocked": Blocked,
    "role_not_allowed": RoleNotAllowed,
    "review_required": ReviewRequired,
    "owner_only": OwnerOnly,
    "not_sender": NotSender,
    "foreign_host": ForeignHost,
    "foreign_origin": ForeignOrigin,
    "foreign_session": ForeignSession,
    "guest_only": GuestOnly,
    "not_found": NotFound,
    "method_not_allowed": MethodNotAllowed,
    "not_acceptable": NotAcceptable,
    "timeout": HubTimeout,
    "conflict": Conflict,
    "task_terminal": TaskTerminal,
    "approval_pending": ApprovalPending,
    "task_draft": TaskDraft,
    "task_live": TaskLive,
    "invalid_state": InvalidState,
    "task_encrypted": TaskEncrypted,
    "message_budget": MessageBudget,
    "owner_stays": OwnerStays,
    "already_member": AlreadyMember,
    "signature_replayed": SignatureReplayed,
    "id_taken": IdTaken,
    "alias_taken": AliasTaken,
    "key_taken": KeyTaken,
    "already_connected": AlreadyConnected,
    "no_webhook": NoWebhook,
    "idempotency_conflict": IdempotencyConflict,
    "too_large": TooLarge,
    "file_quota": FileQuota,
    "unsupported_media_type": UnsupportedMediaType,
    "no_such_range": NoSuchRange,
    "upgrade_required": UpgradeRequired,
    "rate_limited": RateLimited,
    "too_many_open_tasks": TooManyOpenTasks,
    "too_many_codes": TooManyCodes,
    "too_many_guests": TooManyGuests,
    "too_many_remotes": TooManyRemotes,
    "network_full": NetworkFull,
    "too_many_streams": TooManyStreams,
    "too_many_sessions": TooManySessions,
    "internal": Internal,
    "unavailable": Unavailable,
    "storage_full": StorageFull,
}

__all__ = [
    "AdminOnly",
    "AliasTaken",
    "AlreadyConnected",
    "AlreadyMember",
    "ApprovalPending",
    "Blocked",
    "Conflict",
    "FileQuota",
    "ForeignHost",
    "ForeignOrigin",
    "ForeignSession",
    "GuestOnly",
    "HubTimeout",
    "IdTaken",
    "IdempotencyConflict",
    "Internal",
    "InvalidState",
    "InvalidTransition",
    "KeyTaken",
    "MessageBudget",
    "MethodNotAllowed",
    "NetworkFull",
    "NoCredits",
    "NoSuchRange",
    "NoWebhook",
    "NotAcceptable",
    "NotAutoAccept",
    "NotConnected",
    "NotFound",
    "NotSender",
    "OwnerOnly",
    "OwnerStays",
    "RateLimited",
    "ReviewRequired",
    "RoleNotAllowed",
    "SignatureReplayed",
    "StorageFull",
    "Suspended",
    "TaskDraft",
    "TaskEncrypted",
    "TaskLive",
    "TaskTerminal",
    "TooLarge",
    "TooManyCodes",
    "TooManyGuests",
    "TooManyOpenTasks",
    "TooManyRemotes",
    "TooManySessions",
    "TooManyStreams",
    "Unauthorized",
    "Unavailable",
    "UnsupportedMediaType",
    "UpgradeRequired",
    "Validation",
]
