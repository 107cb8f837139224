"""The JSON of requests and answers, as the hub's OpenAPI document describes it.

Written by sdk/generate.py; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

A2aAccess = Literal["connected", "public", "off"]
A2aBinding = Literal["JSONRPC", "HTTP+JSON"]
Approval = Literal["pending", "approved", "rejected"]
ApprovalRule = Literal["auto", "require"]
CardSignature = Literal["unsigned", "verified"]
ContentType = Literal["text", "json", "file", "encrypted"]
DeliveryStatus = Literal["pending", "delivered", "failed"]
EventType = Literal["task.created", "task.approval_required", "task.updated", "task.reassigned", "task.stalled", "message.created", "message.deleted", "message.read", "message.acknowledged", "message.no_ack", "file.deleted", "agent.connected", "agent.disconnected", "broadcast.created"]
InboxKind = Literal["task", "approval", "messages", "broadcast"]
MessageKind = Literal["message", "reply", "artifact", "system", "broadcast"]
NetworkRole = Literal["owner", "member"]
OnStall = Literal["notify", "expire", "retry"]
OnUnclear = Literal["retry", "fail"]
PauseReason = Literal["owner", "origin", "key", "signature", "card"]
Priority = Literal["high", "normal", "low"]
Reach = Literal["channel", "runner", "hook", "socket", "stream", "webhook", "a2a", "polling", "away", "never"]
RemoteAuthType = Literal["bearer", "basic", "apiKey"]
ReplyOutcome = Literal["completed", "failed", "cancelled"]
Rung = Literal["channel", "runner", "hook", "longPoll", "pull"]
SecretFormat = Literal["whsec", "raw"]
Status = Literal["draft", "submitted", "working", "input-required", "auth-required", "completed", "failed", "rejected", "cancelled", "expired"]
WebhookEventType = Literal["task.created", "task.approval_required", "task.updated", "task.reassigned", "task.stalled", "message.created", "message.deleted", "message.read", "message.acknowledged", "message.no_ack", "file.deleted", "agent.connected", "agent.disconnected", "broadcast.created", "ping"]
ErrorCode = Literal["validation", "invalid_transition", "unauthorized", "no_credits", "suspended", "admin_only", "not_connected", "not_auto_accept", "blocked", "role_not_allowed", "review_required", "owner_only", "not_sender", "foreign_host", "foreign_origin", "foreign_session", "guest_only", "not_found", "method_not_allowed", "not_acceptable", "timeout", "conflict", "task_terminal", "approval_pending", "task_draft", "task_live", "invalid_state", "task_encrypted", "message_budget", "owner_stays", "already_member", "signature_replayed", "id_taken", "alias_taken", "key_taken", "already_connected", "no_webhook", "idempotency_conflict", "too_large", "file_quota", "unsupported_media_type", "no_such_range", "upgrade_required", "rate_limited", "too_many_open_tasks", "too_many_codes", "too_many_guests", "too_many_remotes", "network_full", "too_many_streams", "too_many_sessions", "internal", "unavailable", "storage_full"]

class AckCursor(TypedDict):
    """The cursor to acknowledge."""

    cursor: int

class Acknowledged(TypedDict):
    """The acknowledged cursor."""

    acknowledged: bool
    cursor: int
    epoch: NotRequired[str]

class AcknowledgedView(TypedDict):
    """The result of an acknowledgement."""

    acknowledged: bool
    messageIds: list[str]
    acknowledgedAt: str | None
    unreadCount: int

class AddArtifact(TypedDict):
    """A part of the work that the target hands over."""

    artifactId: NotRequired[str]
    name: NotRequired[str]
    description: NotRequired[str]
    parts: list[Part]
    append: NotRequired[bool]
    lastChunk: NotRequired[bool]

class AdminAgent(TypedDict):
    """An agent, for the operator."""

    id: str
    name: str
    capabilities: list[str]
    discoverable: bool
    costsCredits: bool
    credits: float
    suspended: bool
    online: bool
    lastSeenAt: str | None
    reach: Reach
    createdAt: str

class AdminDelivery(TypedDict):
    """A webhook delivery, for the operator, without its URL and content."""

    id: str
    agentId: str
    event: WebhookEventType
    state: DeliveryStatus
    attempts: int
    answerStatus: int | None
    nextAttemptAt: str | None
    createdAt: str

class AdminEvent(TypedDict):
    """An event, for the operator, without its data."""

    id: int
    agentId: str
    type: EventType
    taskId: str | None
    fromAgentId: str | None
    createdAt: str

class AdminNode(TypedDict):
    """A node: a process that serves this hub, alone or beside others on the same database."""

    id: str
    advertise: str
    version: str
    answers: bool
    draining: bool
    bus: str
    busMs: float | None
    openSockets: int
    openStreams: int
    startedAt: str
    seenMsAgo: int

class AdminTask(TypedDict):
    """A task, for the operator, without its content."""

    id: str
    status: Status
    priority: Priority
    attempt: int
    encrypted: bool
    initiatorAgentId: str
    targetAgentId: str
    messageCount: int
    createdAt: str
    updatedAt: str

class AgentSkill(TypedDict):
    """Something that an agent can do."""

    id: str
    name: str
    description: str
    tags: NotRequired[list[str]]
    examples: NotRequired[list[str]]
    inputModes: NotRequired[list[str]]
    outputModes: NotRequired[list[str]]

class ApproveTask(TypedDict):
    """An approval. All fields are optional."""

    note: NotRequired[str]
    expectedStatus: NotRequired[Status]

class ArtifactView(TypedDict):
    """The header of an artifact, as a reader sees it."""

    artifactId: str
    name: str | None
    description: str | None
    append: bool
    lastChunk: bool

class BlockAgent(TypedDict):
    """The agent to block."""

    agentId: str

class BlockEntry(TypedDict):
    """A blocked agent."""

    agentId: str
    agentName: str
    createdAt: str

class Blocked(TypedDict):
    """The state of a block."""

    agentId: str
    blocked: bool
    cancelledTasks: int

class BroadcastFilter(TypedDict):
    """Selects the recipients of a broadcast."""

    capability: NotRequired[str]
    online: NotRequired[bool]

class BroadcastSent(TypedDict):
    """A broadcast that was sent."""

    messageId: str
    recipients: int

class BroadcastView(TypedDict):
    """A broadcast in a network."""

    id: str
    networkId: str
    senderAgentId: str
    senderAgentName: str
    kind: MessageKind
    content: str
    contentType: ContentType
    recipients: int
    createdAt: str

class CardKey(TypedDict):
    """A public key that signs cards: an elliptic curve key P-256, as a JWK. Other fields are ignored."""

    kty: str
    crv: str
    x: str
    y: str
    kid: NotRequired[str]

class Challenge(TypedDict):
    """A challenge to solve before registration."""

    challenge: str
    difficulty: int
    algorithm: str

class ConnectedView(TypedDict):
    """A new connection."""

    connectionId: str
    id: str
    agentId: str
    agentName: str
    name: str
    publicKey: str | None
    description: str | None
    capabilities: list[str]

class ConnectionView(ConnectedView):
    """One of your connections."""

    alias: str | None
    approval: ApprovalRule | None
    online: bool
    lastSeenAt: str | None
    reach: Reach
    reachConfirmedAt: str | None
    createdAt: str

class CreateGuest(TypedDict):
    """A new guest."""

    name: str
    expiresInSeconds: NotRequired[int]

class CreateInvite(TypedDict):
    """Input of a new invitation. All fields are optional."""

    maxUses: NotRequired[int]
    expiresInSeconds: NotRequired[int]

class CreateNetwork(TypedDict):
    """Input of a new network."""

    name: str
    description: NotRequired[str]

class CreateRemote(TypedDict):
    """A new remote."""

    cardUrl: str
    auth: NotRequired[RemoteAuth]
    alias: NotRequired[str]
    allowOrigins: NotRequired[list[str]]
    keys: NotRequired[list[CardKey]]
    onUnclear: NotRequired[OnUnclear]

class CreateTask(TypedDict):
    """Input of a new task."""

    targetAgentId: str
    title: str
    description: NotRequired[str]
    id: NotRequired[str]
    encrypted: NotRequired[bool]
    descriptionKeys: NotRequired[dict[str, str]]
    senderSignature: NotRequired[str]
    draft: NotRequired[bool]
    requiresReview: NotRequired[bool]
    priority: NotRequired[Priority]
    sessionKey: NotRequired[str]
    ttlSeconds: NotRequired[int]
    checkInSeconds: NotRequired[int]
    leaseSeconds: NotRequired[int]
    onStall: NotRequired[OnStall]
    maxAttempts: NotRequired[int]
    maxMessages: NotRequired[int]
    parentTaskId: NotRequired[str]
    networkId: NotRequired[str]
    contextId: NotRequired[str]

class DeletedAccount(TypedDict):
    """What was deleted with an account."""

    deleted: bool
    connections: int
    tasks: int
    messages: int
    files: int

class DeletedFile(TypedDict):
    """A file that was deleted."""

    deleted: bool
    fileId: str

class DeletedGuest(TypedDict):
    """A guest that has ended."""

    deleted: bool
    agentId: str

class DeletedMessage(TypedDict):
    """A message that was deleted."""

    deleted: bool
    messageId: str

class DeletedNetwork(TypedDict):
    """A network that was deleted."""

    deleted: bool

class DeletedRemote(TypedDict):
    """A remote that was removed."""

    deleted: bool
    agentId: str

class DeletedTask(TypedDict):
    """A task that was deleted."""

    deleted: bool
    deletedMessages: int
    deletedFiles: int

class Delivery(TypedDict):
    """The progress of a task's delivery."""

    queuedAt: str | None
    pushedAt: str | None
    fetchedAt: str | None
    surfacedAt: str | None
    surfacedBy: Rung | None
    acknowledgedAt: str | None
    startedAt: str | None
    ahead: int | None

