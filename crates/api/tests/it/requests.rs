//! Examples of requests and queries.

use serde_json::json;
use tandem_api::admin::{AdminEventsQuery, PatchAgentTerms};
use tandem_api::agents::{BlockAgent, DiscoverQuery, PatchAgent, RegisterAgent, ReportReach, RotateKey};
use tandem_api::connections::{PatchConnection, RedeemCode};
use tandem_api::events::{AckCursor, EventsQuery};
use tandem_api::files::{UploadFile, UploadForm};
use tandem_api::guests::CreateGuest;
use tandem_api::messages::{SendMessage, SendToAgent};
use tandem_api::networks::{BroadcastFilter, CreateInvite, CreateNetwork, JoinNetwork, SendBroadcast};
use tandem_api::parts::{AddArtifact, Part};
use tandem_api::remotes::{CardKey, CreateRemote, PatchRemote, RemoteAuth};
use tandem_api::tasks::{
    ApproveTask, CreateTask, Heartbeat, PageQuery, PatchTask, ReassignTask, ReplyTask, ReportUsage,
    RetryTask, TasksQuery, WithReason,
};

use crate::round_trip::{Case, cases};

pub(crate) fn cases() -> Vec<Case> {
    let keys = json!({ "agent_a": "QUJD", "agent_b": "REVG" });
    let mut all = cases! {
        RegisterAgent: json!({ "name": "Ada", "description": "Codes.", "capabilities": ["rust"],
            "metadata": { "z": 1, "a": [2.5, null] }, "publicKey": "PEM",
            "apiKeyHash": "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a", "challenge": "c", "solution": "s" }),
            json!({ "name": "Ada" });
        PatchAgent: json!({ "name": "Ada", "description": "Codes.", "capabilities": ["rust"], "metadata": { "z": 1 },
            "discoverable": true, "autoAccept": false, "defaultApprovalRule": "require", "a2a": "off",
            "skills": [{ "id": "review", "name": "Review", "description": "Reads code.", "tags": ["code"] }],
            "webhookUrl": "https://example.com/", "webhookSecret": "0123456789abcdef",
            "webhookEvents": ["task.created"] }),
            json!({ "description": null, "metadata": null, "defaultApprovalRule": null, "webhookUrl": null,
            "webhookSecret": null, "webhookEvents": null }),
            json!({});
        ReportReach: json!({ "rung": "channel", "provided": true, "surfaced": ["t-1"] }), json!({ "rung": "pull" });
        BlockAgent: json!({ "agentId": "agent_a" });
        PatchConnection: json!({ "alias": "ada", "approval": "auto" }), json!({ "alias": null, "approval": null }),
            json!({});
        RedeemCode: json!({ "code": "BLUE-TIGER-4231" });
        AckCursor: json!({ "cursor": 7 });
        EventsQuery: json!({ "after": 1, "wait": 2, "epoch": "e1" }), json!({});
        DiscoverQuery: json!({ "capability": "rust", "q": "a", "query": "b", "limit": 1, "offset": 2 }), json!({});
        UploadForm: json!({ "file": "a", "encryptedKeys": "{}", "senderSignature": "c2ln" }), json!({ "file": "a" });
        SendMessage: json!({ "content": "Hi", "contentType": "json", "checkInSeconds": 60, "inReplyTo": "msg_0", "encryptedKeys": keys,
            "senderSignature": "c2ln" }),
            json!({ "content": "Hi" });
        SendToAgent: json!({ "agentId": "agent_a", "content": "Hi", "contentType": "text", "checkInSeconds": 60,
            "inReplyTo": "msg_0", "encryptedKeys": keys, "senderSignature": "c2ln" }),
            json!({ "agentId": "ada", "content": "Hi" });
        CreateNetwork: json!({ "name": "Crew", "description": "Releases." }), json!({ "name": "Crew" });
        CreateInvite: json!({ "maxUses": 3, "expiresInSeconds": 60 }), json!({});
        JoinNetwork: json!({ "code": "NET-7K2M-QX4T-9WBD" });
        BroadcastFilter: json!({ "capability": "rust", "online": true }), json!({});
        SendBroadcast: json!({ "content": "Hi", "filter": { "capability": "rust", "online": false } }),
            json!({ "content": "Hi" });
        AdminEventsQuery: json!({ "agentId": "agent_a", "limit": 1, "cursor": "agent_a.1" }), json!({});
        PatchAgentTerms: json!({ "costsCredits": true, "credits": 0.5, "suspended": false }), json!({});
    };
    all.extend(about_tasks());
    all.push(upload());
    all
}

