//! Transparent encryption in the client library: both sides, pins, and a hub that lies.

use serde_json::Value;
use tandem_api::messages::SendMessage;
use tandem_api::tasks::{CreateTask, PageQuery, ReplyTask, TaskView};
use tandem_api::text::{PeerContent, PeerName, PeerText, PeerToken};
use tandem_client::{Client, Error, Keyring, Opened, PeerKey, Pins, Trust};
use tandem_core::messages::ContentType;
use tandem_core::{AgentId, TaskId};
use tandem_seal::{PrivateKey, PublicKey};

use crate::harness::{Agent, Db, Harness};

const SECRET: &str = "the eagle has landed";

/// A key pair made beforehand: making one takes a while.
pub(super) fn key(name: &str) -> PrivateKey {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../seal/tests/vectors/keys.json");
    let keys: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    PrivateKey::from_pem(keys["keys"][name]["private"].as_str().unwrap()).unwrap()
}

/// A client of an agent, without keys.
pub(super) fn plain(harness: &Harness, agent: &Agent) -> Client {
    let hub = format!("http://{}", harness.client.address).parse().unwrap();
    Client::new(hub).unwrap().with_key(&agent.key)
}

pub(super) fn id(agent: &Agent) -> AgentId {
    agent.id.parse().unwrap()
}

/// Two connected agents with keys and clients.
pub(super) struct Pair {
    pub(super) hub: Harness,
    pub(super) ana: Client,
    pub(super) bob: Client,
    pub(super) ana_agent: Agent,
    pub(super) bob_agent: Agent,
}

impl Pair {
    pub(super) async fn new(db: Db) -> Self {
        let hub = Harness::start(db).await;
        let register = async |name: &str| {
            let public = key(name).public().to_pem();
            hub.agent_with(serde_json::json!({ "name": name, "publicKey": public })).await
        };
        let (ana_agent, bob_agent) = (register("ana").await, register("bob").await);
        ana_agent.pair_with(&bob_agent).await;
        let client = |agent: &Agent| {
            let keyring = Keyring::new(id(agent), key(&agent.name), Pins::in_memory());
            plain(&hub, agent).with_keyring(keyring)
        };
        let (ana, bob) = (client(&ana_agent), client(&bob_agent));
        Self { ana, bob, ana_agent, bob_agent, hub }
    }

    /// An encrypted task from ana to bob, as bob gets it.
    pub(super) async fn task(&self) -> TaskView {
        let peer = id(&self.bob_agent);
        let mut task = CreateTask::new(self.bob_agent.id.clone().try_into().unwrap(), title(SECRET));
        task.description = Some(body("dig under the oak"));
        let sent = self.ana.create_encrypted_task(task, &peer).await.unwrap();
        assert!(sent.title == SECRET && sent.encrypted, "{sent:?}");
        assert!(sent.description.unwrap() == "dig under the oak");
        self.bob.task(&sent.id).await.unwrap()
    }
}

pub(super) fn title(text: &str) -> tandem_core::text::Title {
    text.to_owned().try_into().unwrap()
}

pub(super) fn body(text: &str) -> tandem_core::text::Body {
    text.to_owned().try_into().unwrap()
}

#[track_caller]
pub(super) fn unreadable<T>(opened: &Opened<T>) -> &str {
    match &opened.trust {
        Trust::Unreadable(why) => why,
        trust => panic!("{trust:?}"),
    }
}

pub(super) async fn messages(client: &Client, task: &TaskId) -> Vec<tandem_api::messages::MessageView> {
    client.messages(task, &PageQuery::default()).await.unwrap().items
}

