//! A request field may be null where null means something, and nowhere else; its schema says so.

use serde_json::{Value, json};
use tandem_api::admin::PatchAgentTerms;
use tandem_api::agents::{BlockAgent, PatchAgent, RegisterAgent, ReportReach, RotateKey};
use tandem_api::connections::{PatchConnection, RedeemCode};
use tandem_api::events::AckCursor;
use tandem_api::files::{UploadFile, UploadForm};
use tandem_api::guests::CreateGuest;
use tandem_api::messages::{SendMessage, SendToAgent};
use tandem_api::networks::{BroadcastFilter, CreateInvite, CreateNetwork, JoinNetwork, SendBroadcast};
use tandem_api::parts::{AddArtifact, Part};
use tandem_api::remotes::{CardKey, CreateRemote, PatchRemote, RemoteAuth};
use tandem_api::tasks::{
    ApproveTask, CreateTask, Heartbeat, PatchTask, ReassignTask, ReplyTask, ReportUsage, RetryTask,
    WithReason,
};
use utoipa::{PartialSchema, ToSchema};

use crate::requests;

fn schema<T: ToSchema + PartialSchema>() -> (String, Value) {
    (T::name().into_owned(), serde_json::to_value(T::schema()).unwrap())
}

/// Every request that has a body.
fn bodies() -> Vec<(String, Value)> {
    vec![
        schema::<AckCursor>(),
        schema::<AddArtifact>(),
        schema::<Part>(),
        schema::<BlockAgent>(),
        schema::<BroadcastFilter>(),
        schema::<CreateGuest>(),
        schema::<CreateInvite>(),
        schema::<CreateNetwork>(),
        schema::<CreateRemote>(),
        schema::<CreateTask>(),
        schema::<Heartbeat>(),
        schema::<JoinNetwork>(),
        schema::<PatchAgent>(),
        schema::<PatchAgentTerms>(),
        schema::<PatchConnection>(),
        schema::<PatchRemote>(),
        schema::<PatchTask>(),
        schema::<ReassignTask>(),
        schema::<RedeemCode>(),
        schema::<RegisterAgent>(),
        schema::<ReplyTask>(),
        schema::<ReportReach>(),
        schema::<ReportUsage>(),
        schema::<RemoteAuth>(),
        schema::<CardKey>(),
        schema::<RetryTask>(),
        schema::<SendBroadcast>(),
        schema::<SendMessage>(),
        schema::<SendToAgent>(),
        schema::<UploadFile<'_>>(),
        schema::<UploadForm>(),
        schema::<WithReason>(),
        schema::<ApproveTask>(),
        schema::<RotateKey>(),
    ]
}

/// Whether a schema lets null in, in any of the ways in which it can.
fn takes_null(field: &Value) -> bool {
    let is_null = |kind: &Value| kind == "null";
    is_null(&field["type"])
        || field["type"].as_array().is_some_and(|types| types.iter().any(is_null))
        || field["oneOf"].as_array().is_some_and(|choices| choices.iter().any(takes_null))
}

#[test]
fn a_request_field_takes_null_where_null_means_something() {
    let bodies = bodies();
    let mut meant = Vec::new();
    for case in requests::cases().into_iter().filter(|case| !case.name.ends_with("Query")) {
        let (_, schema) = bodies.iter().find(|(name, _)| name == case.name).expect(case.name);
        let whole = &case.examples[0];
        for (field, described) in schema["properties"].as_object().unwrap() {
            assert!(whole.get(field).is_some(), "{} has an example without {field}", case.name);
            if schema["required"].as_array().into_iter().flatten().any(|required| required == field) {
                assert!(!takes_null(described), "{}.{field}", case.name);
                continue;
            }
            // A double option keeps null; any other option forgets it.
            let mut sent = whole.clone();
            sent[field] = Value::Null;
            let kept: Value = serde_json::from_str(&(case.again)(&sent.to_string())).unwrap();
            let is_kept = kept.get(field).is_some();
            assert_eq!(takes_null(described), is_kept, "{}.{field}: {described}", case.name);
            if is_kept {
                meant.push(format!("{}.{field}", case.name));
            }
        }
    }
    meant.sort();
    let expected = json!([
        "PatchAgent.defaultApprovalRule",
        "PatchAgent.description",
        "PatchAgent.metadata",
        "PatchAgent.webhookEvents",
        "PatchAgent.webhookSecret",
        "PatchAgent.webhookUrl",
        "PatchConnection.alias",
        "PatchConnection.approval",
        "PatchRemote.alias",
        "PatchRemote.auth",
        "PatchRemote.keys",
        "PatchTask.description",
        "PatchTask.sessionKey"
    ]);
    assert_eq!(json!(meant), expected);
}
