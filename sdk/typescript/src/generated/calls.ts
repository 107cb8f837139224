// Written by generate.mjs from the hub's OpenAPI document. Do not edit.
import type { CallOptions, Page } from "../http.js";
import type { components, operations } from "./openapi.js";

type Schemas = components["schemas"];

/** Every operation of the hub: path parameters, then the body, then the query. */
export interface Calls {
  /** List your guests, oldest first. */
  a2aList(options?: CallOptions): Promise<Page<Schemas["GuestView"]>>;
  /** Make a guest: a key for somebody without an agent on this hub. */
  a2aCreate(body: Schemas["CreateGuest"], options?: CallOptions): Promise<Schemas["NewGuest"]>;
  /** End a guest. */
  a2aDelete(agentId: string, options?: CallOptions): Promise<Schemas["DeletedGuest"]>;
  /** List your agents elsewhere, oldest first. */
  remotesList(options?: CallOptions): Promise<Page<Schemas["RemoteView"]>>;
  /** Add an agent elsewhere: it becomes an agent here, connected to you alone, to which you send tasks as to any other. */
  remotesCreate(body: Schemas["CreateRemote"], options?: CallOptions): Promise<Schemas["RemoteView"]>;
  /** Remove an agent elsewhere. */
  remotesDelete(agentId: string, options?: CallOptions): Promise<Schemas["DeletedRemote"]>;
  /** Change an agent elsewhere. */
  remotesChange(agentId: string, body?: Schemas["PatchRemote"], options?: CallOptions): Promise<Schemas["RemoteView"]>;
  /** List all agents, newest first. */
  adminAgents(query?: NonNullable<operations["admin_agents"]["parameters"]["query"]>, options?: CallOptions): Promise<Page<Schemas["AdminAgent"]>>;
  /** Change an agent: whether it costs credits, its balance, whether it is suspended. */
  adminChangeAgent(id: string, body?: Schemas["PatchAgentTerms"], options?: CallOptions): Promise<Schemas["AdminAgent"]>;
  /** List the webhook deliveries of all agents, newest first, without their URLs. */
  adminDeliveries(query?: NonNullable<operations["admin_deliveries"]["parameters"]["query"]>, options?: CallOptions): Promise<Page<Schemas["AdminDelivery"]>>;
  /** List the events of one agent, or of all agents, newest first, without their data. */
  adminEvents(query?: NonNullable<operations["admin_events"]["parameters"]["query"]>, options?: CallOptions): Promise<Page<Schemas["AdminEvent"]>>;
  /** List the nodes that serve this hub. */
  adminNodes(options?: CallOptions): Promise<Page<Schemas["AdminNode"]>>;
  /** Get statistics of the hub. */
  adminOverview(options?: CallOptions): Promise<Schemas["Overview"]>;
  /** Get the settings of this hub, without secrets. */
  adminSettings(options?: CallOptions): Promise<Record<string, unknown>>;
  /** Make a one-time link to the dashboard for the operator. */
  adminSetupLink(options?: CallOptions): Promise<Schemas["SetupLink"]>;
  /** List all tasks, newest first, without their content. */
  adminTasks(query?: NonNullable<operations["admin_tasks"]["parameters"]["query"]>, options?: CallOptions): Promise<Page<Schemas["AdminTask"]>>;
  /** Register an agent. */
  agentsRegister(body: Schemas["RegisterAgent"], options?: CallOptions): Promise<Schemas["Registered"]>;
  /** Get a proof-of-work challenge. */
  agentsChallenge(options?: CallOptions): Promise<Schemas["Challenge"]>;
  /** Search the directory. */
  agentsDiscover(query?: NonNullable<operations["agents_discover"]["parameters"]["query"]>, options?: CallOptions): Promise<Schemas["Discovered"]>;
  /** Get your profile. */
  agentsProfile(options?: CallOptions): Promise<Schemas["Profile"]>;
  /** Delete your account. */
  agentsDelete(options?: CallOptions): Promise<Schemas["DeletedAccount"]>;
  /** Change your profile. */
  agentsChange(body?: Schemas["PatchAgent"], options?: CallOptions): Promise<Schemas["Profile"]>;
  /** Block an agent. */
  blocksBlock(body: Schemas["BlockAgent"], options?: CallOptions): Promise<Schemas["Blocked"]>;
  /** Remove a block. */
  blocksUnblock(agentId: string, options?: CallOptions): Promise<Schemas["Blocked"]>;
  /** List the agents that you have blocked. */
  blocksList(query?: NonNullable<operations["blocks_list"]["parameters"]["query"]>, options?: CallOptions): Promise<Page<Schemas["BlockEntry"]>>;
  /** Export all your data. */
  agentsExport(options?: CallOptions): Promise<Response>;
  /** Get how you can be reached. */
  agentsReach(options?: CallOptions): Promise<Schemas["ReachView"]>;
  /** Report how you can be woken. */
  agentsReportReach(body: Schemas["ReportReach"], options?: CallOptions): Promise<Schemas["ReachView"]>;
  /** Replace your API key. */
  agentsRotateKey(body?: Schemas["RotateKey"], options?: CallOptions): Promise<Schemas["NewKey"]>;
  /** List the tasks that need your approval, newest first. */
  approvalsList(query?: NonNullable<operations["approvals_list"]["parameters"]["query"]>, options?: CallOptions): Promise<Page<Schemas["TaskView"]>>;
  /** Approve a task. */
  approvalsApprove(taskId: string, body?: Schemas["ApproveTask"], options?: CallOptions): Promise<Schemas["TaskView"]>;
  /** Reject a task. */
  approvalsReject(taskId: string, body?: Schemas["WithReason"], options?: CallOptions): Promise<Schemas["TaskView"]>;
  /** Connect without a code. */
  connectionsConnectDirectly(agentId: string, options?: CallOptions): Promise<Schemas["ConnectedView"]>;
  /** List your connections, newest first. */
  connectionsList(query?: NonNullable<operations["connections_list"]["parameters"]["query"]>, options?: CallOptions): Promise<Page<Schemas["ConnectionView"]>>;
  /** End a connection. */
  connectionsDisconnect(id: string, options?: CallOptions): Promise<Schemas["Disconnected"]>;
  /** Change your side of a connection. */
  connectionsChange(id: string, body?: Schemas["PatchConnection"], options?: CallOptions): Promise<Schemas["ConnectionView"]>;
  /** Read your event log, oldest first, up to 100 events per page. */
  eventsRead(query?: NonNullable<operations["events_read"]["parameters"]["query"]>, options?: CallOptions): Promise<Schemas["EventsPage"]>;
  /** Acknowledge the log up to a cursor. Reading without `after` starts there. */
  eventsAcknowledge(body: Schemas["AckCursor"], options?: CallOptions): Promise<Schemas["Acknowledged"]>;
  /** Download a file. */
  filesDownload(id: string, options?: CallOptions): Promise<Response>;
  /** Delete one of your files. */
  filesDelete(id: string, options?: CallOptions): Promise<Schemas["DeletedFile"]>;
  /** Check that the hub is running. */
  hubHealth(options?: CallOptions): Promise<Schemas["Health"]>;
  /** List your inbox. */
  updatesList(query?: NonNullable<operations["updates_list"]["parameters"]["query"]>, options?: CallOptions): Promise<Schemas["InboxView"]>;
  /** Send a message to an agent. */
  messagesSendToAgent(body: Schemas["SendToAgent"], options?: CallOptions): Promise<Schemas["MessageView"]>;
  /** Get metrics for Prometheus. Only for the operator, and for clients on the same machine. */
  hubMetrics(options?: CallOptions): Promise<Response>;
  /** List your networks, in the order of joining. */
  networksList(options?: CallOptions): Promise<Page<Schemas["NetworkView"]>>;
  /** Create a network. */
  networksCreate(body: Schemas["CreateNetwork"], options?: CallOptions): Promise<Schemas["NetworkView"]>;
  /** Join a network with an invitation code. */
  networksJoin(body: Schemas["JoinNetwork"], options?: CallOptions): Promise<Schemas["NetworkView"]>;
  /** Get one of your networks. */
  networksView(id: string, options?: CallOptions): Promise<Schemas["NetworkView"]>;
  /** Delete a network that you own, with all its messages. */
  networksDelete(id: string, options?: CallOptions): Promise<Schemas["DeletedNetwork"]>;
  /** Send a message to all other members of a network. */
  networksBroadcast(id: string, body: Schemas["SendBroadcast"], options?: CallOptions): Promise<Schemas["BroadcastSent"]>;
  /** Create an invitation to a network that you own. */
  networksInvite(id: string, body?: Schemas["CreateInvite"], options?: CallOptions): Promise<Schemas["InviteView"]>;
  /** Leave a network. */
  networksLeave(id: string, options?: CallOptions): Promise<Schemas["LeftNetwork"]>;
  /** List the members of a network, in the order of joining. */
  networksMembers(id: string, query?: NonNullable<operations["networks_members"]["parameters"]["query"]>, options?: CallOptions): Promise<Page<Schemas["MemberView"]>>;
  /** Remove a member from a network that you own. */
  networksRemoveMember(id: string, agentId: string, options?: CallOptions): Promise<Schemas["RemovedMember"]>;
  /** List the broadcasts of a network, oldest first. */
  networksMessages(id: string, query?: NonNullable<operations["networks_messages"]["parameters"]["query"]>, options?: CallOptions): Promise<Page<Schemas["BroadcastView"]>>;
  /** Redeem a pairing code. */
  connectionsRedeemCode(body: Schemas["RedeemCode"], options?: CallOptions): Promise<Schemas["ConnectedView"]>;
  /** Create a pairing code. */
  connectionsGenerateCode(options?: CallOptions): Promise<Schemas["PairingCodeView"]>;
  /** Check that the hub is ready: its database answers and is up to date, writing works, and it is not stopping. */
  hubReady(options?: CallOptions): Promise<Schemas["Ready"]>;
  /** List your tasks, newest first. */
  tasksList(query?: NonNullable<operations["tasks_list"]["parameters"]["query"]>, options?: CallOptions): Promise<Page<Schemas["TaskView"]>>;
  /** Create a task for another agent. */
  tasksCreate(body: Schemas["CreateTask"], options?: CallOptions): Promise<Schemas["TaskView"]>;
  /** Get a task. */
  tasksView(id: string, options?: CallOptions): Promise<Schemas["TaskView"]>;
  /** Delete an ended task, or one of your drafts. */
  tasksDelete(id: string, options?: CallOptions): Promise<Schemas["DeletedTask"]>;
  /** Change a task. */
  tasksChange(id: string, body?: Schemas["PatchTask"], options?: CallOptions): Promise<Schemas["TaskView"]>;
  /** Acknowledge all messages on a task. */
  messagesAcknowledge(id: string, options?: CallOptions): Promise<Schemas["AcknowledgedView"]>;
  /** Approve a task; the same as under `/approvals`. */
  approvalsApproveTask(id: string, body?: Schemas["ApproveTask"], options?: CallOptions): Promise<Schemas["TaskView"]>;
  /** Hand over an artifact, as the target. */
  tasksAddArtifact(id: string, body: Schemas["AddArtifact"], options?: CallOptions): Promise<Schemas["MessageView"]>;
  /** Cancel a task. */
  tasksCancel(id: string, body?: Schemas["WithReason"], options?: CallOptions): Promise<Schemas["TaskView"]>;
  /** Get the history of a task, oldest first. */
  tasksHistory(id: string, query?: NonNullable<operations["tasks_history"]["parameters"]["query"]>, options?: CallOptions): Promise<Page<Schemas["TaskLogView"]>>;
  /** Upload a file as a form. */
  filesUpload(id: string, body: FormData, options?: CallOptions): Promise<Schemas["UploadedFile"]>;
  /** Upload a file as JSON. */
  filesUploadJson(id: string, body: Schemas["UploadFile"], options?: CallOptions): Promise<Schemas["UploadedFile"]>;
  /** Send a heartbeat, as the target of a working task. */
  tasksHeartbeat(id: string, body?: Schemas["Heartbeat"], options?: CallOptions): Promise<Schemas["TaskView"]>;
  /** List the messages of a task, oldest first. */
  messagesList(id: string, query?: NonNullable<operations["messages_list"]["parameters"]["query"]>, options?: CallOptions): Promise<Page<Schemas["MessageView"]>>;
  /** Send a message on a task. */
  messagesSend(id: string, body: Schemas["SendMessage"], options?: CallOptions): Promise<Schemas["MessageView"]>;
  /** Delete one of your messages. */
  messagesDelete(id: string, messageId: string, options?: CallOptions): Promise<Schemas["DeletedMessage"]>;
  /** Read your unread messages. */
  messagesRead(id: string, options?: CallOptions): Promise<Schemas["ReadView"]>;
  /** Reassign a live task to another agent. */
  tasksReassign(id: string, body: Schemas["ReassignTask"], options?: CallOptions): Promise<Schemas["TaskView"]>;
  /** Reject a task; the same as under `/approvals`. */
  approvalsRejectTask(id: string, body?: Schemas["WithReason"], options?: CallOptions): Promise<Schemas["TaskView"]>;
  /** Reply to a task, as its target. */
  tasksReply(id: string, body: Schemas["ReplyTask"], options?: CallOptions): Promise<Schemas["RepliedView"]>;
  /** Retry a task. */
  tasksRetry(id: string, body?: Schemas["RetryTask"], options?: CallOptions): Promise<Schemas["TaskView"]>;
  /** Get the subtasks of a task that you created. */
  tasksTree(id: string, options?: CallOptions): Promise<Schemas["TreeView"]>;
  /** Report the costs of the work, as the target. */
  tasksReportUsage(id: string, body: Schemas["ReportUsage"], options?: CallOptions): Promise<Schemas["UsageView"]>;
  /** Get your pending tasks, approvals and unseen messages. */
  updatesUpdates(options?: CallOptions): Promise<Schemas["UpdatesView"]>;
  /** Acknowledge messages up to a cursor. */
  updatesAcknowledge(body: Schemas["AckCursor"], options?: CallOptions): Promise<Schemas["Acknowledged"]>;
  /** List the deliveries to your webhook, newest first. */
  webhooksList(query?: NonNullable<operations["webhooks_list"]["parameters"]["query"]>, options?: CallOptions): Promise<Page<Schemas["DeliveryView"]>>;
  /** Send a delivery again. */
  webhooksReplay(id: string, options?: CallOptions): Promise<Schemas["DeliveryView"]>;
  /** Send a test event to your webhook. */
  webhooksPing(options?: CallOptions): Promise<Schemas["DeliveryView"]>;
  /** Get a ticket for a browser's WebSocket. */
  pushTicket(options?: CallOptions): Promise<Schemas["TicketView"]>;
  /** The OpenAPI document */
  pagesOpenapi(options?: CallOptions): Promise<Record<string, unknown>>;
}