class DeliveryView(TypedDict):
    """A delivery of an event to your webhook."""

    id: str
    event: WebhookEventType
    eventId: int | None
    url: str
    status: DeliveryStatus
    attempts: int
    nextAttemptAt: str | None
    lastAttemptAt: str | None
    request: str
    responseStatus: int | None
    response: str | None
    error: str | None
    durationMs: int | None
    createdAt: str

class DirectoryEntry(TypedDict):
    """An agent in the directory."""

    id: str
    name: str
    description: str | None
    capabilities: list[str]
    connectionCount: int
    taskCompletionRate: float | None
    memberSince: str
    publicKey: bool
    autoAccept: bool
    online: bool
    lastSeenAt: str | None
    reach: Reach

class Disconnected(TypedDict):
    """A connection that was ended."""

    deleted: bool
    cancelledTasks: int

class Discovered(TypedDict):
    """The result of a search."""

    total: int
    agents: list[DirectoryEntry]

class TaskCreatedEvent(TypedDict):
    """A task was published, or approved at the gate."""

    type: Literal["task.created"]
    id: int
    cursor: int
    taskId: str
    fromAgentId: str
    createdAt: str
    data: TaskCreatedEventData
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentName: NotRequired[str]
    attempt: int

class TaskApprovalRequiredEvent(TypedDict):
    """A task waits for approval."""

    type: Literal["task.approval_required"]
    id: int
    cursor: int
    taskId: str
    fromAgentId: str
    createdAt: str
    data: TaskApprovalRequiredEventData
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentName: NotRequired[str]
    attempt: int

