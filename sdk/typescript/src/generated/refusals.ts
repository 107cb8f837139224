// Written by generate.mjs from the hub's OpenAPI document. Do not edit.
import { Refused } from "../errors.js";

export class Validation extends Refused {
  declare readonly code: "validation";
}
export class InvalidTransition extends Refused {
  declare readonly code: "invalid_transition";
}
export class Unauthorized extends Refused {
  declare readonly code: "unauthorized";
}
export class NoCredits extends Refused {
  declare readonly code: "no_credits";
}
export class Suspended extends Refused {
  declare readonly code: "suspended";
}
export class AdminOnly extends Refused {
  declare readonly code: "admin_only";
}
export class NotConnected extends Refused {
  declare readonly code: "not_connected";
}
export class NotAutoAccept extends Refused {
  declare readonly code: "not_auto_accept";
}
export class Blocked extends Refused {
  declare readonly code: "blocked";
}
export class RoleNotAllowed extends Refused {
  declare readonly code: "role_not_allowed";
}
export class ReviewRequired extends Refused {
  declare readonly code: "review_required";
}
export class OwnerOnly extends Refused {
  declare readonly code: "owner_only";
}
export class NotSender extends Refused {
  declare readonly code: "not_sender";
}
export class ForeignHost extends Refused {
  declare readonly code: "foreign_host";
}
export class ForeignOrigin extends Refused {
  declare readonly code: "foreign_origin";
}
export class ForeignSession extends Refused {
  declare readonly code: "foreign_session";
}
export class GuestOnly extends Refused {
  declare readonly code: "guest_only";
}
export class NotFound extends Refused {
  declare readonly code: "not_found";
}
export class MethodNotAllowed extends Refused {
  declare readonly code: "method_not_allowed";
}
export class NotAcceptable extends Refused {
  declare readonly code: "not_acceptable";
}
export class Timeout extends Refused {
  declare readonly code: "timeout";
}
export class Conflict extends Refused {
  declare readonly code: "conflict";
}
export class TaskTerminal extends Refused {
  declare readonly code: "task_terminal";
}
export class ApprovalPending extends Refused {
  declare readonly code: "approval_pending";
}
export class TaskDraft extends Refused {
  declare readonly code: "task_draft";
}
export class TaskLive extends Refused {
  declare readonly code: "task_live";
}
export class InvalidState extends Refused {
  declare readonly code: "invalid_state";
}
export class TaskEncrypted extends Refused {
  declare readonly code: "task_encrypted";
}
export class MessageBudget extends Refused {
  declare readonly code: "message_budget";
}
export class OwnerStays extends Refused {
  declare readonly code: "owner_stays";
}
export class AlreadyMember extends Refused {
  declare readonly code: "already_member";
}
export class SignatureReplayed extends Refused {
  declare readonly code: "signature_replayed";
}
export class IdTaken extends Refused {
  declare readonly code: "id_taken";
}
export class AliasTaken extends Refused {
  declare readonly code: "alias_taken";
}
export class KeyTaken extends Refused {
  declare readonly code: "key_taken";
}
export class AlreadyConnected extends Refused {
  declare readonly code: "already_connected";
}
export class NoWebhook extends Refused {
  declare readonly code: "no_webhook";
}
export class IdempotencyConflict extends Refused {
  declare readonly code: "idempotency_conflict";
}
export class TooLarge extends Refused {
  declare readonly code: "too_large";
}
export class FileQuota extends Refused {
  declare readonly code: "file_quota";
}
export class UnsupportedMediaType extends Refused {
  declare readonly code: "unsupported_media_type";
}
export class NoSuchRange extends Refused {
  declare readonly code: "no_such_range";
}
export class UpgradeRequired extends Refused {
  declare readonly code: "upgrade_required";
}
export class RateLimited extends Refused {
  declare readonly code: "rate_limited";
}
export class TooManyOpenTasks extends Refused {
  declare readonly code: "too_many_open_tasks";
}
export class TooManyCodes extends Refused {
  declare readonly code: "too_many_codes";
}
export class TooManyGuests extends Refused {
  declare readonly code: "too_many_guests";
}
export class NetworkFull extends Refused {
  declare readonly code: "network_full";
}
export class TooManyStreams extends Refused {
  declare readonly code: "too_many_streams";
}
export class TooManySessions extends Refused {
  declare readonly code: "too_many_sessions";
}
export class Internal extends Refused {
  declare readonly code: "internal";
}
export class Unavailable extends Refused {
  declare readonly code: "unavailable";
}
export class StorageFull extends Refused {
  declare readonly code: "storage_full";
}

/** The class of each error code. */
export const REFUSALS = {
  validation: Validation,
  invalid_transition: InvalidTransition,
  unauthorized: Unauthorized,
  no_credits: NoCredits,
  suspended: Suspended,
  admin_only: AdminOnly,
  not_connected: NotConnected,
  not_auto_accept: NotAutoAccept,
  blocked: Blocked,
  role_not_allowed: RoleNotAllowed,
  review_required: ReviewRequired,
  owner_only: OwnerOnly,
  not_sender: NotSender,
  foreign_host: ForeignHost,
  foreign_origin: ForeignOrigin,
  foreign_session: ForeignSession,
  guest_only: GuestOnly,
  not_found: NotFound,
  method_not_allowed: MethodNotAllowed,
  not_acceptable: NotAcceptable,
  timeout: Timeout,
  conflict: Conflict,
  task_terminal: TaskTerminal,
  approval_pending: ApprovalPending,
  task_draft: TaskDraft,
  task_live: TaskLive,
  invalid_state: InvalidState,
  task_encrypted: TaskEncrypted,
  message_budget: MessageBudget,
  owner_stays: OwnerStays,
  already_member: AlreadyMember,
  signature_replayed: SignatureReplayed,
  id_taken: IdTaken,
  alias_taken: AliasTaken,
  key_taken: KeyTaken,
  already_connected: AlreadyConnected,
  no_webhook: NoWebhook,
  idempotency_conflict: IdempotencyConflict,
  too_large: TooLarge,
  file_quota: FileQuota,
  unsupported_media_type: UnsupportedMediaType,
  no_such_range: NoSuchRange,
  upgrade_required: UpgradeRequired,
  rate_limited: RateLimited,
  too_many_open_tasks: TooManyOpenTasks,
  too_many_codes: TooManyCodes,
  too_many_guests: TooManyGuests,
  network_full: NetworkFull,
  too_many_streams: TooManyStreams,
  too_many_sessions: TooManySessions,
  internal: Internal,
  unavailable: Unavailable,
  storage_full: StorageFull,
} as const;
