//! Asking an agent's own model, over a session that said it can.

use rstest::rstest;
use serde_json::{Value, json};

use super::{Session, Stream};
use crate::harness::{Agent, Db, Harness, eventually};

/// An agent with a model: a session that answers prompts.
struct Model {
    session: Session,
    stream: Stream,
}

impl Model {
    async fn of(agent: &Agent) -> Self {
        let session = Session::begin(agent, json!({ "sampling": {} })).await;
        let stream = session.stream().await;
        Self { session, stream }
    }

    /// The next prompt: its id, and what it says.
    async fn prompt(&mut self) -> (Value, String) {
        let asked = self.stream.next().await.expect("the session goes on");
        assert_eq!(asked["method"], "sampling/createMessage", "{asked}");
        let text = asked["params"]["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(asked["params"]["systemPrompt"].as_str().unwrap().contains("data"));
        (asked["id"].clone(), text.to_owned())
    }

    async fn answer(&self, id: Value, text: &str) {
        let result =
            json!({ "role": "assistant", "model": "scripted", "content": { "type": "text", "text": text } });
        let reply = self.session.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result })).await;
        assert_eq!(reply.status, 202);
    }

    async fn refuse(&self, id: Value) {
        let error = json!({ "code": -1, "message": "the owner said no" });
        self.session.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error })).await;
    }
}

async fn thread(agent: &Agent, task: &str) -> Vec<(String, String)> {
    let list = agent.get(&format!("/tasks/{task}/messages")).await.ok(200);
    let line = |message: &Value| {
        let text = |field: &str| message[field].as_str().unwrap().to_owned();
        (text("senderAgentId"), text("content"))
    };
    list.as_array().unwrap().iter().map(line).collect()
}

/// Waits until a task has so many messages.
async fn has_messages(agent: &Agent, task: &str, count: usize) {
    eventually(async || (thread(agent, task).await.len() == count).then_some(())).await;
}

async fn say(agent: &Agent, task: &str, text: &str) {
    agent.post(&format!("/tasks/{task}/messages"), json!({ "content": text })).await.ok(201);
}

const LONG: &str = "This is a message of more than a hundred characters, so that nobody could take it for a mere courtesy \
                    between two models that thank each other.";

#[rstest]
#[tokio::test]
async fn a_new_task_is_answered_and_begun(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let mut model = Model::of(&bob).await;
    let task = ada.task_with(&bob, json!({ "title": "Count to three", "description": "Slowly." })).await;
    let (id, prompt) = model.prompt().await;
    for part in ["Ada", &ada.id, &task, "Count to three", "Slowly."] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    model.answer(id, "One, two, three.").await;
    has_messages(&ada, &task, 1).await;
    assert_eq!(thread(&ada, &task).await, [(bob.id.clone(), "One, two, three.".to_owned())]);
    let seen = ada.view(&task).await;
    assert_eq!(seen["status"], "working");
    assert!(seen["delivery"]["pushedAt"].is_string(), "it was pushed: {seen}");
}

#[rstest]
#[tokio::test]
async fn a_message_is_answered_with_what_was_said_before(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.max_messages_per_minute = 0).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let upload = json!({ "filename": "plan.txt", "mimeType": "text/plain", "base64Content": "YQ==" });
    let file = ada.post(&format!("/tasks/{task}/files/json"), upload).await.text("id");
    for number in 0..11 {
        say(&bob, &task, &format!("earlier {number}. {LONG}")).await;
    }
    let mut model = Model::of(&bob).await;
    say(&ada, &task, LONG).await;
    let (id, prompt) = model.prompt().await;
    assert!(prompt.contains("The latest message") && prompt.contains(LONG), "{prompt}");
    assert!(prompt.contains("earlier 1.") && !prompt.contains("earlier 0."), "ten before it: {prompt}");
    assert!(!prompt.contains(&file), "the file is further back: {prompt}");
    model.answer(id, LONG).await;
    has_messages(&ada, &task, 14).await;
    assert_eq!(ada.view(&task).await["status"], "submitted", "a message begins nothing");

    let upload = json!({ "filename": "plan2.txt", "mimeType": "text/plain", "base64Content": "YQ==" });
    let file = ada.post(&format!("/tasks/{task}/files/json"), upload).await.text("id");
    let (id, prompt) = model.prompt().await;
    assert!(prompt.contains(&format!("/files/{file}")) && prompt.contains("plan2.txt"), "{prompt}");
    model.refuse(id).await;
}

