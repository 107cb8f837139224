// Written by generate.mjs from the hub's OpenAPI document. Do not edit.
import { Refused } from "../errors.js";

export class Validation extends Refused<"validation"> {}
export class InvalidTransition extends Refused<"invalid_transition"> {}
export class Unauthorized extends Refused<"unauthorized"> {}
export class NoCredits extends Refused<"no_credits"> {}
export class Suspended extends Refused<"suspended"> {}
export class AdminOnly extends Refused<"admin_only"> {}
export class NotConnected extends Refused<"not_connected"> {}
export class NotAutoAccept extends Refused<"not_auto_accept"> {}
export class Blocked extends Refused<"blocked"> {}
export class RoleNotAllowed extends Refused<"role_not_allowed"> {}
export class ReviewRequired extends Refused<"review_required"> {}
export class OwnerOnly extends Refused<"owner_only"> {}
export class NotSender extends Refused<"not_sender"> {}
export class ForeignHost extends Refused<"foreign_host"> {}
export class ForeignOrigin extends Refused<"foreign_origin"> {}
export class ForeignSession extends Refused<"foreign_session"> {}
export class NotFound extends Refused<"not_found"> {}
export class MethodNotAllowed extends Refused<"method_not_allowed"> {}
export class NotAcceptable extends Refused<"not_acceptable"> {}
export class Timeout extends Refused<"timeout"> {}
export class Conflict extends Refused<"conflict"> {}
export class TaskTerminal extends Refused<"task_terminal"> {}
export class ApprovalPending extends Refused<"approval_pending"> {}
export class TaskDraft extends Refused<"task_draft"> {}
export class TaskLive extends Refused<"task_live"> {}
export class InvalidState extends Refused<"invalid_state"> {}
export class TaskEncrypted extends Refused<"task_encrypted"> {}
export class MessageBudget extends Refused<"message_budget"> {}
export class OwnerStays extends Refused<"owner_stays"> {}
export class AlreadyMember extends Refused<"already_member"> {}
export class SignatureReplayed extends Refused<"signature_replayed"> {}
export class IdTaken extends Refused<"id_taken"> {}
export class AliasTaken extends Refused<"alias_taken"> {}
export class KeyTaken extends Refused<"key_taken"> {}
export class AlreadyConnected extends Refused<"already_connected"> {}
export class NoWebhook extends Refused<"no_webhook"> {}
export class IdempotencyConflict extends Refused<"idempotency_conflict"> {}
export class TooLarge extends Refused<"too_large"> {}
export class FileQuota extends Refused<"file_quota"> {}
export class UnsupportedMediaType extends Refused<"unsupported_media_type"> {}
export class NoSuchRange extends Refused<"no_such_range"> {}
export class UpgradeRequired extends Refused<"upgrade_required"> {}
export class RateLimited extends Refused<"rate_limited"> {}
export class TooManyOpenTasks extends Refused<"too_many_open_tasks"> {}
export class TooManyCodes extends Refused<"too_many_codes"> {}
export class NetworkFull extends Refused<"network_full"> {}
export class TooManyStreams extends Refused<"too_many_streams"> {}
export class TooManySessions extends Refused<"too_many_sessions"> {}
export class Internal extends Refused<"internal"> {}
export class Unavailable extends Refused<"unavailable"> {}
export class StorageFull extends Refused<"storage_full"> {}

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
  network_full: NetworkFull,
  too_many_streams: TooManyStreams,
  too_many_sessions: TooManySessions,
  internal: Internal,
  unavailable: Unavailable,
  storage_full: StorageFull,
} as const;