#[tokio::test]
async fn both_sides_read_everything_and_the_hub_nothing() {
    let pair = Pair::new(Db::Sqlite).await;
    let (ana, bob) = (&pair.ana, &pair.bob);
    let sealed = pair.task().await;
    assert!(sealed.title == "Encrypted Task" && sealed.description.clone().unwrap() != "dig under the oak");
    for client in [ana, bob] {
        let opened = client.open_task(client.task(&sealed.id).await.unwrap()).await;
        assert_eq!(opened.trust, Trust::Verified);
        assert!(opened.view.title == SECRET && opened.view.description.unwrap() == "dig under the oak");
    }

    let said = bob.say(&sealed, SendMessage::new(body("how deep?"))).await.unwrap();
    assert!(said.content == "how deep?" && said.content_type == ContentType::Text);
    let json = SendMessage { content_type: Some(ContentType::Json), ..SendMessage::new(body("{\"m\":2}")) };
    ana.say(&sealed, json).await.unwrap();
    let replied = bob.deliver(&sealed, ReplyTask::new(body("done, gold inside"))).await.unwrap();
    assert!(replied.task.title == SECRET && replied.task.result.unwrap() == "done, gold inside");
    assert!(replied.message.content == "done, gold inside");

    for client in [ana, bob] {
        let stored = messages(client, &sealed.id).await;
        assert!(stored.iter().all(|one| one.content_type == ContentType::Encrypted), "{stored:?}");
        let opened = client.open_messages(&sealed, stored).await;
        let shown: Vec<_> = opened
            .iter()
            .map(|one| (one.view.content.as_str(), one.view.content_type, one.trust.clone()))
            .collect();
        let expected = [
            ("how deep?", ContentType::Text, Trust::Verified),
            ("{\"m\":2}", ContentType::Json, Trust::Verified),
            ("done, gold inside", ContentType::Text, Trust::Verified),
        ];
        assert_eq!(shown, expected);
        let task = client.open_task(client.task(&sealed.id).await.unwrap()).await;
        assert_eq!(task.trust, Trust::Verified);
        assert!(task.view.result.unwrap() == "done, gold inside");
    }
}

#[tokio::test]
async fn files_keep_name_and_content_to_the_parties() {
    let pair = Pair::new(Db::Sqlite).await;
    let task = pair.task().await;
    let bytes: Vec<u8> = (0..100_000_u32).map(|n| n.to_le_bytes()[1]).collect();
    let sent = pair
        .ana
        .upload_sealed(&task, "../map\u{202e}.pdf", "application/x-map", bytes.clone())
        .await
        .unwrap();
    assert!(sent.mime_type == "application/x-map");
    let stored = messages(&pair.bob, &task.id).await;
    let opened = pair.bob.open_messages(&task, stored.clone()).await;
    assert_eq!((opened[0].trust.clone(), opened[0].view.content_type), (Trust::Unopened, ContentType::File));
    for message in [&stored[0], &opened[0].view] {
        let file = pair.bob.download_sealed(&task, message).await.unwrap();
        assert_eq!((file.filename.as_str(), file.bytes == bytes), ("map.pdf", true));
        assert_eq!(file.mime_type, "application/x-map");
    }
    // Signed by someone else, the same bytes are refused.
    let mut forged = stored[0].clone();
    forged.sender_agent_id = tandem_api::actor::Actor::Agent(id(&pair.bob_agent));
    assert!(matches!(pair.bob.download_sealed(&task, &forged).await, Err(Error::Seal(_))));
    // Too large is known before anything is sealed or sent.
    let large = pair.ana.upload_sealed(&task, "big", "a/b", vec![0; 40 * 1024 * 1024]).await;
    assert!(matches!(large, Err(Error::TooLarge { .. })), "{large:?}");
    assert_eq!(messages(&pair.ana, &task.id).await.len(), 1);
}

#[tokio::test]
async fn a_plain_task_stays_as_it_is() {
    let pair = Pair::new(Db::Sqlite).await;
    let task: TaskId = pair.ana_agent.task(&pair.bob_agent).await.parse().unwrap();
    let view = pair.bob.task(&task).await.unwrap();
    let said = pair.bob.say(&view, SendMessage::new(body("in the clear"))).await.unwrap();
    assert!(said.content == "in the clear");
    let replied = pair.bob.deliver(&view, ReplyTask::new(body("done"))).await.unwrap();
    assert!(replied.task.result.unwrap() == "done");
    let opened = pair.ana.open_task(pair.ana.task(&task).await.unwrap()).await;
    assert_eq!(opened.trust, Trust::Plain);
    assert!(opened.view.title == "A task" && opened.view.result.unwrap() == "done");
    let shown = pair.ana.open_messages(&view, messages(&pair.ana, &task).await).await;
    assert!(shown.iter().all(|one| one.trust == Trust::Plain) && shown[0].view.content == "in the clear");
}

