//! For each route and tool that writes: a state in which it would succeed, and the request.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::{begin_session, initialize};
use crate::files::upload;
use crate::harness::{ADMIN_TOKEN, Agent, Harness};
use crate::remotes::Elsewhere;

/// Two agents that are connected, and whoever else is needed.
pub struct Scene<'a> {
    hub: &'a Harness,
    pub agents: Vec<Agent>,
    marker: String,
    receiver: SocketAddr,
    /// Whose key the request ends.
    pub ending: Option<Agent>,
}

/// Who sends a request.
#[derive(Debug, Clone, Copy)]
pub enum By {
    /// The agent that made the scene's task.
    Ada,
    /// The agent that the task is for.
    Bob,
    Admin,
    Nobody,
}

impl By {
    pub fn key(self, scene: &Scene<'_>) -> Option<String> {
        match self {
            Self::Ada => Some(scene.agents[0].key.clone()),
            Self::Bob => Some(scene.agents[1].key.clone()),
            Self::Admin => Some(ADMIN_TOKEN.into()),
            Self::Nobody => None,
        }
    }
}

/// What a request carries.
#[derive(Debug, Clone)]
pub enum Sent {
    Nothing,
    Json(Value),
    /// A form with a file of so many bytes.
    Form(usize),
}

impl Sent {
    pub fn bytes(self, headers: &mut Vec<(String, String)>) -> Option<Vec<u8>> {
        let mut content = |kind: &str| headers.push(("content-type".into(), kind.into()));
        match self {
            Self::Nothing => None,
            Self::Json(body) => {
                content("application/json");
                Some(body.to_string().into_bytes())
            }
            Self::Form(size) => {
                content("multipart/form-data; boundary=XX");
                let mut body =
                    b"--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\
                    Content-Type: text/plain\r\n\r\n"
                        .to_vec();
                body.resize(body.len() + size, b'x');
                body.extend_from_slice(b"\r\n--XX--\r\n");
                Some(body)
            }
        }
    }
}

/// A request; a parameter whose name begins with `=` is a header.
pub struct Request {
    pub by: By,
    pub route: String,
    pub params: Vec<(&'static str, String)>,
    pub sent: Sent,
}

/// What an operation can do that should be tried apart.
pub fn variants(operation: &str) -> &'static [&'static str] {
    match operation {
        "PATCH /agents/me" => &["profile", "set webhook", "clear webhook"],
        "update_webhook" => &["set webhook", "clear webhook"],
        // A large body goes to the disk before it is parsed.
        "POST /tasks/{id}/files/json" | "upload_file" => &["small", "large"],
        _ => &[""],
    }
}

impl<'a> Scene<'a> {
    pub async fn new(hub: &'a Harness, marker: String, receiver: SocketAddr) -> Self {
        let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
        Self { hub, agents: vec![ada, bob], marker, receiver, ending: None }
    }

    fn ada(&self) -> Agent {
        self.agents[0].clone()
    }

    fn bob(&self) -> Agent {
        self.agents[1].clone()
    }

    async fn carol(&mut self) -> Agent {
        let carol = self.hub.agent("Carol").await;
        self.agents.push(carol.clone());
        carol
    }

    async fn pair(&self) -> String {
        self.ada().pair_with(&self.bob()).await
    }

    async fn task(&self) -> String {
        self.pair().await;
        self.ada().task(&self.bob()).await
    }

    /// A task on which both have written, Ada last, and Bob has sent a file: the task, Ada's message and the file.
    async fn thread(&self) -> (String, String, String) {
        let task = self.task().await;
        let path = format!("/tasks/{task}/messages");
        let file =
            self.bob().post(&format!("/tasks/{task}/files/json"), upload("a.txt", "text/plain", b"x")).await;
        self.bob().post(&path, json!({ "content": "Which one?" })).await.ok(201);
        let message = self.ada().post(&path, json!({ "content": "This one." })).await;
        (task, message.text("id"), file.text("id"))
    }

    /// A task at Bob's gate.
    async fn held(&self) -> String {
        self.bob().patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
        self.task().await
    }

