"""A typed method for every route of the hub.

Written by sdk/generate.py; do not edit."""

from __future__ import annotations

from typing import Any, Literal, cast

from ._http import Http, Page, quoted
from ._wire import (
    AckCursor,
    Acknowledged,
    AcknowledgedView,
    AddArtifact,
    AdminAgent,
    AdminDelivery,
    AdminEvent,
    AdminNode,
    AdminTask,
    ApproveTask,
    BlockAgent,
    BlockEntry,
    Blocked,
    BroadcastSent,
    BroadcastView,
    Challenge,
    ConnectedView,
    ConnectionView,
    CreateGuest,
    CreateInvite,
    CreateNetwork,
    CreateRemote,
    CreateTask,
    DeletedAccount,
    DeletedFile,
    DeletedGuest,
    DeletedMessage,
    DeletedNetwork,
    DeletedRemote,
    DeletedTask,
    DeliveryView,
    Disconnected,
    Discovered,
    EventsPage,
    GuestView,
    Health,
    Heartbeat,
    InboxView,
    InviteView,
    JoinNetwork,
    LeftNetwork,
    MemberView,
    MessageView,
    NetworkView,
    NewGuest,
    NewKey,
    Overview,
    PairingCodeView,
    PatchAgent,
    PatchAgentTerms,
    PatchConnection,
    PatchRemote,
    PatchTask,
    Profile,
    ReachView,
    ReadView,
    Ready,
    ReassignTask,
    RedeemCode,
    RegisterAgent,
    Registered,
    RemoteView,
    RemovedMember,
    RepliedView,
    ReplyTask,
    ReportReach,
    ReportUsage,
    RetryTask,
    RotateKey,
    SendBroadcast,
    SendMessage,
    SendToAgent,
    SetupLink,
    Status,
    TaskLogView,
    TaskView,
    TicketView,
    TreeView,
    UpdatesView,
    UploadFile,
    UploadedFile,
    UsageView,
    WithReason,
)