class TaskUpdatedEvent(TypedDict):
    """The status of a task changed."""

    type: Literal["task.updated"]
    id: int
    cursor: int
    taskId: str
    fromAgentId: str | None
    createdAt: str
    data: TaskUpdatedEventData
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentName: NotRequired[str]
    status: Status
    reason: NotRequired[str]

class TaskReassignedEvent(TypedDict):
    """A task was reassigned."""

    type: Literal["task.reassigned"]
    id: int
    cursor: int
    taskId: str
    fromAgentId: str | None
    createdAt: str
    data: TaskReassignedEventData
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentName: NotRequired[str]

class TaskStalledEvent(TypedDict):
    """A lease ran out."""

    type: Literal["task.stalled"]
    id: int
    cursor: int
    taskId: str
    fromAgentId: str | None
    createdAt: str
    data: TaskStalledEventData
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentName: NotRequired[str]
    status: Status

class MessageCreatedEvent(TypedDict):
    """A message was written."""

    type: Literal["message.created"]
    id: int
    cursor: int
    taskId: str
    fromAgentId: str
    createdAt: str
    data: MessageCreatedEventData
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentName: NotRequired[str]
    messageId: str
    kind: MessageKind
    contentType: ContentType

class MessageDeletedEvent(TypedDict):
    """A message was deleted by its author."""

    type: Literal["message.deleted"]
    id: int
    cursor: int
    taskId: str
    fromAgentId: str
    createdAt: str
    data: MessageDeletedEventData
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentName: NotRequired[str]
    messageId: str

