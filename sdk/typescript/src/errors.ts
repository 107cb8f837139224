// Everything that this package throws. A refusal of the hub has one class for each error code, in generated/refusals.ts.
import type { ErrorBody, ErrorCode, Status, TaskView } from "./types.js";

export class TandemError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
  /** Whether the call may have taken effect, although it failed. */
  get mayHaveTakenEffect(): boolean {
    return false;
  }
  /** Whether the hub is away, or busy, or somebody in between is: the same call may succeed later. */
  get isTemporary(): boolean {
    return this.mayHaveTakenEffect;
  }
}

/** The hub has answered with an error. */
export class Refused extends TandemError {
  constructor(
    /** The word for programs. A newer hub may say one that is not in the type. */
    readonly code: ErrorCode,
    readonly status: number,
    readonly body: ErrorBody,
    /** Seconds after which to try again, if the hub said so. */
    readonly retryAfter?: number,
    /** The id under which the hub logged the request. */
    readonly requestId?: string,
  ) {
    super(body.error);
  }
  /** The status of the task that the error is about. */
  get taskStatus(): Status | undefined {
    return this.body.status ?? undefined;
  }
  /** The statuses of that task that you may set. */
  get nextStatuses(): Status[] | undefined {
    return this.body.nextStatuses ?? undefined;
  }
  override get mayHaveTakenEffect(): boolean {
    return this.code === "unavailable";
  }
  override get isTemporary(): boolean {
    return this.status === 429 || this.status >= 500;
  }
}

/** No connection to the hub: nothing was sent. */
export class Unreachable extends TandemError {
  override get isTemporary(): boolean {
    return true;
  }
}
/** The connection broke before the answer came. */
export class AnswerLost extends TandemError {
  override get mayHaveTakenEffect(): boolean {
    return true;
  }
}
/** No answer in time. */
export class TimedOut extends AnswerLost {}
/** Something answered that is no hub. */
export class NotAHub extends AnswerLost {}

export type TrustCode =
  | ("key_changed" | "another_agent" | "not_pinned" | "other_party" | "repeated" | "record_full" | "presented_as_plain")
  | ("unreadable" | "no_key" | "no_peer_key" | "unknown_peer" | "too_many_pins" | "same_name" | "pins");
/** What the hub presents is not what was known before, or cannot be verified. Nothing was sent or shown. */
export class Untrusted extends TandemError {
  constructor(
    readonly code: TrustCode,
    message: string,
  ) {
    super(message);
  }
}
/** Sealed content, or a key, that is malformed, forged or not for this reader. */
export class SealError extends Untrusted {
  constructor(
    readonly part: "signature" | "content" | "keys" | "not_for_you" | "closed" | "key" | "envelope",
    message: string,
  ) {
    super("unreadable", message);
  }
}

/** The task has ended without a result. */
export class TaskFailed extends TandemError {
  constructor(
    readonly task: TaskView,
    readonly status: Status = task.status,
    readonly reason: string | null = task.statusReason ?? null,
  ) {
    super(`the task is ${status}${reason ? `: ${reason}` : ""}`);
  }
}
/** The task waits for an answer to this question. */
export class InputRequired extends TandemError {
  constructor(
    readonly task: TaskView,
    readonly question: string,
  ) {
    super(`the task waits for an answer: ${question}`);
  }
}
/** A webhook request that the hub has not sent, or not now. */
export class InvalidWebhook extends TandemError {}
/** A profile that does not exist, cannot be read, or is not private. */
export class ProfileError extends TandemError {}