#[tokio::test]
async fn a_changed_key_is_an_error_with_both_fingerprints() {
    let pair = Pair::new(Db::Sqlite).await;
    let task = pair.task().await;
    pair.bob.say(&task, SendMessage::new(body("by the true bob"))).await.unwrap();
    // The hub lies from now on: bob's key is cyd's.
    let (old, new) = (key("bob").public().clone(), key("cyd").public().clone());
    let sql = format!("update agents set public_key = '{}' where id = '{}'", new.to_pem(), pair.bob_agent.id);
    pair.hub.place.execute(&sql);
    let keyring = |pins| Keyring::new(id(&pair.ana_agent), key("ana"), pins);
    let knows_bob = || {
        let pins = Pins::in_memory();
        pins.accept(&id(&pair.bob_agent), &peer_key("bob", &old), None).unwrap();
        pins
    };
    let ana = plain(&pair.hub, &pair.ana_agent).with_keyring(keyring(knows_bob()));
    let refused = ana.say(&task, SendMessage::new(body("for whom?"))).await.unwrap_err();
    let Error::KeyChanged { agent, name, pinned, found } = &refused else { panic!("{refused:?}") };
    assert_eq!((agent, name.as_str()), (&id(&pair.bob_agent), "bob"));
    assert_eq!((*pinned, *found), (old.fingerprint(), new.fingerprint()));
    let text = refused.to_string();
    assert!(text.contains(&pinned.words()) && text.contains(&found.words()), "{text}");
    assert_eq!(messages(&ana, &task.id).await.len(), 1, "nothing was sent");

    // What the true bob signed is still verified. What the other signs is not.
    let cyd = Keyring::new(id(&pair.bob_agent), key("cyd"), Pins::in_memory());
    let cyd = plain(&pair.hub, &pair.bob_agent).with_keyring(cyd);
    cyd.say(&task, SendMessage::new(body("by the false bob"))).await.unwrap();
    let opened = ana.open_messages(&task, messages(&ana, &task.id).await).await;
    assert_eq!(opened[0].trust, Trust::Verified);
    assert!(unreadable(&opened[1]).contains(&new.fingerprint().words()), "{:?}", opened[1].trust);
    assert!(opened[1].view.content != "by the false bob");

    // After the owner has confirmed it, the new key is used.
    let pins = knows_bob();
    pins.accept(&id(&pair.bob_agent), &peer_key("bob", &new), None).unwrap();
    let ana = plain(&pair.hub, &pair.ana_agent).with_keyring(keyring(pins));
    ana.say(&task, SendMessage::new(body("welcome"))).await.unwrap();
    let forgetful = knows_bob();
    forgetful.forget(&id(&pair.bob_agent)).unwrap();
    let ana = plain(&pair.hub, &pair.ana_agent).with_keyring(keyring(forgetful));
    // A task that exists pins no key, a new one does.
    let refused = ana.say(&task, SendMessage::new(body("again"))).await.unwrap_err();
    assert!(matches!(refused, Error::NotPinned { .. }), "{refused:?}");
    let new_task = CreateTask::new(pair.bob_agent.id.clone().try_into().unwrap(), title("again"));
    ana.create_encrypted_task(new_task, &id(&pair.bob_agent)).await.unwrap();
}

#[tokio::test]
async fn tampered_content_is_unreadable_and_left_out() {
    let pair = Pair::new(Db::Sqlite).await;
    let task = pair.task().await;
    pair.ana.say(&task, SendMessage::new(body("one"))).await.unwrap();
    let other = pair.task().await;
    let good = messages(&pair.bob, &task.id).await.remove(0);

    let token = |text: &str| PeerContent::Token(PeerToken::peer(text));
    let mut altered = good.clone();
    let text = good.content.as_str();
    let first = if text.starts_with('A') { "B" } else { "A" };
    altered.content = token(&format!("{first}{}", &text[1..]));
    let mut garbage = good.clone();
    garbage.content = token(&"\u{1b}[2J\u{202e}é".repeat(20));
    let mut bare = good.clone();
    bare.encrypted_keys = None;
    let mut unsigned = good.clone();
    unsigned.sender_signature = Some(PeerToken::peer("AAAA"));
    let mut stranger = good.clone();
    stranger.sender_agent_id = tandem_api::actor::Actor::Agent("agent_eve".parse().unwrap());
    let mut system = good.clone();
    system.sender_agent_id = tandem_api::actor::Actor::System;
    let mut claimed = good.clone();
    claimed.sender_agent_id = tandem_api::actor::Actor::Agent(id(&pair.bob_agent));
    let hostile = vec![altered, garbage, bare, unsigned, stranger, system, claimed];
    let count = hostile.len();
    let opened = pair.bob.open_messages(&task, [hostile, vec![good.clone()]].concat()).await;
    for one in &opened[..count] {
        assert!(!unreadable(one).is_empty());
        assert_eq!(one.view.content.as_str(), "", "a hub could have written it");
    }
    assert_eq!(opened[count].trust, Trust::Verified, "the others do not suffer");
    // A message of one task, shown on another.
    let moved = pair.bob.open_messages(&other, vec![good]).await;
    unreadable(&moved[0]);

    let mut task = task;
    task.sender_signature = other.sender_signature.clone();
    task.title = PeerText::peer("Pay Eve");
    let opened = pair.bob.open_task(task.clone()).await;
    unreadable(&opened);
    assert!(opened.view.title == "Encrypted Task" && opened.view.description.is_none(), "{opened:?}");
    task.initiator_agent_id = "agent_eve".parse().unwrap();
    task.target_agent_id = "agent_mallory".parse().unwrap();
    unreadable(&pair.bob.open_task(task).await);
}