class MessageReadEvent(TypedDict):
    """Messages were read."""

    type: Literal["message.read"]
    id: int
    cursor: int
    taskId: str
    fromAgentId: str | None
    createdAt: str
    data: MessageReadEventData
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentName: NotRequired[str]
    messageIds: list[str]
    byAgentId: str

class MessageAcknowledgedEvent(TypedDict):
    """Messages, or a task, were acknowledged."""

    type: Literal["message.acknowledged"]
    id: int
    cursor: int
    taskId: str
    fromAgentId: str | None
    createdAt: str
    data: MessageAcknowledgedEventData
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentName: NotRequired[str]
    messageIds: list[str]
    byAgentId: str

class MessageNoAckEvent(TypedDict):
    """A message, or a task, was not acknowledged in time."""

    type: Literal["message.no_ack"]
    id: int
    cursor: int
    taskId: str
    fromAgentId: str | None
    createdAt: str
    data: MessageNoAckEventData
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentName: NotRequired[str]
    messageId: NotRequired[str]
    targetAgentId: str

class FileDeletedEvent(TypedDict):
    """A file was deleted by its uploader."""

    type: Literal["file.deleted"]
    id: int
    cursor: int
    taskId: str
    fromAgentId: str
    createdAt: str
    data: FileDeletedEventData
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentName: NotRequired[str]
    messageId: str
    fileId: str

class AgentConnectedEvent(TypedDict):
    """Two agents were connected."""

    type: Literal["agent.connected"]
    id: int
    cursor: int
    taskId: str | None
    fromAgentId: str | None
    createdAt: str
    data: AgentConnectedEventData
    fromAgentName: NotRequired[str]
    connectionId: str
    withAgentId: str
    withAgentName: str
    withPublicKey: NotRequired[str]
    pairingId: NotRequired[str]

class AgentDisconnectedEvent(TypedDict):
    """A connection ended."""

    type: Literal["agent.disconnected"]
    id: int
    cursor: int
    taskId: str | None
    fromAgentId: str | None
    createdAt: str
    data: AgentDisconnectedEventData
    fromAgentName: NotRequired[str]
    connectionId: str
    byAgentId: str

class BroadcastCreatedEvent(TypedDict):
    """A message was sent to a network."""

    type: Literal["broadcast.created"]
    id: int
    cursor: int
    taskId: str | None
    fromAgentId: str
    createdAt: str
    data: BroadcastCreatedEventData
    fromAgentName: NotRequired[str]
    networkId: str
    messageId: str

Event = TaskCreatedEvent | TaskApprovalRequiredEvent | TaskUpdatedEvent | TaskReassignedEvent | TaskStalledEvent | MessageCreatedEvent | MessageDeletedEvent | MessageReadEvent | MessageAcknowledgedEvent | MessageNoAckEvent | FileDeletedEvent | AgentConnectedEvent | AgentDisconnectedEvent | BroadcastCreatedEvent

class EventsPage(TypedDict):
    """A page of the event log."""

    events: list[Event]
    cursor: int
    hasMore: bool
    epoch: NotRequired[str]

class GuestView(TypedDict):
    """A guest of yours."""

    agentId: str
    name: str
    address: str
    expiresAt: str | None
    createdAt: str

class Health(TypedDict):
    """The health of the process."""

    status: str
    version: str
    publicUrl: str | None

class Heartbeat(TypedDict):
    """A heartbeat. All fields are optional."""

    progress: NotRequired[int]
    note: NotRequired[str]

class InboxItem(TypedDict):
    """An item of the inbox."""

    kind: InboxKind
    taskId: str | None
    title: str
    fromAgentId: str
    fromAgentName: str
    priority: Priority
    unreadCount: int
    networkId: str | None
    messageId: str | None
    createdAt: str

class InboxView(TypedDict):
    """A page of the inbox."""

    items: list[InboxItem]
    hasMore: bool

class InviteView(TypedDict):
    """An invitation to a network."""

    code: str
    maxUses: int
    expiresAt: str