#[rstest]
#[tokio::test]
async fn a_task_that_was_let_in_wakes_its_target(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let mut model = Model::of(&bob).await;
    let held = ada.task(&bob).await;
    bob.post_empty(&format!("/approvals/{held}/approve")).await.ok(200);
    // The first prompt is that of the approval: the task at the gate wakes nobody.
    let (id, prompt) = model.prompt().await;
    assert!(prompt.contains(&held));
    model.answer(id, "Gladly.").await;
    has_messages(&ada, &held, 1).await;
    assert_eq!(ada.view(&held).await["status"], "working");
}

/// Two models that thank each other stop.
#[rstest]
#[tokio::test]
async fn short_answers_come_to_an_end(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let (mut of_ada, mut of_bob) = (Model::of(&ada).await, Model::of(&bob).await);
    say(&ada, &task, "Thank you!").await;
    let (id, _) = of_bob.prompt().await;
    of_bob.answer(id, "You're welcome!").await;
    has_messages(&ada, &task, 2).await;
    // Nobody is asked again. What comes next is a new task, and it is the first thing they hear of.
    let next = ada.task(&bob).await;
    let (id, prompt) = of_bob.prompt().await;
    assert!(prompt.contains(&next), "{prompt}");
    of_bob.refuse(id).await;
    let back = bob.task(&ada).await;
    let (_, prompt) = of_ada.prompt().await;
    assert!(prompt.contains(&back), "{prompt}");
    assert_eq!(thread(&ada, &task).await.len(), 2);
}

#[rstest]
#[tokio::test]
async fn a_monologue_wakes_nobody(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    say(&ada, &task, LONG).await;
    say(&ada, &task, LONG).await;
    let mut model = Model::of(&bob).await;
    say(&ada, &task, LONG).await;
    let next = ada.task(&bob).await;
    let (_, prompt) = model.prompt().await;
    assert!(prompt.contains(&next), "{prompt}");
}

#[rstest]
#[tokio::test]
async fn results_and_acknowledgements_wake_nobody(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let mut model = Model::of(&ada).await;
    let task = ada.task(&bob).await;
    say(&ada, &task, LONG).await;
    bob.post_empty(&format!("/tasks/{task}/ack")).await.ok(200);
    bob.set(&task, "working").await.ok(200);
    bob.post(&format!("/tasks/{task}/reply"), json!({ "content": LONG })).await.ok(200);
    let next = bob.task(&ada).await;
    let (_, prompt) = model.prompt().await;
    assert!(prompt.contains(&next), "{prompt}");
}

#[tokio::test]
async fn one_prompt_at_a_time() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let mut model = Model::of(&bob).await;
    model.session.ask("resources/subscribe", json!({ "uri": "tandem://inbox" })).await;
    let first = ada.task(&bob).await;
    let (mut id, mut notes) = (Value::Null, 0);
    while id.is_null() || notes == 0 {
        let message = model.stream.next().await.unwrap();
        if message["method"] == "sampling/createMessage" {
            id = message["id"].clone();
        } else {
            notes += 1;
        }
    }
    let skipped = ada.task(&bob).await;
    // The note says that the stream has got to the second task; it was not asked about.
    assert_eq!(model.stream.next().await.unwrap()["method"], "notifications/resources/updated");
    model.session.ask("resources/unsubscribe", json!({ "uri": "tandem://inbox" })).await;
    model.answer(id, "Done.").await;
    has_messages(&ada, &first, 1).await;
    let third = eventually(async || {
        let task = ada.task(&bob).await;
        let asked = tokio::time::timeout(std::time::Duration::from_millis(500), model.prompt()).await;
        let (id, prompt) = asked.ok()?;
        model.refuse(id).await;
        assert!(!prompt.contains(&skipped), "what was skipped is not asked about later");
        prompt.contains(&task).then_some(task)
    })
    .await;
    assert!(!third.is_empty());
    assert_eq!(ada.view(&skipped).await["status"], "submitted", "it waits to be looked at");
}

