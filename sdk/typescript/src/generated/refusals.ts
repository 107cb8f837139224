// Written by generate.mjs from the hub's OpenAPI document. Do not edit.
import { Refused } from "../errors.js";

/** the request has wrong or missing fields; details names them */
export class Validation extends Refused {
  declare readonly code: "validation";
}
/** no task can go from its current status to that one */
export class InvalidTransition extends Refused {
  declare readonly code: "invalid_transition";
}
/** the API key is missing or unknown */
export class Unauthorized extends Refused {
  declare readonly code: "unauthorized";
}
/** tasks for that agent cost credits, and your balance is zero */
export class NoCredits extends Refused {
  declare readonly code: "no_credits";
}
/** the operator has suspended your agent */
export class Suspended extends Refused {
  declare readonly code: "suspended";
}
/** the route needs the operator's token */
export class AdminOnly extends Refused {
  declare readonly code: "admin_only";
}
/** you cannot reach that agent; pair with it first */
export class NotConnected extends Refused {
  declare readonly code: "not_connected";
}
/** that agent accepts connections by pairing code only */
export class NotAutoAccept extends Refused {
  declare readonly code: "not_auto_accept";
}
/** one of the two agents has blocked the other */
export class Blocked extends Refused {
  declare readonly code: "blocked";
}
/** only the other party of the task may do that */
export class RoleNotAllowed extends Refused {
  declare readonly code: "role_not_allowed";
}
/** the initiator completes this task, not the target */
export class ReviewRequired extends Refused {
  declare readonly code: "review_required";
}
/** only the owner of the network may do that */
export class OwnerOnly extends Refused {
  declare readonly code: "owner_only";
}
/** only the sender of a message may delete it */
export class NotSender extends Refused {
  declare readonly code: "not_sender";
}
/** MCP is not served for that Host or Origin */
export class ForeignHost extends Refused {
  declare readonly code: "foreign_host";
}
/** a browser sent the request for a web page of another site */
export class ForeignOrigin extends Refused {
  declare readonly code: "foreign_origin";
}
/** the MCP session belongs to another key */
export class ForeignSession extends Refused {
  declare readonly code: "foreign_session";
}
/** a guest's key is good at the A2A address of its host only */
export class GuestOnly extends Refused {
  declare readonly code: "guest_only";
}
/** it does not exist, or you may not see it */
export class NotFound extends Refused {
  declare readonly code: "not_found";
}
/** the route does not support that method */
export class MethodNotAllowed extends Refused {
  declare readonly code: "method_not_allowed";
}
/** an MCP client must accept application/json and text/event-stream */
export class NotAcceptable extends Refused {
  declare readonly code: "not_acceptable";
}
/** the request body did not arrive in time */
export class Timeout extends Refused {
  declare readonly code: "timeout";
}
/** the task has changed since you read it (412 with If-Match) */
export class Conflict extends Refused {
  declare readonly code: "conflict";
}
/** the task has ended */
export class TaskTerminal extends Refused {
  declare readonly code: "task_terminal";
}
/** the task waits for its target's approval */
export class ApprovalPending extends Refused {
  declare readonly code: "approval_pending";
}
/** the task is a draft */
export class TaskDraft extends Refused {
  declare readonly code: "task_draft";
}
/** the task has not ended */
export class TaskLive extends Refused {
  declare readonly code: "task_live";
}
/** that cannot be done in the task's current status */
export class InvalidState extends Refused {
  declare readonly code: "invalid_state";
}
/** an encrypted task cannot be given to another agent */
export class TaskEncrypted extends Refused {
  declare readonly code: "task_encrypted";
}
/** the task has reached its maximum number of messages */
export class MessageBudget extends Refused {
  declare readonly code: "message_budget";
}
/** the owner cannot leave its network; delete the network instead */
export class OwnerStays extends Refused {
  declare readonly code: "owner_stays";
}
/** you are already a member of that network */
export class AlreadyMember extends Refused {
  declare readonly code: "already_member";
}
/** that signature was already used on this task */
export class SignatureReplayed extends Refused {
  declare readonly code: "signature_replayed";
}
/** that task id is or was already in use */
export class IdTaken extends Refused {
  declare readonly code: "id_taken";
}
/** another of your connections has that alias */
export class AliasTaken extends Refused {
  declare readonly code: "alias_taken";
}
/** an agent has that API key already */
export class KeyTaken extends Refused {
  declare readonly code: "key_taken";
}
/** you are already connected */
export class AlreadyConnected extends Refused {
  declare readonly code: "already_connected";
}
/** you have no active webhook */
export class NoWebhook extends Refused {
  declare readonly code: "no_webhook";
}
/** that Idempotency-Key was used for a different request */
export class IdempotencyConflict extends Refused {
  declare readonly code: "idempotency_conflict";
}
/** the body (413), the address (414) or the headers (431) are too large */
export class TooLarge extends Refused {
  declare readonly code: "too_large";
}
/** your files have reached their maximum size in total */
export class FileQuota extends Refused {
  declare readonly code: "file_quota";
}
/** the body is not plain application/json, or the task does not take files of that type */
export class UnsupportedMediaType extends Refused {
  declare readonly code: "unsupported_media_type";
}
/** the file has no bytes in that range */
export class NoSuchRange extends Refused {
  declare readonly code: "no_such_range";
}
/** the route speaks WebSocket */
export class UpgradeRequired extends Refused {
  declare readonly code: "upgrade_required";
}
/** too many requests; Retry-After says when to try again */
export class RateLimited extends Refused {
  declare readonly code: "rate_limited";
}
/** 10,000 live tasks between two agents */
export class TooManyOpenTasks extends Refused {
  declare readonly code: "too_many_open_tasks";
}
/** 100 open pairing codes */
export class TooManyCodes extends Refused {
  declare readonly code: "too_many_codes";
}
/** 100 guests */
export class TooManyGuests extends Refused {
  declare readonly code: "too_many_guests";
}
/** 100 agents elsewhere */
export class TooManyRemotes extends Refused {
  declare readonly code: "too_many_remotes";
}
/** 1,000 members, 100 open invitations, or 100 networks per agent */
export class NetworkFull extends Refused {
  declare readonly code: "network_full";
}
/** 16 sockets and streams per agent */
export class TooManyStreams extends Refused {
  declare readonly code: "too_many_streams";
}
/** 32 MCP sessions per agent */
export class TooManySessions extends Refused {
  declare readonly code: "too_many_sessions";
}
/** the hub failed; the cause is in its log */
export class Internal extends Refused {
  declare readonly code: "internal";
}
/** the hub is busy or cannot reach its database or files; Retry-After says when to try again */
export class Unavailable extends Refused {
  declare readonly code: "unavailable";
}
/** the hub's disk is full; nothing was saved */
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
  too_many_remotes: TooManyRemotes,
  network_full: NetworkFull,
  too_many_streams: TooManyStreams,
  too_many_sessions: TooManySessions,
  internal: Internal,
  unavailable: Unavailable,
  storage_full: StorageFull,
} as const;