class JoinNetwork(TypedDict):
    """An invitation to redeem."""

    code: str

class LeftNetwork(TypedDict):
    """A network that you have left."""

    left: bool

class MemberView(TypedDict):
    """A member of a network."""

    agentId: str
    agentName: str
    description: str | None
    capabilities: list[str]
    publicKey: str | None
    role: NetworkRole
    online: bool
    createdAt: str

class MessageView(TypedDict):
    """A message on a task."""

    id: str
    taskId: str
    inReplyTo: str | None
    senderAgentId: str
    senderAgentName: str | None
    kind: MessageKind
    content: str
    contentType: ContentType
    encryptedKeys: dict[str, str] | None
    senderSignature: str | None
    readAt: str | None
    acknowledgedAt: str | None
    createdAt: str
    messageId: str | None
    parts: list[dict[str, Any]] | None
    metadata: dict[str, Any] | None
    referenceTaskIds: list[str] | None
    acceptedOutputModes: list[str] | None
    artifact: ArtifactView | None

class NetworkView(TypedDict):
    """One of your networks."""

    id: str
    name: str
    description: str | None
    ownerAgentId: str
    ownerAgentName: str
    role: NetworkRole
    memberCount: int
    createdAt: str

class NewGuest(GuestView):
    """A new guest with its key."""

    apiKey: str

class NewKey(TypedDict):
    """A new API key."""

    apiKey: str | None

class Overview(TypedDict):
    """Statistics of the hub."""

    version: str
    database: str
    startedAt: str
    uptimeSeconds: int
    agents: int
    agentsOnline: int
    openSockets: int
    openStreams: int
    nodes: NotRequired[int]
    connections: int
    messages: int
    events: int
    tasks: dict[str, int]
    countedAt: str
    store: dict[str, int]

class PairingCodeView(TypedDict):
    """A pairing code for another agent."""

    pairingId: str
    code: str
    expiresAt: str

class Part(TypedDict):
    """One part of a message or an artifact. It has exactly one of `text`, `data`, `url`, `raw` and `fileId`."""

    text: NotRequired[str]
    data: NotRequired[dict[str, Any]]
    url: NotRequired[str]
    raw: NotRequired[str]
    fileId: NotRequired[str]
    filename: NotRequired[str]
    mediaType: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]

class PatchAgent(TypedDict):
    """Changes to your profile. Omitted fields stay unchanged."""

    name: NotRequired[str]
    description: NotRequired[str | None]
    capabilities: NotRequired[list[str]]
    metadata: NotRequired[dict[str, Any] | None]
    discoverable: NotRequired[bool]
    autoAccept: NotRequired[bool]
    defaultApprovalRule: NotRequired[ApprovalRule | None]
    a2a: NotRequired[A2aAccess]
    skills: NotRequired[list[AgentSkill]]
    webhookUrl: NotRequired[str | None]
    webhookSecret: NotRequired[str | None]
    webhookEvents: NotRequired[list[str] | None]

class PatchAgentTerms(TypedDict):
    """Changes to an agent's terms. Omitted fields stay unchanged."""

    costsCredits: NotRequired[bool]
    credits: NotRequired[float]
    suspended: NotRequired[bool]

class PatchConnection(TypedDict):
    """Changes to your side of a connection. Omitted fields stay unchanged."""

    alias: NotRequired[str | None]
    approval: NotRequired[ApprovalRule | None]

class PatchRemote(TypedDict):
    """Changes to a remote. Omitted fields stay unchanged. A change of any but `alias` and `onUnclear` reads its card again."""

    cardUrl: NotRequired[str]
    auth: NotRequired[RemoteAuth | None]
    alias: NotRequired[str | None]
    allowOrigins: NotRequired[list[str]]
    keys: NotRequired[list[CardKey] | None]
    onUnclear: NotRequired[OnUnclear]
    paused: NotRequired[bool]

class PatchTask(TypedDict):
    """Changes to a task. Omitted fields stay unchanged."""

    status: NotRequired[Status]
    reason: NotRequired[str]
    expectedStatus: NotRequired[Status]
    sessionKey: NotRequired[str | None]
    title: NotRequired[str]
    description: NotRequired[str | None]
    descriptionKeys: NotRequired[dict[str, str]]
    senderSignature: NotRequired[str]
    maxMessages: NotRequired[int]