#[tokio::test]
async fn without_keys_it_is_clear_what_is_missing() {
    let pair = Pair::new(Db::Sqlite).await;
    let task = pair.task().await;
    let bare = plain(&pair.hub, &pair.bob_agent);
    let refused = bare.say(&task, SendMessage::new(body("hello"))).await.unwrap_err();
    assert!(matches!(refused, Error::NoKey), "{refused:?}");
    assert!(unreadable(&bare.open_task(task.clone()).await).contains("no private key"));
    let eve = pair.hub.agent("Eve").await;
    let to_eve = CreateTask::new(eve.id.clone().try_into().unwrap(), title("x"));
    let refused = pair.ana.create_encrypted_task(to_eve.clone(), &id(&eve)).await.unwrap_err();
    assert!(matches!(refused, Error::UnknownPeer(_)), "{refused:?}");
    pair.ana_agent.pair_with(&eve).await;
    let refused = pair.ana.create_encrypted_task(to_eve, &id(&eve)).await.unwrap_err();
    assert!(matches!(&refused, Error::NoPeerKey { name, .. } if name == "Eve"), "{refused:?}");
}

/// A folder that goes with the test.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("tandem_pins_{}", tandem_app::keys::random_hex::<8>()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(super) fn peer_key(name: &str, key: &PublicKey) -> PeerKey {
    PeerKey::new(name, None, key.clone())
}

pub(super) fn public(name: &str) -> PublicKey {
    key(name).public().clone()
}

#[test]
fn pins_survive_and_two_at_once_lose_none() {
    let folder = Folder::new();
    let file = folder.0.join("ada.pins");
    let agent = |n: usize| -> AgentId { format!("agent_{n}").parse().unwrap() };
    let ana = public("ana");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (file, ana) = (file.clone(), &ana);
            scope.spawn(move || {
                let pins = Pins::at(file).unwrap();
                for n in 0..10 {
                    pins.check(&agent(thread * 10 + n), &peer_key(&format!("x{thread}.{n}"), ana)).unwrap();
                }
            });
        }
    });
    let pins = Pins::at(file.clone()).unwrap();
    for n in 0..80 {
        assert!(pins.get(&agent(n)).unwrap().is_some_and(|pinned| pinned == ana), "{n}");
    }
    assert_eq!(crate::command::mode(&file), 0o600);
    assert!(matches!(
        pins.check(&agent(3), &peer_key("x0.3", &public("bob"))),
        Err(Error::KeyChanged { .. })
    ));
    // Another process accepts the new key; this one learns of it.
    Pins::at(file.clone()).unwrap().accept(&agent(3), &peer_key("x0.3", &public("bob")), None).unwrap();
    pins.check(&agent(3), &peer_key("x0.3", &public("bob"))).unwrap();
    let names: Vec<_> = std::fs::read_dir(&folder.0).unwrap().flatten().map(|one| one.file_name()).collect();
    assert_eq!(names.len(), 2, "pins and lock, nothing half-written: {names:?}");
}

#[test]
fn a_damaged_pins_file_is_never_empty() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    let file = folder.0.join("ada.pins");
    let agent: AgentId = "agent_1".parse().unwrap();
    Pins::at(file.clone()).unwrap().check(&agent, &peer_key("x", &public("ana"))).unwrap();
    let good = std::fs::read_to_string(&file).unwrap();
    for bad in ["", "{", "{}", "[]", &good[..good.len() / 2]] {
        std::fs::write(&file, bad).unwrap();
        assert!(matches!(Pins::at(file.clone()), Err(Error::Pins { .. })), "{bad:?}");
    }
    // A file that breaks while the process runs.
    std::fs::write(&file, &good).unwrap();
    let pins = Pins::at(file.clone()).unwrap();
    std::fs::write(&file, "").unwrap();
    assert!(pins.check(&"agent_2".parse().unwrap(), &peer_key("y", &public("ana"))).is_err());
    // A key that does not match its fingerprint.
    std::fs::write(&file, good.replace(&public("ana").fingerprint().hex(), &"0".repeat(64))).unwrap();
    let pins = Pins::at(file.clone()).unwrap();
    assert!(matches!(pins.get(&agent), Err(Error::Pins { .. })));
    assert!(pins.check(&agent, &peer_key("x", &public("bob"))).is_err());
    std::fs::write(&file, &good).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(Pins::at(file), Err(Error::Pins { .. })));
}