/// An upload borrows its bytes, so it is read from text only.
fn upload() -> Case {
    let least = json!({ "filename": "a.txt", "mimeType": "text/plain", "base64Content": "YQ==" });
    let mut whole = least.clone();
    whole["encryptedKeys"] = json!({ "agent_a": "QUJD" });
    whole["senderSignature"] = json!("c2ln");
    let again = |json: &str| {
        let upload: UploadFile<'_> = serde_json::from_str(json).unwrap();
        serde_json::to_string(&upload).unwrap()
    };
    Case { name: "UploadFile", examples: vec![whole, least], again }
}

fn about_tasks() -> Vec<Case> {
    let keys = json!({ "agent_a": "QUJD", "agent_b": "REVG" });
    let auth = json!({ "type": "apiKey", "value": "secret", "header": "X-Far-Key" });
    let key = json!({ "kty": "EC", "crv": "P-256", "x": "eA", "y": "eQ", "kid": "k" });
    let part = json!({ "text": "Hi", "data": 42, "url": "https://example.com/", "raw": "YQ==", "fileId": "file_1",
        "filename": "a.txt", "mediaType": "text/plain", "metadata": { "z": 1 } });
    cases! {
        CreateTask: json!({ "targetAgentId": "ada", "title": "Look", "description": "At this.", "id": "t-1",
            "encrypted": true, "descriptionKeys": keys, "senderSignature": "c2ln", "draft": true,
            "requiresReview": true, "priority": "high", "sessionKey": "k", "ttlSeconds": 60, "checkInSeconds": 0,
            "leaseSeconds": 10, "onStall": "retry", "maxAttempts": 2, "maxMessages": 3, "parentTaskId": "t-0",
            "networkId": "net_1", "contextId": "c-1" }),
            json!({ "targetAgentId": "ada", "title": "Look" });
        PatchTask: json!({ "status": "input-required", "reason": "Why", "expectedStatus": "working",
            "sessionKey": "k", "title": "Look", "description": "At this.", "descriptionKeys": keys,
            "senderSignature": "c2ln", "maxMessages": 3 }),
            json!({ "sessionKey": null, "description": null }),
            json!({});
        RetryTask: json!({ "expectedStatus": "failed" }), json!({});
        ReassignTask: json!({ "targetAgentId": "ada", "expectedStatus": "working" }), json!({ "targetAgentId": "ada" });
        ReplyTask: json!({ "content": "Done", "contentType": "text", "encryptedKeys": keys,
            "senderSignature": "c2ln", "outcome": "cancelled", "expectedStatus": "working", "direct": true }),
            json!({ "content": "Done" });
        AddArtifact: json!({ "artifactId": "x", "name": "X", "description": "An X", "parts": [part],
            "append": true, "lastChunk": true }),
            json!({ "parts": [] });
        Part: part, json!({ "data": { "z": 1, "a": [null] } }), json!({});
        CreateGuest: json!({ "name": "Travel", "expiresInSeconds": 60 }), json!({ "name": "Travel" });
        CreateRemote: json!({ "cardUrl": "https://a.example/card", "auth": auth, "alias": "far",
            "allowOrigins": ["https://b.example"], "keys": [key], "onUnclear": "fail" }),
            json!({ "cardUrl": "https://a.example/card" });
        PatchRemote: json!({ "cardUrl": "https://a.example/card", "auth": auth, "alias": "far",
            "allowOrigins": [], "keys": [key], "onUnclear": "retry", "paused": true }),
            json!({ "auth": null, "alias": null, "keys": null }), json!({});
        RemoteAuth: auth, json!({ "type": "basic", "value": "user:password" });
        CardKey: key, json!({ "kty": "EC", "crv": "P-256", "x": "eA", "y": "eQ" });
        ReportUsage: json!({ "cost": 0.0023 });
        Heartbeat: json!({ "progress": 50, "note": "Half" }), json!({});
        ApproveTask: json!({ "note": "Go on", "expectedStatus": "submitted" }), json!({});
        RotateKey: json!({ "apiKeyHash": "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a" }), json!({});
        WithReason: json!({ "reason": "Why", "expectedStatus": "working" }), json!({});
        TasksQuery: json!({ "status": "working", "role": "target", "with": "agent_a", "q": "x", "limit": 5,
            "cursor": "c" }),
            json!({});
        PageQuery: json!({ "limit": 5, "cursor": "c" }), json!({});
    }
}