#[tokio::test]
async fn a_prompt_is_not_sent_again_when_the_stream_is_opened_anew() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let mut model = Model::of(&bob).await;
    let task = ada.task(&bob).await;
    let (id, _) = model.prompt().await;
    model.answer(id, "Done.").await;
    has_messages(&ada, &task, 1).await;
    drop(model.stream);
    model.stream = eventually(async || {
        let stream = model.session.stream().await;
        // As long as the hub believes in the old stream, the new one is a mere shadow.
        let next = ada.task(&bob).await;
        let mut again =
            Model { session: Session { agent: bob.clone(), id: model.session.id.clone() }, stream };
        let asked = tokio::time::timeout(std::time::Duration::from_millis(300), again.prompt()).await;
        let (id, prompt) = asked.ok()?;
        assert!(!prompt.contains(&task), "{prompt}");
        again.answer(id, "Done, too.").await;
        prompt.contains(&next).then_some(again.stream)
    })
    .await;
}

/// A session that is asked and says nothing keeps the others of its agent waiting for half a minute at most.
#[tokio::test]
async fn a_mute_session_makes_room_for_another() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let mut model = Model::of(&bob).await;
    let mut mute = Model::of(&bob).await;
    let first = ada.task(&bob).await;
    mute.prompt().await;
    hub.advance_ms(30_000);
    let task = ada.task(&bob).await;
    let (id, prompt) = model.prompt().await;
    // The other session may get to the first task only now: the mute one has not answered it. The second task then comes
    // while that one is asked about, and waits for the next poll.
    let asked = if prompt.contains(&first) { &first } else { &task };
    assert!(prompt.contains(asked), "{prompt}");
    model.answer(id, "On it.").await;
    has_messages(&ada, asked, 1).await;
}

/// A model that thinks while its client opens the stream anew has not thought in vain.
#[tokio::test]
async fn an_answer_counts_on_whichever_stream_it_was_asked() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let mut model = Model::of(&bob).await;
    let task = ada.task(&bob).await;
    let (id, _) = model.prompt().await;
    model.stream = model.session.stream().await;
    // Also while there is none.
    drop(model.stream);
    eventually(async || hub.reach(&bob.id.parse().unwrap()).is_none().then_some(())).await;
    model.stream = model.session.stream().await;
    model.answer(id, "On it.").await;
    has_messages(&ada, &task, 1).await;
    eventually(async || (!hub.sessions.is_sampling(&bob.id.parse().unwrap())).then_some(())).await;
    say(&ada, &task, LONG).await;
    let (_, prompt) = model.prompt().await;
    assert!(prompt.contains(LONG), "{prompt}");
}

#[tokio::test]
async fn only_the_newest_session_is_asked_and_a_dead_one_never() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let mut older = Model::of(&bob).await;
    let mut newer = Model::of(&bob).await;
    let task = ada.task(&bob).await;
    let (id, _) = newer.prompt().await;
    newer.answer(id, "From the newer one.").await;
    has_messages(&ada, &task, 1).await;
    drop(newer.stream);
    // As soon as the hub knows that nobody reads it, the older one has its turn.
    let answered = eventually(async || {
        let task = ada.task(&bob).await;
        let asked = tokio::time::timeout(std::time::Duration::from_millis(200), older.prompt()).await;
        let (id, prompt) = asked.ok()?;
        older.answer(id, "From the older one.").await;
        prompt.contains(&task).then_some(task)
    })
    .await;
    has_messages(&ada, &answered, 1).await;
}

#[tokio::test]
async fn what_goes_wrong_leaves_the_task_as_it_was() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let mut model = Model::of(&bob).await;
    let refused = ada.task(&bob).await;
    let (id, _) = model.prompt().await;
    model.refuse(id).await;
    let cancelled = eventually(async || {
        let task = ada.task(&bob).await;
        let asked = tokio::time::timeout(std::time::Duration::from_millis(500), model.prompt()).await;
        let (id, prompt) = asked.ok()?;
        ada.set(&task, "cancelled").await.ok(200);
        model.answer(id, "Too late.").await;
        prompt.contains(&task).then_some(task)
    })
    .await;
    let live = eventually(async || {
        let task = ada.task(&bob).await;
        let asked = tokio::time::timeout(std::time::Duration::from_millis(500), model.prompt()).await;
        let (id, prompt) = asked.ok()?;
        model.answer(id, "Here I am.").await;
        prompt.contains(&task).then_some(task)
    })
    .await;
    has_messages(&ada, &live, 1).await;
    assert_eq!(ada.view(&refused).await["status"], "submitted");
    assert_eq!(thread(&ada, &refused).await.len(), 0);
    assert_eq!(ada.view(&cancelled).await["status"], "cancelled");
    assert_eq!(thread(&ada, &cancelled).await.iter().filter(|line| line.0 == bob.id).count(), 0);
}