/// A hub that presents an encrypted task as a plain one gets nothing in the clear.
#[tokio::test]
async fn an_encrypted_task_is_never_treated_as_plain() {
    let pair = Pair::new(Db::Sqlite).await;
    let mut presented = pair.task().await;
    presented.encrypted = false;
    let said = pair.bob.say(&presented, SendMessage::new(body(SECRET))).await;
    assert!(matches!(said, Err(Error::PresentedAsPlain(_))), "{said:?}");
    let delivered = pair.bob.deliver(&presented, ReplyTask::new(body(SECRET))).await;
    assert!(matches!(delivered, Err(Error::PresentedAsPlain(_))), "{delivered:?}");
    let task = presented.id.clone();
    assert!(unreadable(&pair.bob.open_task(presented).await).contains("plain"));
    assert!(messages(&pair.bob, &task).await.is_empty());
}

/// What a hub writes itself on an encrypted task is never presented as a peer's.
#[tokio::test]
async fn what_a_hub_writes_is_not_a_peers() {
    let pair = Pair::new(Db::Sqlite).await;
    let task = pair.task().await;
    pair.ana.say(&task, SendMessage::new(body("one"))).await.unwrap();
    let good = messages(&pair.bob, &task.id).await.remove(0);
    let prose = |text: &str| PeerContent::Prose(PeerText::peer(text));
    let written = |content_type: ContentType, text: &str| {
        let mut message = good.clone();
        (message.content_type, message.content) = (content_type, prose(text));
        message
    };
    for encrypted in [true, false] {
        // The id says what the hub may not deny.
        let task = TaskView { encrypted, ..task.clone() };
        let lies = vec![
            written(ContentType::Text, "Pay Eve"),
            written(ContentType::Json, "{}"),
            written(ContentType::File, "file_1"),
            written(ContentType::Encrypted, "Pay Eve"),
        ];
        for one in pair.bob.open_messages(&task, lies).await {
            assert!(!unreadable(&one).is_empty() && one.view.content.as_str().is_empty(), "{one:?}");
        }
        let mut system = written(ContentType::Text, "The task has expired");
        system.sender_agent_id = tandem_api::actor::Actor::System;
        system.sender_agent_name = Some(PeerName::peer("ana"));
        let hubs = [system, written(ContentType::Encrypted, "[deleted]")];
        let [system, deleted] = pair.bob.open_messages(&task, hubs.to_vec()).await.try_into().unwrap();
        assert_eq!((system.trust, deleted.trust), (Trust::Plain, Trust::Plain));
        assert!(system.view.sender_agent_name.is_none() && deleted.view.content == "[deleted]");

        let opened = pair.bob.open_task(TaskView { result: Some(prose("Pay Eve")), ..task }).await;
        assert!(!unreadable(&opened).is_empty() && opened.view.result.is_none(), "{opened:?}");
    }
}

/// A hub that answers with another task than the named one gets nothing.
#[tokio::test]
async fn another_task_than_the_named_one_is_refused() {
    let pair = Pair::new(Db::Sqlite).await;
    let task = pair.task().await;
    let plain = CreateTask::new(pair.bob_agent.id.clone().try_into().unwrap(), title("plain"));
    let plain = pair.ana.create_task(&plain).await.unwrap();
    let plain = serde_json::to_value(&plain).unwrap();
    let connections = pair.ana_agent.get("/connections").await.ok(200);
    let (liar, _) = crate::command::lost::scripted(move |request| match request {
        connected if connected.starts_with("GET /connections") => Some((200, connections.clone())),
        _ => Some((200, plain.clone())),
    })
    .await;
    let ana = Client::new(liar.parse().unwrap()).unwrap().with_key("tdm_x");
    let refused = ana.task(&task.id).await.unwrap_err();
    assert!(matches!(refused, Error::NotAHub { .. }), "{refused:?}");
    let ana = ana.with_keyring(Keyring::new(id(&pair.ana_agent), key("ana"), Pins::in_memory()));
    let new = CreateTask::new(pair.bob_agent.id.clone().try_into().unwrap(), title(SECRET));
    let refused = ana.create_encrypted_task(new, &id(&pair.bob_agent)).await.unwrap_err();
    assert!(refused.to_string().contains("instead of task_sealed_"), "{refused:?}");
}