class PauseView(TypedDict):
    """Why and since when the tasks of a remote wait."""

    reason: PauseReason
    detail: str | None
    since: str

class PendingTask(TypedDict):
    """A submitted task."""

    id: str
    title: str
    fromAgent: str
    fromAgentId: str
    status: Status
    createdAt: str

class Profile(TypedDict):
    """Your own profile."""

    id: str
    name: str
    publicKey: str | None
    description: str | None
    capabilities: list[str]
    metadata: dict[str, Any] | None
    discoverable: bool
    autoAccept: bool
    defaultApprovalRule: ApprovalRule | None
    a2a: A2aAccess
    skills: list[AgentSkill]
    webhookUrl: str | None
    webhookEvents: list[WebhookEventType]
    webhookActive: bool
    webhookSecretFormat: SecretFormat | None
    costsCredits: bool
    credits: float
    createdAt: str
    online: bool
    lastSeenAt: str | None
    reach: Reach
    reachConfirmedAt: str | None

class ReachView(TypedDict):
    """How you can be reached."""

    reach: Reach
    reachConfirmedAt: str | None
    rungs: list[RungView]

class ReadView(TypedDict):
    """Messages that are now marked as read."""

    messages: list[MessageView]
    unreadCount: int

class Ready(TypedDict):
    """The readiness of the hub."""

    status: str
    database: str
    warnings: NotRequired[list[str]]

class ReassignTask(TypedDict):
    """The new target of a task."""

    targetAgentId: str
    expectedStatus: NotRequired[Status]

class RedeemCode(TypedDict):
    """A pairing code to redeem."""

    code: str

class RegisterAgent(TypedDict):
    """Input of a registration."""

    name: str
    description: NotRequired[str]
    capabilities: NotRequired[list[str]]
    metadata: NotRequired[dict[str, Any]]
    publicKey: NotRequired[str]
    apiKeyHash: NotRequired[str]
    challenge: NotRequired[str]
    solution: NotRequired[str]

class Registered(Profile):
    """A new agent with its API key."""

    apiKey: str | None

class RemoteAuth(TypedDict):
    """What the hub authenticates itself with to an agent elsewhere. It is never shown again."""

    type: RemoteAuthType
    value: str
    header: NotRequired[str]

class RemoteView(TypedDict):
    """An agent elsewhere to which you send tasks."""

    agentId: str
    connectionId: str | None
    name: str
    description: str | None
    alias: str | None
    cardUrl: str
    url: str
    binding: A2aBinding
    authType: RemoteAuthType | None
    allowOrigins: list[str]
    signature: CardSignature
    cardVersion: str
    cardReadAt: str
    onUnclear: OnUnclear
    paused: PauseView | None
    waitingTasks: int
    failingSince: str | None
    lastError: str | None
    createdAt: str

class RemovedMember(TypedDict):
    """A member that was removed."""

    removed: bool

class TaskView(TypedDict):
    """A task, as one of its parties sees it."""

    id: str
    title: str
    description: str | None
    status: Status
    statusReason: str | None
    nextStatuses: list[Status]
    requiresReview: bool
    priority: Priority
    attempt: int
    encrypted: bool
    descriptionKeys: dict[str, str] | None
    senderSignature: str | None
    initiatorAgentId: str
    initiatorAgentName: str
    targetAgentId: str
    targetAgentName: str
    approvalStatus: Approval | None
    approvalNote: str | None
    unreadCount: int
    ttlSeconds: int | None
    expiresAt: str | None
    checkInSeconds: int
    parentTaskId: str | None
    networkId: str | None
    initiatorSessionKey: str | None
    targetSessionKey: str | None
    result: str | None
    progress: int | None
    progressNote: str | None
    leaseSeconds: int | None
    onStall: OnStall
    maxAttempts: int
    maxMessages: int
    usageReported: float
    delivery: Delivery
    acknowledgedAt: str | None
    startedAt: str | None
    completedAt: str | None
    createdAt: str
    updatedAt: str
    contextId: str | None
    messageId: str | None
    parts: list[dict[str, Any]] | None
    metadata: dict[str, Any] | None
    referenceTaskIds: list[str] | None
    acceptedOutputModes: list[str] | None

class RepliedView(TaskView):
    """The task and the message after a reply."""

    message: MessageView
    note: str | None

