"""An exception for every error code of the hub.

Written by sdk/generate.py; do not edit."""

from .errors import Refused


class Validation(Refused):
    """`validation`, usually with status 400."""


class InvalidTransition(Refused):
    """`invalid_transition`, usually with status 400."""


class Unauthorized(Refused):
    """`unauthorized`, usually with status 401."""


class NoCredits(Refused):
    """`no_credits`, usually with status 402."""


class Suspended(Refused):
    """`suspended`, usually with status 403."""


class AdminOnly(Refused):
    """`admin_only`, usually with status 403."""


class NotConnected(Refused):
    """`not_connected`, usually with status 403."""


class NotAutoAccept(Refused):
    """`not_auto_accept`, usually with status 403."""


class Blocked(Refused):
    """`blocked`, usually with status 403."""


class RoleNotAllowed(Refused):
    """`role_not_allowed`, usually with status 403."""


class ReviewRequired(Refused):
    """`review_required`, usually with status 403."""


class OwnerOnly(Refused):
    """`owner_only`, usually with status 403."""


class NotSender(Refused):
    """`not_sender`, usually with status 403."""


class ForeignHost(Refused):
    """`foreign_host`, usually with status 403."""


class ForeignOrigin(Refused):
    """`foreign_origin`, usually with status 403."""


class ForeignSession(Refused):
    """`foreign_session`, usually with status 403."""


class GuestOnly(Refused):
    """`guest_only`, usually with status 403."""


class NotFound(Refused):
    """`not_found`, usually with status 404."""


class MethodNotAllowed(Refused):
    """`method_not_allowed`, usually with status 405."""


class NotAcceptable(Refused):
    """`not_acceptable`, usually with status 406."""


class HubTimeout(Refused):
    """`timeout`, usually with status 408."""


class Conflict(Refused):
    """`conflict`, usually with status 409."""


class TaskTerminal(Refused):
    """`task_terminal`, usually with status 409."""


class ApprovalPending(Refused):
    """`approval_pending`, usually with status 409."""


class TaskDraft(Refused):
    """`task_draft`, usually with status 409."""


class TaskLive(Refused):
    """`task_live`, usually with status 409."""


class InvalidState(Refused):
    """`invalid_state`, usually with status 409."""


class TaskEncrypted(Refused):
    """`task_encrypted`, usually with status 409."""


class MessageBudget(Refused):
    """`message_budget`, usually with status 409."""


class OwnerStays(Refused):
    """`owner_stays`, usually with status 409."""


class AlreadyMember(Refused):
    """`already_member`, usually with status 409."""


class SignatureReplayed(Refused):
    """`signature_replayed`, usually with status 409."""


class IdTaken(Refused):
    """`id_taken`, usually with status 409."""


class AliasTaken(Refused):
    """`alias_taken`, usually with status 409."""


class KeyTaken(Refused):
    """`key_taken`, usually with status 409."""


class AlreadyConnected(Refused):
    """`already_connected`, usually with status 409."""


class NoWebhook(Refused):
    """`no_webhook`, usually with status 409."""


class IdempotencyConflict(Refused):
    """`idempotency_conflict`, usually with status 409."""


class TooLarge(Refused):
    """`too_large`, usually with status 413."""


class FileQuota(Refused):
    """`file_quota`, usually with status 413."""


class UnsupportedMediaType(Refused):
    """`unsupported_media_type`, usually with status 415."""


class NoSuchRange(Refused):
    """`no_such_range`, usually with status 416."""


class UpgradeRequired(Refused):
    """`upgrade_required`, usually with status 426."""


class RateLimited(Refused):
    """`rate_limited`, usually with status 429."""


class TooManyOpenTasks(Refused):
    """`too_many_open_tasks`, usually with status 429."""


class TooManyCodes(Refused):
    """`too_many_codes`, usually with status 429."""


class TooManyGuests(Refused):
    """`too_many_guests`, usually with status 429."""


class NetworkFull(Refused):
    """`network_full`, usually with status 429."""


class TooManyStreams(Refused):
    """`too_many_streams`, usually with status 429."""


class TooManySessions(Refused):
    """`too_many_sessions`, usually with status 429."""


class Internal(Refused):
    """`internal`, usually with status 500."""


class Unavailable(Refused):
    """`unavailable`, usually with status 503."""


class StorageFull(Refused):
    """`storage_full`, usually with status 507."""


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
    "TooManySessions",
    "TooManyStreams",
    "Unauthorized",
    "Unavailable",
    "UnsupportedMediaType",
    "UpgradeRequired",
    "Validation",
]