class Calls:
    """All routes, by their operation ids."""

    def __init__(self, http: Http) -> None:
        self._http = http

    async def a2a_list(self) -> Page[GuestView]:
        """List your guests, oldest first."""
        return cast("Page[GuestView]", await self._http.page("GET", "/a2a/guests"))

    async def a2a_create(self, body: CreateGuest, *, idempotency_key: str | None = None) -> NewGuest:
        """Make a guest: a key for somebody without an agent on this hub."""
        return cast("NewGuest", await self._http.json("POST", "/a2a/guests", body=body, idempotency_key=idempotency_key))

    async def a2a_delete(self, agent_id: str) -> DeletedGuest:
        """End a guest."""
        return cast("DeletedGuest", await self._http.json("DELETE", f"/a2a/guests/{quoted(agent_id)}"))

    async def remotes_list(self) -> Page[RemoteView]:
        """List your agents elsewhere, oldest first."""
        return cast("Page[RemoteView]", await self._http.page("GET", "/a2a/remotes"))

    async def remotes_create(self, body: CreateRemote, *, idempotency_key: str | None = None) -> RemoteView:
        """Add an agent elsewhere: it becomes an agent here, connected to you alone, to which you send tasks as to any other."""
        return cast("RemoteView", await self._http.json("POST", "/a2a/remotes", body=body, idempotency_key=idempotency_key))

    async def remotes_delete(self, agent_id: str) -> DeletedRemote:
        """Remove an agent elsewhere."""
        return cast("DeletedRemote", await self._http.json("DELETE", f"/a2a/remotes/{quoted(agent_id)}"))

    async def remotes_change(self, agent_id: str, body: PatchRemote) -> RemoteView:
        """Change an agent elsewhere."""
        return cast("RemoteView", await self._http.json("PATCH", f"/a2a/remotes/{quoted(agent_id)}", body=body))

    async def admin_agents(self, *, limit: int | None = None, cursor: str | None = None) -> Page[AdminAgent]:
        """List all agents, newest first."""
        return cast("Page[AdminAgent]", await self._http.page("GET", "/admin/agents", query={"limit": limit, "cursor": cursor}))

    async def admin_change_agent(self, id: str, body: PatchAgentTerms) -> AdminAgent:
        """Change an agent: whether it costs credits, its balance, whether it is suspended."""
        return cast("AdminAgent", await self._http.json("PATCH", f"/admin/agents/{quoted(id)}", body=body))

    async def admin_deliveries(self, *, limit: int | None = None, cursor: str | None = None) -> Page[AdminDelivery]:
        """List the webhook deliveries of all agents, newest first, without their URLs."""
        return cast("Page[AdminDelivery]", await self._http.page("GET", "/admin/deliveries", query={"limit": limit, "cursor": cursor}))

    async def admin_events(self, *, agent_id: str | None = None, limit: int | None = None, cursor: str | None = None) -> Page[AdminEvent]:
        """List the events of one agent, or of all agents, newest first, without their data."""
        return cast("Page[AdminEvent]", await self._http.page("GET", "/admin/events", query={"agentId": agent_id, "limit": limit, "cursor": cursor}))

    async def admin_nodes(self) -> Page[AdminNode]:
        """List the nodes that serve this hub."""
        return cast("Page[AdminNode]", await self._http.page("GET", "/admin/nodes"))

    async def admin_overview(self) -> Overview:
        """Get statistics of the hub."""
        return cast("Overview", await self._http.json("GET", "/admin/overview"))

    async def admin_settings(self) -> dict[str, Any]:
        """Get the settings of this hub, without secrets."""
        return cast("dict[str, Any]", await self._http.json("GET", "/admin/settings"))

    async def admin_setup_link(self, *, idempotency_key: str | None = None) -> SetupLink:
        """Make a one-time link to the dashboard for the operator."""
        return cast("SetupLink", await self._http.json("POST", "/admin/setup-link", idempotency_key=idempotency_key))

    async def admin_tasks(self, *, limit: int | None = None, cursor: str | None = None) -> Page[AdminTask]:
        """List all tasks, newest first, without their content."""
        return cast("Page[AdminTask]", await self._http.page("GET", "/admin/tasks", query={"limit": limit, "cursor": cursor}))

    async def agents_register(self, body: RegisterAgent, *, idempotency_key: str | None = None) -> Registered:
        """Register an agent."""
        return cast("Registered", await self._http.json("POST", "/agents", body=body, idempotency_key=idempotency_key))

    async def agents_challenge(self) -> Challenge:
        """Get a proof-of-work challenge."""
        return cast("Challenge", await self._http.json("GET", "/agents/challenge"))

    async def agents_discover(self, *, capability: str | None = None, q: str | None = None, query: str | None = None, limit: int | None = None, offset: int | None = None) -> Discovered:
        """Search the directory."""
        return cast("Discovered", await self._http.json("GET", "/agents/discover", query={"capability": capability, "q": q, "query": query, "limit": limit, "offset": offset}))

    async def agents_profile(self) -> Profile:
        """Get your profile."""
        return cast("Profile", await self._http.json("GET", "/agents/me"))

    async def agents_delete(self) -> DeletedAccount:
        """Delete your account."""
        return cast("DeletedAccount", await self._http.json("DELETE", "/agents/me"))

    async def agents_change(self, body: PatchAgent) -> Profile:
        """Change your profile."""
        return cast("Profile", await self._http.json("PATCH", "/agents/me", body=body))

    async def blocks_block(self, body: BlockAgent, *, idempotency_key: str | None = None) -> Blocked:
        """Block an agent."""
        return cast("Blocked", await self._http.json("POST", "/agents/me/block", body=body, idempotency_key=idempotency_key))

    async def blocks_unblock(self, agent_id: str) -> Blocked:
        """Remove a block."""
        return cast("Blocked", await self._http.json("DELETE", f"/agents/me/block/{quoted(agent_id)}"))

    async def blocks_list(self, *, limit: int | None = None, cursor: str | None = None) -> Page[BlockEntry]:
        """List the agents that you have blocked."""
        return cast("Page[BlockEntry]", await self._http.page("GET", "/agents/me/blocks", query={"limit": limit, "cursor": cursor}))

    async def agents_export(self) -> bytes:
        """Export all your data."""
        return await self._http.content("GET", "/agents/me/export")

    async def agents_reach(self) -> ReachView:
        """Get how you can be reached."""
        return cast("ReachView", await self._http.json("GET", "/agents/me/reach"))

    async def agents_report_reach(self, body: ReportReach, *, idempotency_key: str | None = None) -> ReachView:
        """Report how you can be woken."""
        return cast("ReachView", await self._http.json("POST", "/agents/me/reach", body=body, idempotency_key=idempotency_key))

    async def agents_rotate_key(self, body: RotateKey | None = None, *, idempotency_key: str | None = None) -> NewKey:
        """Replace your API key."""
        return cast("NewKey", await self._http.json("POST", "/agents/me/rotate-key", body=body, idempotency_key=idempotency_key))

    async def approvals_list(self, *, limit: int | None = None, cursor: str | None = None) -> Page[TaskView]:
        """List the tasks that need your approval, newest first."""
        return cast("Page[TaskView]", await self._http.page("GET", "/approvals", query={"limit": limit, "cursor": cursor}))

    async def approvals_approve(self, task_id: str, body: ApproveTask | None = None, *, idempotency_key: str | None = None) -> TaskView:
        """Approve a task."""
        return cast("TaskView", await self._http.json("POST", f"/approvals/{quoted(task_id)}/approve", body=body, idempotency_key=idempotency_key))

    async def approvals_reject(self, task_id: str, body: WithReason | None = None, *, idempotency_key: str | None = None) -> TaskView:
        """Reject a task."""
        return cast("TaskView", await self._http.json("POST", f"/approvals/{quoted(task_id)}/reject", body=body, idempotency_key=idempotency_key))

    async def connections_connect_directly(self, agent_id: str, *, idempotency_key: str | None = None) -> ConnectedView:
        """Connect without a code."""
        return cast("ConnectedView", await self._http.json("POST", f"/connect/{quoted(agent_id)}", idempotency_key=idempotency_key))

    async def connections_list(self, *, limit: int | None = None, cursor: str | None = None) -> Page[ConnectionView]:
        """List your connections, newest first."""
        return cast("Page[ConnectionView]", await self._http.page("GET", "/connections", query={"limit": limit, "cursor": cursor}))

    async def connections_disconnect(self, id: str) -> Disconnected:
        """End a connection."""
        return cast("Disconnected", await self._http.json("DELETE", f"/connections/{quoted(id)}"))

    async def connections_change(self, id: str, body: PatchConnection) -> ConnectionView:
        """Change your side of a connection."""
        return cast("ConnectionView", await self._http.json("PATCH", f"/connections/{quoted(id)}", body=body))

    async def events_read(self, *, after: int | None = None, wait: int | None = None, epoch: str | None = None) -> EventsPage:
        """Read your event log, oldest first, up to 100 events per page."""
        return cast("EventsPage", await self._http.json("GET", "/events", query={"after": after, "wait": wait, "epoch": epoch}, wait=wait or 0))

    async def events_acknowledge(self, body: AckCursor, *, idempotency_key: str | None = None) -> Acknowledged:
        """Acknowledge the log up to a cursor. Reading without `after` starts there."""
        return cast("Acknowledged", await self._http.json("POST", "/events/ack", body=body, idempotency_key=idempotency_key))

    async def files_download(self, id: str) -> bytes:
        """Download a file."""
        return await self._http.content("GET", f"/files/{quoted(id)}")

    async def files_delete(self, id: str) -> DeletedFile:
        """Delete one of your files."""
        return cast("DeletedFile", await self._http.json("DELETE", f"/files/{quoted(id)}"))

    async def hub_health(self) -> Health:
        """Check that the hub is running."""
        return cast("Health", await self._http.json("GET", "/health"))

    async def updates_list(self, *, limit: int | None = None, cursor: str | None = None) -> InboxView:
        """List your inbox."""
        return cast("InboxView", await self._http.json("GET", "/inbox", query={"limit": limit, "cursor": cursor}))

    async def messages_send_to_agent(self, body: SendToAgent, *, idempotency_key: str | None = None) -> MessageView:
        """Send a message to an agent."""
        return cast("MessageView", await self._http.json("POST", "/messages", body=body, idempotency_key=idempotency_key))

    async def hub_metrics(self) -> bytes:
        """Get metrics for Prometheus. Only for the operator, and for clients on the same machine."""
        return await self._http.content("GET", "/metrics")

    async def networks_list(self) -> Page[NetworkView]:
        """List your networks, in the order of joining."""
        return cast("Page[NetworkView]", await self._http.page("GET", "/networks"))

    async def networks_create(self, body: CreateNetwork, *, idempotency_key: str | None = None) -> NetworkView:
        """Create a network."""
        return cast("NetworkView", await self._http.json("POST", "/networks", body=body, idempotency_key=idempotency_key))

    async def networks_join(self, body: JoinNetwork, *, idempotency_key: str | None = None) -> NetworkView:
        """Join a network with an invitation code."""
        return cast("NetworkView", await self._http.json("POST", "/networks/join", body=body, idempotency_key=idempotency_key))

    async def networks_view(self, id: str) -> NetworkView:
        """Get one of your networks."""
        return cast("NetworkView", await self._http.json("GET", f"/networks/{quoted(id)}"))

    async def networks_delete(self, id: str) -> DeletedNetwork:
        """Delete a network that you own, with all its messages."""
        return cast("DeletedNetwork", await self._http.json("DELETE", f"/networks/{quoted(id)}"))

    async def networks_broadcast(self, id: str, body: SendBroadcast, *, idempotency_key: str | None = None) -> BroadcastSent:
        """Send a message to all other members of a network."""
        return cast("BroadcastSent", await self._http.json("POST", f"/networks/{quoted(id)}/broadcast", body=body, idempotency_key=idempotency_key))

    async def networks_invite(self, id: str, body: CreateInvite | None = None, *, idempotency_key: str | None = None) -> InviteView:
        """Create an invitation to a network that you own."""
        return cast("InviteView", await self._http.json("POST", f"/networks/{quoted(id)}/invites", body=body, idempotency_key=idempotency_key))

    async def networks_leave(self, id: str, *, idempotency_key: str | None = None) -> LeftNetwork:
        """Leave a network."""
        return cast("LeftNetwork", await self._http.json("POST", f"/networks/{quoted(id)}/leave", idempotency_key=idempotency_key))

    async def networks_members(self, id: str, *, limit: int | None = None, cursor: str | None = None) -> Page[MemberView]:
        """List the members of a network, in the order of joining."""
        return cast("Page[MemberView]", await self._http.page("GET", f"/networks/{quoted(id)}/members", query={"limit": limit, "cursor": cursor}))

    async def networks_remove_member(self, id: str, agent_id: str) -> RemovedMember:
        """Remove a member from a network that you own."""
        return cast("RemovedMember", await self._http.json("DELETE", f"/networks/{quoted(id)}/members/{quoted(agent_id)}"))

    async def networks_messages(self, id: str, *, limit: int | None = None, cursor: str | None = None) -> Page[BroadcastView]:
        """List the broadcasts of a network, oldest first."""
        return cast("Page[BroadcastView]", await self._http.page("GET", f"/networks/{quoted(id)}/messages", query={"limit": limit, "cursor": cursor}))

    async def connections_redeem_code(self, body: RedeemCode, *, idempotency_key: str | None = None) -> ConnectedView:
        """Redeem a pairing code."""
        return cast("ConnectedView", await self._http.json("POST", "/pair/connect", body=body, idempotency_key=idempotency_key))

    async def connections_generate_code(self, *, idempotency_key: str | None = None) -> PairingCodeView:
        """Create a pairing code."""
        return cast("PairingCodeView", await self._http.json("POST", "/pair/generate", idempotency_key=idempotency_key))

    async def hub_ready(self) -> Ready:
        """Check that the hub is ready: its database answers and is up to date, writing works, and it is not stopping."""
        return cast("Ready", await self._http.json("GET", "/ready"))

    async def tasks_list(self, *, status: Status | None = None, role: Literal["initiator", "target"] | None = None, with_agent: str | None = None, q: str | None = None, limit: int | None = None, cursor: str | None = None) -> Page[TaskView]:
        """List your tasks, newest first."""
        return cast("Page[TaskView]", await self._http.page("GET", "/tasks", query={"status": status, "role": role, "with": with_agent, "q": q, "limit": limit, "cursor": cursor}))

    async def tasks_create(self, body: CreateTask, *, idempotency_key: str | None = None) -> TaskView:
        """Create a task for another agent."""
        return cast("TaskView", await self._http.json("POST", "/tasks", body=body, idempotency_key=idempotency_key))

    async def tasks_view(self, id: str) -> TaskView:
        """Get a task."""
        return cast("TaskView", await self._http.json("GET", f"/tasks/{quoted(id)}"))

    async def tasks_delete(self, id: str) -> DeletedTask:
        """Delete an ended task, or one of your drafts."""
        return cast("DeletedTask", await self._http.json("DELETE", f"/tasks/{quoted(id)}"))

    async def tasks_change(self, id: str, body: PatchTask, *, if_match: str | None = None) -> TaskView:
        """Change a task."""
        return cast("TaskView", await self._http.json("PATCH", f"/tasks/{quoted(id)}", body=body, if_match=if_match))

    async def messages_acknowledge(self, id: str, *, idempotency_key: str | None = None) -> AcknowledgedView:
        """Acknowledge all messages on a task."""
        return cast("AcknowledgedView", await self._http.json("POST", f"/tasks/{quoted(id)}/ack", idempotency_key=idempotency_key))

    async def approvals_approve_task(self, id: str, body: ApproveTask | None = None, *, idempotency_key: str | None = None) -> TaskView:
        """Approve a task; the same as under `/approvals`."""
        return cast("TaskView", await self._http.json("POST", f"/tasks/{quoted(id)}/approve", body=body, idempotency_key=idempotency_key))

    async def tasks_add_artifact(self, id: str, body: AddArtifact, *, idempotency_key: str | None = None) -> MessageView:
        """Hand over an artifact, as the target."""
        return cast("MessageView", await self._http.json("POST", f"/tasks/{quoted(id)}/artifacts", body=body, idempotency_key=idempotency_key))

    async def tasks_cancel(self, id: str, body: WithReason | None = None, *, idempotency_key: str | None = None) -> TaskView:
        """Cancel a task."""
        return cast("TaskView", await self._http.json("POST", f"/tasks/{quoted(id)}/cancel", body=body, idempotency_key=idempotency_key))

    async def tasks_history(self, id: str, *, limit: int | None = None, cursor: str | None = None) -> Page[TaskLogView]:
        """Get the history of a task, oldest first."""
        return cast("Page[TaskLogView]", await self._http.page("GET", f"/tasks/{quoted(id)}/events", query={"limit": limit, "cursor": cursor}))

    async def files_upload(self, id: str, file: tuple[str, bytes, str], *, idempotency_key: str | None = None) -> UploadedFile:
        """Upload a file as a form."""
        return cast("UploadedFile", await self._http.json("POST", f"/tasks/{quoted(id)}/files", file=file, idempotency_key=idempotency_key))

    async def files_upload_json(self, id: str, body: UploadFile, *, idempotency_key: str | None = None) -> UploadedFile:
        """Upload a file as JSON."""
        return cast("UploadedFile", await self._http.json("POST", f"/tasks/{quoted(id)}/files/json", body=body, idempotency_key=idempotency_key))

    async def tasks_heartbeat(self, id: str, body: Heartbeat | None = None, *, idempotency_key: str | None = None) -> TaskView:
        """Send a heartbeat, as the target of a working task."""
        return cast("TaskView", await self._http.json("POST", f"/tasks/{quoted(id)}/heartbeat", body=body, idempotency_key=idempotency_key))

    async def messages_list(self, id: str, *, limit: int | None = None, cursor: str | None = None) -> Page[MessageView]:
        """List the messages of a task, oldest first."""
        return cast("Page[MessageView]", await self._http.page("GET", f"/tasks/{quoted(id)}/messages", query={"limit": limit, "cursor": cursor}))

    async def messages_send(self, id: str, body: SendMessage, *, idempotency_key: str | None = None) -> MessageView:
        """Send a message on a task."""
        return cast("MessageView", await self._http.json("POST", f"/tasks/{quoted(id)}/messages", body=body, idempotency_key=idempotency_key))

    async def messages_delete(self, id: str, message_id: str) -> DeletedMessage:
        """Delete one of your messages."""
        return cast("DeletedMessage", await self._http.json("DELETE", f"/tasks/{quoted(id)}/messages/{quoted(message_id)}"))

    async def messages_read(self, id: str, *, idempotency_key: str | None = None) -> ReadView:
        """Read your unread messages."""
        return cast("ReadView", await self._http.json("POST", f"/tasks/{quoted(id)}/read", idempotency_key=idempotency_key))

    async def tasks_reassign(self, id: str, body: ReassignTask, *, idempotency_key: str | None = None) -> TaskView:
        """Reassign a live task to another agent."""
        return cast("TaskView", await self._http.json("POST", f"/tasks/{quoted(id)}/reassign", body=body, idempotency_key=idempotency_key))

    async def approvals_reject_task(self, id: str, body: WithReason | None = None, *, idempotency_key: str | None = None) -> TaskView:
        """Reject a task; the same as under `/approvals`."""
        return cast("TaskView", await self._http.json("POST", f"/tasks/{quoted(id)}/reject", body=body, idempotency_key=idempotency_key))

    async def tasks_reply(self, id: str, body: ReplyTask, *, idempotency_key: str | None = None) -> RepliedView:
        """Reply to a task, as its target."""
        return cast("RepliedView", await self._http.json("POST", f"/tasks/{quoted(id)}/reply", body=body, idempotency_key=idempotency_key))

    async def tasks_retry(self, id: str, body: RetryTask | None = None, *, idempotency_key: str | None = None) -> TaskView:
        """Retry a task."""
        return cast("TaskView", await self._http.json("POST", f"/tasks/{quoted(id)}/retry", body=body, idempotency_key=idempotency_key))

    async def tasks_tree(self, id: str) -> TreeView:
        """Get the subtasks of a task that you created."""
        return cast("TreeView", await self._http.json("GET", f"/tasks/{quoted(id)}/tree"))

    async def tasks_report_usage(self, id: str, body: ReportUsage, *, idempotency_key: str | None = None) -> UsageView:
        """Report the costs of the work, as the target."""
        return cast("UsageView", await self._http.json("POST", f"/tasks/{quoted(id)}/usage", body=body, idempotency_key=idempotency_key))

    async def updates_updates(self) -> UpdatesView:
        """Get your pending tasks, approvals and unseen messages."""
        return cast("UpdatesView", await self._http.json("GET", "/updates"))

    async def updates_acknowledge(self, body: AckCursor, *, idempotency_key: str | None = None) -> Acknowledged:
        """Acknowledge messages up to a cursor."""
        return cast("Acknowledged", await self._http.json("POST", "/updates/ack", body=body, idempotency_key=idempotency_key))

    async def webhooks_list(self, *, limit: int | None = None, cursor: str | None = None) -> Page[DeliveryView]:
        """List the deliveries to your webhook, newest first."""
        return cast("Page[DeliveryView]", await self._http.page("GET", "/webhooks/deliveries", query={"limit": limit, "cursor": cursor}))

    async def webhooks_replay(self, id: str, *, idempotency_key: str | None = None) -> DeliveryView:
        """Send a delivery again."""
        return cast("DeliveryView", await self._http.json("POST", f"/webhooks/deliveries/{quoted(id)}/replay", idempotency_key=idempotency_key))

    async def webhooks_ping(self, *, idempotency_key: str | None = None) -> DeliveryView:
        """Send a test event to your webhook."""
        return cast("DeliveryView", await self._http.json("POST", "/webhooks/ping", idempotency_key=idempotency_key))

    async def push_ticket(self, *, idempotency_key: str | None = None) -> TicketView:
        """Get a ticket for a browser's WebSocket."""
        return cast("TicketView", await self._http.json("POST", "/ws/ticket", idempotency_key=idempotency_key))

    async def pages_openapi(self) -> dict[str, Any]:
        """The OpenAPI document"""
        return cast("dict[str, Any]", await self._http.json("GET", "/openapi.json"))