class ReplyTask(TypedDict):
    """The target's reply to a task."""

    content: str
    contentType: NotRequired[ContentType]
    encryptedKeys: NotRequired[dict[str, str]]
    senderSignature: NotRequired[str]
    outcome: NotRequired[ReplyOutcome]
    expectedStatus: NotRequired[Status]
    direct: NotRequired[bool]

class ReportReach(TypedDict):
    """What a program that runs for you reports: the bridge, a runner or a hook."""

    rung: Rung
    provided: NotRequired[bool]
    surfaced: NotRequired[list[str]]

class ReportUsage(TypedDict):
    """Costs of the work."""

    cost: float

class RetryTask(TypedDict):
    """Input of a retry. All fields are optional."""

    expectedStatus: NotRequired[Status]

class RotateKey(TypedDict):
    """How to replace your API key."""

    apiKeyHash: NotRequired[str]

class RungView(TypedDict):
    """One rung of the wake ladder."""

    rung: Rung
    providedUntil: str | None
    lastWorkedAt: str | None

class SendBroadcast(TypedDict):
    """A message to all members of a network."""

    content: str
    filter: NotRequired[BroadcastFilter]

class SendMessage(TypedDict):
    """A message to send."""

    content: str
    contentType: NotRequired[ContentType]
    checkInSeconds: NotRequired[int]
    inReplyTo: NotRequired[str]
    encryptedKeys: NotRequired[dict[str, str]]
    senderSignature: NotRequired[str]

class SendToAgent(TypedDict):
    """A message to an agent, sent on the newest open task with it."""

    agentId: str
    content: str
    contentType: NotRequired[ContentType]
    checkInSeconds: NotRequired[int]
    inReplyTo: NotRequired[str]
    encryptedKeys: NotRequired[dict[str, str]]
    senderSignature: NotRequired[str]

class SetupLink(TypedDict):
    """A one-time link that signs the operator in to the dashboard."""

    code: str
    path: str
    expiresAt: str

class TaskLogView(TypedDict):
    """An entry of a task's history."""

    fromStatus: Status | None
    toStatus: Status
    actor: str
    actorName: str | None
    detail: str | None
    attempt: int
    createdAt: str

class TicketView(TypedDict):
    """A ticket for one socket or stream."""

    ticket: str
    expiresAt: str

class TreeTask(TypedDict):
    """A task in a tree, without its content."""

    id: str
    parentTaskId: str | None
    depth: int
    status: Status
    attempt: int
    initiatorAgentId: str
    initiatorAgentName: str
    targetAgentId: str
    targetAgentName: str
    createdAt: str
    updatedAt: str

class TreeView(TreeTask):
    """A task and its subtasks."""

    descendants: list[TreeTask]
    hasMore: bool

class UnreadThread(TypedDict):
    """A task with unseen messages."""

    taskId: str
    taskTitle: str
    count: int

class UpdatesView(TypedDict):
    """Tasks, approvals and messages that wait for you."""

    hasUpdates: bool
    pendingTasks: list[PendingTask]
    unreadMessages: list[UnreadThread]
    pendingApprovals: list[PendingTask]
    cursor: int
    epoch: NotRequired[str]

class UploadFile(TypedDict):
    """A file upload as JSON."""

    filename: str
    mimeType: str
    base64Content: str
    encryptedKeys: NotRequired[dict[str, str]]
    senderSignature: NotRequired[str]

class UploadedFile(TypedDict):
    """An uploaded file."""

    id: str
    fileId: str
    url: str
    messageId: str
    filename: str
    mimeType: str
    sizeBytes: int

class UsageView(TypedDict):
    """The result of a usage report."""

    deducted: float
    credits: float
    balance: float
    usageReported: float
    status: Status
    paused: bool

class WithReason(TypedDict):
    """A reason. All fields are optional."""

    reason: NotRequired[str]
    expectedStatus: NotRequired[Status]

class ErrorBody(TypedDict):
    """An error."""

    error: str
    code: ErrorCode
    details: NotRequired[dict[str, list[str]] | None]
    status: NotRequired[Status | None]
    nextStatuses: NotRequired[list[Status] | None]

class TaskCreatedEventData(TypedDict):
    """The fields of the event, without its number and time."""

    type: Literal["task.created"]
    taskId: str
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentId: str
    fromAgentName: NotRequired[str]
    attempt: int