    /// Ada's network, its invitation, and Bob in it if he should be.
    async fn network(&self, joined: bool) -> (String, String) {
        let network = self.ada().post("/networks", json!({ "name": "Crew" })).await.text("id");
        let code = self.ada().post_empty(&format!("/networks/{network}/invites")).await.text("code");
        if joined {
            self.bob().post("/networks/join", json!({ "code": code })).await.ok(201);
        }
        (network, code)
    }

    /// Where an agent's events are received.
    fn webhook(&self, agent: &Agent) -> Value {
        json!({ "webhookUrl": format!("http://{}/{}", self.receiver, agent.id), "webhookSecret": "sixteen bytes or more" })
    }

    async fn with_webhook(&self) -> Agent {
        let bob = self.bob();
        bob.patch("/agents/me", self.webhook(&bob)).await.ok(200);
        bob
    }
}

/// A request of a route.
pub async fn route(scene: &mut Scene<'_>, route: &str, variant: &str) -> Option<Request> {
    let request = |by, params: &[(&'static str, &String)], sent| {
        let params = params.iter().map(|(name, value)| (*name, (*value).clone())).collect();
        Some(Request { by, route: route.to_owned(), params, sent })
    };
    let (ada, bob) = (scene.ada(), scene.bob());
    if let Some(made) = on_task(scene, route, variant).await {
        let (by, params, sent) = made;
        return request(by, &params.iter().map(|(name, value)| (*name, value)).collect::<Vec<_>>(), sent);
    }
    match route {
        "PATCH /admin/agents/{id}" => {
            scene.ending = Some(bob.clone());
            request(By::Admin, &[("id", &bob.id)], Sent::Json(json!({ "suspended": true })))
        }
        "POST /admin/setup-link" => request(By::Admin, &[], Sent::Nothing),
        "POST /agents" => request(By::Nobody, &[], Sent::Json(json!({ "name": scene.marker }))),
        "DELETE /agents/me" => {
            scene.thread().await;
            scene.network(true).await;
            scene.ending = Some(bob);
            request(By::Bob, &[], Sent::Nothing)
        }
        "PATCH /agents/me" => {
            let change = match variant {
                "profile" => {
                    json!({ "description": scene.marker, "capabilities": ["reading"], "discoverable": true })
                }
                "set webhook" => scene.webhook(&bob),
                _ => {
                    scene.with_webhook().await;
                    json!({ "webhookUrl": null })
                }
            };
            scene.pair().await;
            request(By::Bob, &[], Sent::Json(change))
        }
        "POST /agents/me/rotate-key" => {
            scene.ending = Some(bob);
            request(By::Bob, &[], Sent::Nothing)
        }
        "POST /agents/me/reach" => {
            let task = scene.task().await;
            let report = json!({ "rung": "runner", "provided": true, "surfaced": [task] });
            request(By::Bob, &[], Sent::Json(report))
        }
        "POST /agents/me/block" => {
            scene.task().await;
            request(By::Bob, &[], Sent::Json(json!({ "agentId": ada.id })))
        }
        "DELETE /agents/me/block/{agentId}" => {
            bob.post("/agents/me/block", json!({ "agentId": ada.id })).await.ok(200);
            request(By::Bob, &[("agentId", &ada.id)], Sent::Nothing)
        }
        "POST /a2a/guests" => request(By::Bob, &[], Sent::Json(json!({ "name": "Guest" }))),
        "DELETE /a2a/guests/{agentId}" => {
            let guest = bob.post("/a2a/guests", json!({ "name": "Guest" })).await.text("agentId");
            request(By::Bob, &[("agentId", &guest)], Sent::Nothing)
        }
        "POST /a2a/remotes" => {
            let remote = Elsewhere::start().await;
            request(By::Bob, &[], Sent::Json(json!({ "cardUrl": remote.card_url() })))
        }
        "PATCH /a2a/remotes/{agentId}" => {
            let made = Elsewhere::start().await.add(&bob, json!({})).await;
            request(By::Bob, &[("agentId", &made)], Sent::Json(json!({ "alias": "far" })))
        }
        "DELETE /a2a/remotes/{agentId}" => {
            let made = Elsewhere::start().await.add(&bob, json!({})).await;
            request(By::Bob, &[("agentId", &made)], Sent::Nothing)
        }
        "POST /connect/{agentId}" => {
            ada.patch("/agents/me", json!({ "autoAccept": true, "discoverable": true })).await.ok(200);
            request(By::Bob, &[("agentId", &ada.id)], Sent::Nothing)
        }
        "DELETE /connections/{id}" => {
            let connection = scene.pair().await;
            ada.task(&bob).await;
            request(By::Bob, &[("id", &connection)], Sent::Nothing)
        }
        "PATCH /connections/{id}" => {
            let connection = scene.pair().await;
            request(By::Bob, &[("id", &connection)], Sent::Json(json!({ "alias": "boss" })))
        }
        "POST /pair/generate" => request(By::Bob, &[], Sent::Nothing),
        "POST /pair/connect" => {
            let code = ada.post_empty("/pair/generate").await.text("code");
            request(By::Bob, &[], Sent::Json(json!({ "code": code })))
        }
        "POST /events/ack" | "POST /updates/ack" => {
            scene.task().await;
            request(By::Bob, &[], Sent::Json(json!({ "cursor": 1 })))
        }
        "POST /webhooks/ping" => {
            scene.with_webhook().await;
            request(By::Bob, &[], Sent::Nothing)
        }
        "POST /webhooks/deliveries/{id}/replay" => {
            scene.with_webhook().await;
            let delivery = bob.post_empty("/webhooks/ping").await.text("id");
            crate::harness::eventually(async || {
                let known = bob.get("/webhooks/deliveries").await.ok(200);
                (known[0]["status"] == "delivered").then_some(())
            })
            .await;
            request(By::Bob, &[("id", &delivery)], Sent::Nothing)
        }
        "POST /ws/ticket" => request(By::Bob, &[], Sent::Nothing),
        "POST /mcp" => {
            let accept = "application/json, text/event-stream".to_owned();
            request(By::Bob, &[("=accept", &accept)], Sent::Json(initialize()))
        }
        "DELETE /mcp" => {
            let session = begin_session(&bob).await;
            request(By::Bob, &[("=mcp-session-id", &session)], Sent::Nothing)
        }
        _ => on_network(scene, route).await,
    }
}

type Made = (By, Vec<(&'static str, String)>, Sent);

/// The routes below `/networks`.
async fn on_network(scene: &mut Scene<'_>, route: &str) -> Option<Request> {
    let joined = !matches!(route, "POST /networks/join" | "POST /networks");
    let (network, code) = match route {
        "POST /networks" => Default::default(),
        _ if route.contains(" /networks/") => scene.network(joined).await,
        _ => return None,
    };
    let (by, sent) = match route {
        "POST /networks" => (By::Bob, Sent::Json(json!({ "name": scene.marker }))),
        "POST /networks/join" => (By::Bob, Sent::Json(json!({ "code": code }))),
        "DELETE /networks/{id}" | "DELETE /networks/{id}/members/{agentId}" => (By::Ada, Sent::Nothing),
        "POST /networks/{id}/broadcast" => (By::Ada, Sent::Json(json!({ "content": "Hear!" }))),
        "POST /networks/{id}/invites" => (By::Ada, Sent::Json(json!({ "maxUses": 2 }))),
        "POST /networks/{id}/leave" => (By::Bob, Sent::Nothing),
        _ => return None,
    };
    let params = vec![("id", network), ("agentId", scene.bob().id)];
    Some(Request { by, route: route.to_owned(), params, sent })
}

/// The routes about a task.
async fn on_task(scene: &mut Scene<'_>, route: &str, variant: &str) -> Option<Made> {
    let (ada, bob) = (scene.ada(), scene.bob());
    let text = Sent::Json(json!({ "content": scene.marker }));
    let working = async |scene: &Scene<'_>| {
        let task = scene.task().await;
        bob.set(&task, "working").await.ok(200);
        task
    };
    let (by, task, sent) = match route {
        "POST /tasks" => {
            scene.pair().await;
            let task = json!({ "targetAgentId": bob.id, "title": scene.marker });
            return Some((By::Ada, Vec::new(), Sent::Json(task)));
        }
        "POST /messages" => {
            scene.task().await;
            let message = json!({ "agentId": bob.id, "content": scene.marker });
            return Some((By::Ada, Vec::new(), Sent::Json(message)));
        }
        "DELETE /files/{id}" => return Some((By::Bob, vec![("id", scene.thread().await.2)], Sent::Nothing)),
        "DELETE /tasks/{id}/messages/{messageId}" => {
            let (task, message, _) = scene.thread().await;
            return Some((By::Ada, vec![("id", task), ("messageId", message)], Sent::Nothing));
        }
        "POST /approvals/{taskId}/approve" => {
            return Some((By::Bob, vec![("taskId", scene.held().await)], Sent::Nothing));
        }
        "POST /approvals/{taskId}/reject" => {
            let reason = Sent::Json(json!({ "reason": "no" }));
            return Some((By::Bob, vec![("taskId", scene.held().await)], reason));
        }
        "POST /tasks/{id}/approve" => (By::Bob, scene.held().await, Sent::Nothing),
        "POST /tasks/{id}/reject" => (By::Bob, scene.held().await, Sent::Json(json!({ "reason": "no" }))),
        "PATCH /tasks/{id}" => (By::Bob, scene.task().await, Sent::Json(json!({ "status": "working" }))),
        "POST /tasks/{id}/cancel" => (By::Ada, scene.task().await, Sent::Json(json!({ "reason": "enough" }))),
        "DELETE /tasks/{id}" => {
            let task = scene.thread().await.0;
            ada.set(&task, "cancelled").await.ok(200);
            (By::Ada, task, Sent::Nothing)
        }
        "POST /tasks/{id}/retry" => {
            let task = scene.task().await;
            ada.set(&task, "cancelled").await.ok(200);
            (By::Ada, task, Sent::Nothing)
        }
        "POST /tasks/{id}/reassign" => {
            let task = scene.thread().await.0;
            let carol = scene.carol().await;
            ada.pair_with(&carol).await;
            (By::Ada, task, Sent::Json(json!({ "targetAgentId": carol.id })))
        }
        "POST /tasks/{id}/ack" | "POST /tasks/{id}/read" => (By::Bob, scene.thread().await.0, Sent::Nothing),
        "POST /tasks/{id}/heartbeat" => {
            (By::Bob, working(scene).await, Sent::Json(json!({ "progress": 50 })))
        }
        "POST /tasks/{id}/usage" => (By::Bob, working(scene).await, Sent::Json(json!({ "cost": 0.01 }))),
        "POST /tasks/{id}/reply" => (By::Bob, working(scene).await, text),
        "POST /tasks/{id}/artifacts" => {
            let parts = json!([{ "text": "x" }, { "raw": "eA==", "mediaType": "text/plain" }]);
            (By::Bob, scene.task().await, Sent::Json(json!({ "parts": parts })))
        }
        "POST /tasks/{id}/messages" => (By::Bob, scene.task().await, text),
        "POST /tasks/{id}/files" => (By::Bob, scene.task().await, Sent::Form(600_000)),
        "POST /tasks/{id}/files/json" => {
            let size = if variant == "large" { 900_000 } else { 2_000 };
            let file = upload("a.txt", "text/plain", &vec![b'x'; size]);
            (By::Bob, scene.task().await, Sent::Json(file))
        }
        _ => return None,
    };
    Some((by, vec![("id", task)], sent))
}

/// What a tool calls its arguments, and what the route calls them.
type Names = &'static [(&'static str, &'static str)];

/// How tools name what routes have in their paths and bodies: the tool, the route, the names, and arguments of its own.
fn as_route(tool: &str) -> Option<(&'static str, Names, Value)> {
    const TASK: &[(&str, &str)] = &[("id", "taskId")];
    let none = json!({});
    Some(match tool {
        "check_updates" => ("POST /updates/ack", &[("cursor", "")], json!({ "acknowledge": true })),
        "wait_for_updates" => {
            ("POST /updates/ack", &[("cursor", "")], json!({ "acknowledge": true, "seconds": 1 }))
        }
        "generate_pairing_code" => ("POST /pair/generate", &[], none),
        "connect_with_agent" => ("POST /pair/connect", &[], none),
        "connect_directly" => ("POST /connect/{agentId}", &[], none),
        "set_alias" => ("PATCH /connections/{id}", &[("id", "connectionId")], none),
        "set_approval_rule" => (
            "PATCH /connections/{id}",
            &[("id", "connectionId"), ("alias", "")],
            json!({ "rule": "require" }),
        ),
        "disconnect" => ("DELETE /connections/{id}", &[("id", "connection_id")], none),
        "create_task" => ("POST /tasks", &[], none),
        "update_task_status" => ("PATCH /tasks/{id}", TASK, none),
        "set_session_key" => {
            ("PATCH /tasks/{id}", &[("id", "taskId"), ("status", "")], json!({ "sessionKey": "k" }))
        }
        "heartbeat" => ("POST /tasks/{id}/heartbeat", TASK, none),
        "cancel_task" => ("POST /tasks/{id}/cancel", TASK, none),
        "retry_task" => ("POST /tasks/{id}/retry", TASK, none),
        "reassign_task" => ("POST /tasks/{id}/reassign", TASK, none),
        "approve_task" => ("POST /tasks/{id}/approve", TASK, none),
        "reject_task" => ("POST /tasks/{id}/reject", TASK, none),
        "delete_task" => ("DELETE /tasks/{id}", TASK, none),
        "send_message" => ("POST /tasks/{id}/messages", TASK, none),
        "add_artifact" => ("POST /tasks/{id}/artifacts", TASK, none),
        "send_reply" => ("POST /tasks/{id}/reply", TASK, none),
        "task_read" => ("POST /tasks/{id}/read", TASK, none),
        "message_ack" => ("POST /tasks/{id}/ack", TASK, none),
        "delete_message" => ("DELETE /tasks/{id}/messages/{messageId}", TASK, none),
        "report_usage" => ("POST /tasks/{id}/usage", TASK, none),
        "upload_file" => ("POST /tasks/{id}/files/json", TASK, none),
        "delete_file" => ("DELETE /files/{id}", &[("id", "fileId")], none),
        "create_network" => ("POST /networks", &[("id", ""), ("agentId", "")], none),
        "invite_to_network" => ("POST /networks/{id}/invites", &[("id", "networkId"), ("agentId", "")], none),
        "join_network" => ("POST /networks/join", &[("id", ""), ("agentId", "")], none),
        "broadcast" => ("POST /networks/{id}/broadcast", &[("id", "networkId"), ("agentId", "")], none),
        "block_agent" => ("POST /agents/me/block", &[], none),
        "unblock_agent" => ("DELETE /agents/me/block/{agentId}", &[], none),
        "update_profile" => ("PATCH /agents/me", &[], none),
        "update_webhook" => ("PATCH /agents/me", &[("webhookUrl", "url"), ("webhookSecret", "secret")], none),
        "rotate_api_key" => ("POST /agents/me/rotate-key", &[], json!({ "confirm": true })),
        "delete_account" => ("DELETE /agents/me", &[], json!({ "confirm": true })),
        _ => return None,
    })
}

/// A call of a tool.
pub async fn tool(scene: &mut Scene<'_>, tool: &str, variant: &str) -> Option<Request> {
    let (of, renamed, more) = as_route(tool)?;
    let variant = if tool == "update_profile" { "profile" } else { variant };
    let request = route(scene, of, variant).await?;
    let mut given: Vec<(String, Value)> =
        request.params.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    if let Sent::Json(Value::Object(body)) = &request.sent {
        given.extend(body.clone());
    }
    let mut arguments = more.as_object().unwrap().clone();
    for (name, value) in given {
        match renamed.iter().find(|(from, _)| *from == name) {
            Some((_, "")) => {}
            Some((_, to)) => drop(arguments.insert((*to).to_owned(), value)),
            None => drop(arguments.insert(name, value)),
        }
    }
    Some(Request { sent: Sent::Json(Value::Object(arguments)), params: Vec::new(), ..request })
}