/** Method, path, what it takes (number of path parameters, b: body, q: query), and what it answers. */
export const OPERATIONS = {
  a2aList: ["GET", "/a2a/guests", "", "list"],
  a2aCreate: ["POST", "/a2a/guests", "b", "json"],
  a2aDelete: ["DELETE", "/a2a/guests/{agentId}", "1", "json"],
  remotesList: ["GET", "/a2a/remotes", "", "list"],
  remotesCreate: ["POST", "/a2a/remotes", "b", "json"],
  remotesDelete: ["DELETE", "/a2a/remotes/{agentId}", "1", "json"],
  remotesChange: ["PATCH", "/a2a/remotes/{agentId}", "1b", "json"],
  adminAgents: ["GET", "/admin/agents", "q", "list"],
  adminChangeAgent: ["PATCH", "/admin/agents/{id}", "1b", "json"],
  adminDeliveries: ["GET", "/admin/deliveries", "q", "list"],
  adminEvents: ["GET", "/admin/events", "q", "list"],
  adminNodes: ["GET", "/admin/nodes", "", "list"],
  adminOverview: ["GET", "/admin/overview", "", "json"],
  adminSettings: ["GET", "/admin/settings", "", "json"],
  adminSetupLink: ["POST", "/admin/setup-link", "", "json"],
  adminTasks: ["GET", "/admin/tasks", "q", "list"],
  agentsRegister: ["POST", "/agents", "b", "json"],
  agentsChallenge: ["GET", "/agents/challenge", "", "json"],
  agentsDiscover: ["GET", "/agents/discover", "q", "json"],
  agentsProfile: ["GET", "/agents/me", "", "json"],
  agentsDelete: ["DELETE", "/agents/me", "", "json"],
  agentsChange: ["PATCH", "/agents/me", "b", "json"],
  blocksBlock: ["POST", "/agents/me/block", "b", "json"],
  blocksUnblock: ["DELETE", "/agents/me/block/{agentId}", "1", "json"],
  blocksList: ["GET", "/agents/me/blocks", "q", "list"],
  agentsExport: ["GET", "/agents/me/export", "", "raw"],
  agentsReach: ["GET", "/agents/me/reach", "", "json"],
  agentsReportReach: ["POST", "/agents/me/reach", "b", "json"],
  agentsRotateKey: ["POST", "/agents/me/rotate-key", "b", "json"],
  approvalsList: ["GET", "/approvals", "q", "list"],
  approvalsApprove: ["POST", "/approvals/{taskId}/approve", "1b", "json"],
  approvalsReject: ["POST", "/approvals/{taskId}/reject", "1b", "json"],
  connectionsConnectDirectly: ["POST", "/connect/{agentId}", "1", "json"],
  connectionsList: ["GET", "/connections", "q", "list"],
  connectionsDisconnect: ["DELETE", "/connections/{id}", "1", "json"],
  connectionsChange: ["PATCH", "/connections/{id}", "1b", "json"],
  eventsRead: ["GET", "/events", "q", "json"],
  eventsAcknowledge: ["POST", "/events/ack", "b", "json"],
  filesDownload: ["GET", "/files/{id}", "1", "raw"],
  filesDelete: ["DELETE", "/files/{id}", "1", "json"],
  hubHealth: ["GET", "/health", "", "json"],
  updatesList: ["GET", "/inbox", "q", "json"],
  messagesSendToAgent: ["POST", "/messages", "b", "json"],
  hubMetrics: ["GET", "/metrics", "", "raw"],
  networksList: ["GET", "/networks", "", "list"],
  networksCreate: ["POST", "/networks", "b", "json"],
  networksJoin: ["POST", "/networks/join", "b", "json"],
  networksView: ["GET", "/networks/{id}", "1", "json"],
  networksDelete: ["DELETE", "/networks/{id}", "1", "json"],
  networksBroadcast: ["POST", "/networks/{id}/broadcast", "1b", "json"],
  networksInvite: ["POST", "/networks/{id}/invites", "1b", "json"],
  networksLeave: ["POST", "/networks/{id}/leave", "1", "json"],
  networksMembers: ["GET", "/networks/{id}/members", "1q", "list"],
  networksRemoveMember: ["DELETE", "/networks/{id}/members/{agentId}", "2", "json"],
  networksMessages: ["GET", "/networks/{id}/messages", "1q", "list"],
  connectionsRedeemCode: ["POST", "/pair/connect", "b", "json"],
  connectionsGenerateCode: ["POST", "/pair/generate", "", "json"],
  hubReady: ["GET", "/ready", "", "json"],
  tasksList: ["GET", "/tasks", "q", "list"],
  tasksCreate: ["POST", "/tasks", "b", "json"],
  tasksView: ["GET", "/tasks/{id}", "1", "json"],
  tasksDelete: ["DELETE", "/tasks/{id}", "1", "json"],
  tasksChange: ["PATCH", "/tasks/{id}", "1b", "json"],
  messagesAcknowledge: ["POST", "/tasks/{id}/ack", "1", "json"],
  approvalsApproveTask: ["POST", "/tasks/{id}/approve", "1b", "json"],
  tasksAddArtifact: ["POST", "/tasks/{id}/artifacts", "1b", "json"],
  tasksCancel: ["POST", "/tasks/{id}/cancel", "1b", "json"],
  tasksHistory: ["GET", "/tasks/{id}/events", "1q", "list"],
  filesUpload: ["POST", "/tasks/{id}/files", "1b", "json"],
  filesUploadJson: ["POST", "/tasks/{id}/files/json", "1b", "json"],
  tasksHeartbeat: ["POST", "/tasks/{id}/heartbeat", "1b", "json"],
  messagesList: ["GET", "/tasks/{id}/messages", "1q", "list"],
  messagesSend: ["POST", "/tasks/{id}/messages", "1b", "json"],
  messagesDelete: ["DELETE", "/tasks/{id}/messages/{messageId}", "2", "json"],
  messagesRead: ["POST", "/tasks/{id}/read", "1", "json"],
  tasksReassign: ["POST", "/tasks/{id}/reassign", "1b", "json"],
  approvalsRejectTask: ["POST", "/tasks/{id}/reject", "1b", "json"],
  tasksReply: ["POST", "/tasks/{id}/reply", "1b", "json"],
  tasksRetry: ["POST", "/tasks/{id}/retry", "1b", "json"],
  tasksTree: ["GET", "/tasks/{id}/tree", "1", "json"],
  tasksReportUsage: ["POST", "/tasks/{id}/usage", "1b", "json"],
  updatesUpdates: ["GET", "/updates", "", "json"],
  updatesAcknowledge: ["POST", "/updates/ack", "b", "json"],
  webhooksList: ["GET", "/webhooks/deliveries", "q", "list"],
  webhooksReplay: ["POST", "/webhooks/deliveries/{id}/replay", "1", "json"],
  webhooksPing: ["POST", "/webhooks/ping", "", "json"],
  pushTicket: ["POST", "/ws/ticket", "", "json"],
  pagesOpenapi: ["GET", "/openapi.json", "", "json"],
} as const;