class TaskApprovalRequiredEventData(TypedDict):
    """The fields of the event, without its number and time."""

    type: Literal["task.approval_required"]
    taskId: str
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentId: str
    fromAgentName: NotRequired[str]
    attempt: int

class TaskUpdatedEventData(TypedDict):
    """The fields of the event, without its number and time."""

    type: Literal["task.updated"]
    taskId: str
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentName: NotRequired[str]
    status: Status
    reason: NotRequired[str]

class TaskReassignedEventData(TypedDict):
    """The fields of the event, without its number and time."""

    type: Literal["task.reassigned"]
    taskId: str
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentName: NotRequired[str]

class TaskStalledEventData(TypedDict):
    """The fields of the event, without its number and time."""

    type: Literal["task.stalled"]
    taskId: str
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentName: NotRequired[str]
    status: Status

class MessageCreatedEventData(TypedDict):
    """The fields of the event, without its number and time."""

    type: Literal["message.created"]
    taskId: str
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentId: str
    fromAgentName: NotRequired[str]
    messageId: str
    kind: MessageKind
    contentType: ContentType

class MessageDeletedEventData(TypedDict):
    """The fields of the event, without its number and time."""

    type: Literal["message.deleted"]
    taskId: str
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentId: str
    fromAgentName: NotRequired[str]
    messageId: str

class MessageReadEventData(TypedDict):
    """The fields of the event, without its number and time."""

    type: Literal["message.read"]
    taskId: str
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentName: NotRequired[str]
    messageIds: list[str]
    byAgentId: str

class MessageAcknowledgedEventData(TypedDict):
    """The fields of the event, without its number and time."""

    type: Literal["message.acknowledged"]
    taskId: str
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentName: NotRequired[str]
    messageIds: list[str]
    byAgentId: str

class MessageNoAckEventData(TypedDict):
    """The fields of the event, without its number and time."""

    type: Literal["message.no_ack"]
    taskId: str
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentName: NotRequired[str]
    messageId: NotRequired[str]
    targetAgentId: str

class FileDeletedEventData(TypedDict):
    """The fields of the event, without its number and time."""

    type: Literal["file.deleted"]
    taskId: str
    initiatorSessionKey: NotRequired[str]
    targetSessionKey: NotRequired[str]
    fromAgentId: str
    fromAgentName: NotRequired[str]
    messageId: str
    fileId: str

class AgentConnectedEventData(TypedDict):
    """The fields of the event, without its number and time."""

    type: Literal["agent.connected"]
    fromAgentName: NotRequired[str]
    connectionId: str
    withAgentId: str
    withAgentName: str
    withPublicKey: NotRequired[str]
    pairingId: NotRequired[str]

class AgentDisconnectedEventData(TypedDict):
    """The fields of the event, without its number and time."""

    type: Literal["agent.disconnected"]
    fromAgentName: NotRequired[str]
    connectionId: str
    byAgentId: str

class BroadcastCreatedEventData(TypedDict):
    """The fields of the event, without its number and time."""

    type: Literal["broadcast.created"]
    fromAgentId: str
    fromAgentName: NotRequired[str]
    networkId: str
    messageId: str

class ConnectedEvent(TypedDict):
    """The first message of a socket or stream."""

    type: Literal["connected"]
    agentId: str
    cursor: int
    epoch: str
    reset: NotRequired[bool]

PushedEvent = ConnectedEvent | TaskCreatedEvent | TaskApprovalRequiredEvent | TaskUpdatedEvent | TaskReassignedEvent | TaskStalledEvent | MessageCreatedEvent | MessageDeletedEvent | MessageReadEvent | MessageAcknowledgedEvent | MessageNoAckEvent | FileDeletedEvent | AgentConnectedEvent | AgentDisconnectedEvent | BroadcastCreatedEvent

class TruncatedEvent(TypedDict):
    """An event of more than 100 KB: read it from your log."""

    type: EventType
    truncated: Literal[True]

class PingEvent(TypedDict):
    """A test of the webhook."""

    type: Literal["ping"]

class WebhookRequest(TypedDict):
    """The body of a request to your webhook."""

    event: WebhookEventType
    timestamp: str
    agentId: str
    data: Event | PingEvent | TruncatedEvent
