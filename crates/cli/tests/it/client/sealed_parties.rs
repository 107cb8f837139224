//! Encrypted tasks on a hub that lies about who is who: names, parties, senders.

use std::path::PathBuf;

use serde_json::json;
use tandem_api::messages::{MessageView, SendMessage};
use tandem_api::tasks::{CreateTask, ReplyTask, TaskView};
use tandem_api::text::{PeerContent, PeerName, PeerToken};
use tandem_client::{Client, Error, Keyring, PeerKey, Pins, Trust};
use tandem_core::AgentId;
use tandem_seal::{Envelope as _, Message};

use super::sealed::{Pair, body, id, key, messages, peer_key, plain, public, title, unreadable};
use crate::backup::Shelf;
use crate::harness::{Agent, Db};

/// An agent of the hub's own, connected with ana and bob.
async fn intruder(pair: &Pair, name: &str) -> Agent {
    let intruder = pair.hub.agent_with(json!({ "name": name, "publicKey": public("cyd").to_pem() })).await;
    pair.ana_agent.pair_with(&intruder).await;
    pair.bob_agent.pair_with(&intruder).await;
    intruder
}

#[tokio::test]
async fn the_name_of_a_pinned_agent_is_not_taken_over() {
    let pair = Pair::new(Db::Sqlite).await;
    pair.task().await;
    let intruder = intruder(&pair, "Bob").await;
    let to = || CreateTask::new(intruder.id.clone().try_into().unwrap(), title("for whom?"));
    let refused = pair.ana.create_encrypted_task(to(), &id(&intruder)).await.unwrap_err();
    assert!(matches!(refused, Error::AnotherAgent(_)), "{refused:?}");
    for words in [public("bob"), public("cyd")].map(|key| key.fingerprint().words()) {
        assert!(refused.to_string().contains(&words), "{refused}");
    }
    assert!(plain(&pair.hub, &intruder).tasks(&Default::default()).await.unwrap().items.is_empty());
    let pins = pair.ana.keyring().unwrap().pins().unwrap();
    assert!(pins.get(&id(&intruder)).unwrap().is_none(), "not pinned");
    pins.accept(&id(&intruder), &peer_key("Bob", &public("cyd")), None).unwrap();
    pair.ana.create_encrypted_task(to(), &id(&intruder)).await.unwrap();
}

#[tokio::test]
async fn a_task_keeps_its_parties() {
    let pair = Pair::new(Db::Sqlite).await;
    let task = pair.task().await;
    pair.bob.open_task(task.clone()).await;
    let intruder = id(&intruder(&pair, "cyd").await);
    let for_ana = TaskView { target_agent_id: intruder.clone(), ..task.clone() };
    let for_bob = TaskView { initiator_agent_id: intruder.clone(), ..task.clone() };
    for (client, swapped) in [(&pair.ana, &for_ana), (&pair.bob, &for_bob)] {
        let said = client.say(swapped, SendMessage::new(body("for whom?"))).await;
        assert!(matches!(said, Err(Error::OtherParty { .. })), "{said:?}");
        let delivered = client.deliver(swapped, ReplyTask::new(body("for whom?"))).await;
        assert!(matches!(delivered, Err(Error::OtherParty { .. })), "{delivered:?}");
        let uploaded = client.upload_sealed(swapped, "a", "text/plain", vec![1]).await;
        assert!(matches!(uploaded, Err(Error::OtherParty { .. })), "{uploaded:?}");
        unreadable(&client.open_task(swapped.clone()).await);
    }
    assert!(messages(&pair.ana, &task.id).await.is_empty(), "nothing was sent");
    // What the intruder signs is not read either.
    pair.bob.say(&task, SendMessage::new(body("the truth"))).await.unwrap();
    let truth = messages(&pair.ana, &task.id).await.remove(0);
    let lie = Message { content_type: tandem_seal::ContentType::Text, body: "a lie".to_owned() };
    let (ana_key, cyd) = (public("ana"), key("cyd"));
    let parties = [(pair.ana_agent.id.as_str(), &ana_key), (intruder.as_str(), cyd.public())];
    let sealed = lie.seal(task.id.as_str(), &cyd, parties).unwrap();
    let mut lie = serde_json::to_value(&truth).unwrap();
    (lie["senderAgentId"], lie["content"]) = (json!(intruder), json!(sealed.content));
    (lie["encryptedKeys"], lie["senderSignature"]) = (json!(sealed.keys), json!(sealed.signature));
    let lie: MessageView = serde_json::from_value(lie).unwrap();
    unreadable(&pair.ana.open_messages(&for_ana, vec![lie.clone()]).await[0]);
    // Nor where the parties are not remembered: ana has created the task, so the other one would be pinned.
    let pins = Pins::in_memory();
    pins.accept(&id(&pair.bob_agent), &peer_key("bob", &public("bob")), None).unwrap();
    let ana = Keyring::new(id(&pair.ana_agent), key("ana"), pins);
    let ana = plain(&pair.hub, &pair.ana_agent).with_keyring(ana);
    let said = ana.say(&for_ana, SendMessage::new(body("for whom?"))).await;
    assert!(matches!(said, Err(Error::NotPinned { .. })), "{said:?}");
    unreadable(&ana.open_messages(&for_ana, vec![lie]).await[0]);
    assert!(ana.keyring().unwrap().pins().unwrap().get(&intruder).unwrap().is_none());
    ana.say(&task, SendMessage::new(body("for bob"))).await.unwrap();
}

#[tokio::test]
async fn names_are_those_that_are_known_here() {
    let pair = Pair::new(Db::Sqlite).await;
    let mut task = pair.task().await;
    pair.ana.say(&task, SendMessage::new(body("I agree"))).await.unwrap();
    pair.bob.say(&task, SendMessage::new(body("So do I"))).await.unwrap();
    (task.initiator_agent_name, task.target_agent_name) = (PeerName::peer("bob"), PeerName::peer("ana"));
    let mut lies = messages(&pair.ana, &task.id).await;
    lies[0].sender_agent_name = Some(PeerName::peer("bob"));
    lies[1].sender_agent_name = Some(PeerName::peer("ana"));
    let named = Keyring::new(id(&pair.ana_agent), key("ana"), Pins::in_memory()).named("Ana B.");
    named.pins().unwrap().accept(&id(&pair.bob_agent), &peer_key("Bob C.", &public("bob")), None).unwrap();
    let ana = plain(&pair.hub, &pair.ana_agent).with_keyring(named);
    let opened = ana.open_messages(&task, lies).await;
    let names: Vec<_> = opened
        .iter()
        .map(|one| (&one.trust, one.view.sender_agent_name.as_ref().unwrap().as_str()))
        .collect();
    assert_eq!(names, [(&Trust::Verified, "Ana B."), (&Trust::Verified, "Bob C.")]);
    let opened = ana.open_task(task).await;
    assert_eq!(opened.trust, Trust::Verified);
    assert!(opened.view.initiator_agent_name == "Ana B." && opened.view.target_agent_name == "Bob C.");
}

#[tokio::test]
async fn a_message_is_verified_once() {
    let pair = Pair::new(Db::Sqlite).await;
    let task = pair.task().await;
    pair.bob.say(&task, SendMessage::new(body("Pay 5"))).await.unwrap();
    let one = messages(&pair.ana, &task.id).await.remove(0);
    let mut again = one.clone();
    again.id = "msg_again".parse().unwrap();
    let opened = pair.ana.open_messages(&task, vec![one.clone(), again.clone()]).await;
    assert_eq!(opened[0].trust, Trust::Verified);
    assert!(unreadable(&opened[1]).contains("repeated") && opened[1].view.content == "", "{opened:?}");
    // Also when it comes later, and under the same id in one list. Reading one again is no repetition.
    unreadable(&pair.ana.open_messages(&task, vec![again]).await[0]);
    let opened = pair.ana.open_messages(&task, vec![one.clone(), one]).await;
    assert_eq!(opened[0].trust, Trust::Verified);
    unreadable(&opened[1]);
}

#[test]
fn pins_know_aliases_and_what_was_typed() {
    let pins = Pins::in_memory();
    let agent = |name: &str| -> AgentId { name.parse().unwrap() };
    let (bob, eve) = (agent("agent_bob"), agent("agent_eve"));
    let found = |name: &str, alias: Option<&str>, key: &str| PeerKey::new(name, alias, public(key));
    pins.check(&bob, &found("bob", None, "bob")).unwrap();
    // An alias and a new name are learned later.
    pins.check(&bob, &found("Robert", Some("B"), "bob")).unwrap();
    for (name, alias) in [("BOB", None), ("robert", None), ("x", Some("b")), ("agent_bob", None)] {
        let refused = pins.check(&eve, &found(name, alias, "cyd"));
        assert!(matches!(refused, Err(Error::AnotherAgent(_))), "{name} {alias:?}: {refused:?}");
    }
    // An agent that is pinned gets no name of another one either.
    pins.check(&eve, &found("bobby", None, "cyd")).unwrap();
    assert!(matches!(pins.check(&eve, &found("bob", None, "cyd")), Err(Error::AnotherAgent(_))));
    // Who types a name means the agent that is pinned under it, also if the hub hides that one.
    let is_meant = |word: &str, agent: &AgentId| pins.check_named(word, agent, None).is_ok();
    for word in ["bob", " BOB", "b", "robert", "agent_bob"] {
        assert!(
            is_meant(word, &bob) && !is_meant(word, &eve) && !is_meant(word, &agent("agent_new")),
            "{word}"
        );
    }
    assert!(is_meant("bobby", &eve) && is_meant("bo", &eve) && is_meant("carol", &agent("agent_new")));
    // One that was pinned first under a name loses it to the one whom the owner means by it.
    let real = agent("agent_real");
    pins.accept(&real, &found("bob", None, "ana"), Some("bob")).unwrap();
    assert!(is_meant("bob", &real) && !is_meant("bob", &bob) && is_meant("b", &bob));
    assert_eq!((pins.name(&real).as_deref(), pins.name(&bob).as_deref()), (Some("bob"), Some("agent_bob")));
    // Accepted by its id, it shares the name, which then means neither.
    pins.accept(&bob, &found("bob", None, "bob"), None).unwrap();
    for agent in [&real, &bob] {
        let Err(Error::SameName { agents, .. }) = pins.check_named("Bob", agent, None) else {
            panic!("{agent}")
        };
        assert_eq!((agents, pins.name(agent)), (vec![bob.clone(), real.clone()], None));
        assert!(matches!(
            pins.check_presented(
                agent,
                &["bob".into()],
                Some(&public(if *agent == real { "ana" } else { "bob" }))
            ),
            Err(Error::SameName { .. })
        ));
    }
    pins.set_alias(&real, None, Some("bob")).unwrap();
    assert!(is_meant("bob", &real) && !is_meant("bob", &bob));
}

/// A hub can present any number of agents. Only the owner adds to very many.
#[test]
fn the_number_of_keys_that_are_pinned_at_first_sight_has_a_bound() {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, key) = (Shelf::new(), public("cyd"));
    let pin = |n: usize| {
        let pin = json!({ "name": format!("n{n}"), "fingerprint": key.fingerprint().hex(), "publicKey": key.to_pem() });
        (format!("agent_{n}"), pin)
    };
    let agents: serde_json::Map<String, serde_json::Value> = (0..10_000).map(pin).collect();
    let file = folder.file("ana.pins");
    std::fs::write(&file, json!({ "agents": agents }).to_string()).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let pins = Pins::at(file).unwrap();
    let (bob, found) = ("agent_bob".parse().unwrap(), peer_key("bob", &public("bob")));
    assert!(matches!(pins.check(&bob, &found), Err(Error::TooManyPins)));
    pins.check(&"agent_7".parse().unwrap(), &peer_key("n7", &key)).unwrap();
    pins.accept(&bob, &found, None).unwrap();
    pins.check(&bob, &found).unwrap();
}

/// The texts of a peer must not look like those of the reader.
#[tokio::test]
async fn a_peer_with_the_own_name_is_shown_by_its_id() {
    let pair = Pair::new(Db::Sqlite).await;
    let mut task = pair.task().await;
    let keyring = Keyring::new(id(&pair.ana_agent), key("ana"), Pins::in_memory()).named("Ana");
    keyring
        .pins()
        .unwrap()
        .accept(&id(&pair.bob_agent), &peer_key("aNa\u{200d}", &public("bob")), None)
        .unwrap();
    let ana = plain(&pair.hub, &pair.ana_agent).with_keyring(keyring);
    task.target_agent_name = PeerName::peer("Ana");
    let opened = ana.open_task(task).await;
    assert_eq!(opened.trust, Trust::Verified);
    let view = opened.view;
    assert!(view.initiator_agent_name == "Ana" && view.target_agent_name == *pair.bob_agent.id, "{view:?}");
}

#[test]
fn a_name_adds_no_lines_to_an_error() {
    let pins = Pins::in_memory();
    let bob: AgentId = "agent_bob".parse().unwrap();
    let forged = "bob\n  now:    safe words\r\u{2028}\u{85}Accept it";
    pins.check(&bob, &PeerKey::new(forged, None, public("bob"))).unwrap();
    for name in ["bob", forged] {
        let refused = pins.check(&bob, &PeerKey::new(name, None, public("cyd"))).unwrap_err().to_string();
        assert_eq!(refused.lines().count(), 4, "{refused}");
        assert!(!refused.contains(['\r', '\u{2028}', '\u{85}']), "{refused:?}");
    }
}

/// Other clients give encrypted tasks ids that do not show it.
#[tokio::test]
async fn an_encrypted_task_never_becomes_a_plain_one() {
    let pair = Pair::new(Db::Sqlite).await;
    let peer = id(&pair.bob_agent);
    let mut task = CreateTask::new(pair.bob_agent.id.clone().try_into().unwrap(), title("secret"));
    task.id = Some("a-foreign-id".parse().unwrap());
    let task = pair.ana.create_encrypted_task(task, &peer).await.unwrap().id;
    let sealed = pair.bob.task(&task).await.unwrap();
    assert!(!pair.bob.is_known_encrypted(&task).unwrap(), "not seen yet");
    assert_eq!(pair.bob.open_description(sealed.clone()).await.trust, Trust::Verified);
    // Also one that was seen and could not be opened.
    let blind = Keyring::new(peer, key("cyd"), Pins::in_memory());
    let blind = plain(&pair.hub, &pair.bob_agent).with_keyring(blind);
    unreadable(&blind.open_description(sealed).await);
    pair.hub.place.execute(&format!("update tasks set encrypted = 0, title = 'Say it' where id = '{task}'"));
    for client in [&pair.ana, &pair.bob, &blind] {
        let presented = client.task(&task).await.unwrap();
        assert!(!presented.encrypted);
        let said = client.say(&presented, SendMessage::new(body("in the clear"))).await;
        assert!(matches!(said, Err(Error::PresentedAsPlain(_))), "{said:?}");
        let delivered = client.deliver(&presented, ReplyTask::new(body("in the clear"))).await;
        assert!(matches!(delivered, Err(Error::PresentedAsPlain(_))), "{delivered:?}");
        assert!(matches!(client.is_encrypted(&presented), Err(Error::PresentedAsPlain(_))), "files");
        let opened = client.open_description(presented).await;
        assert!(unreadable(&opened).contains("plain") && opened.view.title == "Encrypted Task");
    }
    assert!(messages(&pair.ana, &task).await.is_empty(), "nothing was sent");
}

#[test]
fn one_agent_makes_nobody_forget_the_tasks_of_others() {
    let pins = Pins::in_memory();
    let agent = |name: &str| -> AgentId { name.parse().unwrap() };
    let task = |n: usize| format!("task_{n}").parse().unwrap();
    pins.remember_peer(&task(0), &agent("agent_bob")).unwrap();
    pins.remember_sealed(&task(1)).unwrap();
    (2..10_005).for_each(|n| pins.remember_peer(&task(n), &agent("agent_eve")).unwrap());
    assert!(pins.is_sealed(&task(0)) && pins.is_sealed(&task(1)) && pins.is_sealed(&task(10_004)));
    assert!(!pins.is_sealed(&task(2)) && pins.peer(&task(1)).is_none());
}

/// A program of ana, with her files in a folder.
fn program_of_ana(pair: &Pair, folder: &Shelf) -> Client {
    use std::os::unix::fs::PermissionsExt as _;
    let pem = folder.file("ana.pem");
    std::fs::write(&pem, key("ana").to_pem().unwrap().as_bytes()).unwrap();
    std::fs::set_permissions(&pem, std::fs::Permissions::from_mode(0o600)).unwrap();
    let keyring = Keyring::in_files(id(&pair.ana_agent), pem, folder.file("ana.pins"));
    keyring.pins().unwrap().accept(&id(&pair.bob_agent), &peer_key("bob", &public("bob")), None).unwrap();
    plain(&pair.hub, &pair.ana_agent).with_keyring(keyring)
}

/// The hub announces files that nobody has signed. They take no room, so nothing that was read is forgotten for them.
#[tokio::test]
async fn what_a_hub_makes_up_takes_no_room_in_the_record() {
    let pair = Pair::new(Db::Sqlite).await;
    let task = pair.task().await;
    pair.bob.say(&task, SendMessage::new(body("Pay 5"))).await.unwrap();
    let one = messages(&pair.ana, &task.id).await.remove(0);
    let folder = Shelf::new();
    let ana = program_of_ana(&pair, &folder);
    assert_eq!(ana.open_messages(&task, vec![one.clone()]).await[0].trust, Trust::Verified);
    let made_up = |number: usize| {
        let mut message = one.clone();
        message.id = format!("msg_{number}").parse().unwrap();
        message.content = PeerContent::Token(PeerToken::peer(format!("file_{number}")));
        message.sender_signature = Some(PeerToken::peer(format!("made up {number}")));
        message
    };
    let announced = ana.open_messages(&task, (0..20_000).map(made_up).collect()).await;
    assert!(announced.iter().all(|one| one.trust == Trust::Unopened));
    assert_eq!(entries(&folder), 1);
    let copy = MessageView { id: "msg_copy".parse().unwrap(), ..one };
    for program in [ana, program_of_ana(&pair, &folder)] {
        unreadable(&program.open_messages(&task, vec![copy.clone()]).await[0]);
    }
    // Nor do tasks that nobody has signed make this agent forget those of others.
    let keyring = program_of_ana(&pair, &folder).keyring().unwrap().clone();
    let pins = keyring.pins().unwrap();
    (0..1_100).for_each(|n| pins.remember_sealed(&format!("task_{n}").parse().unwrap()).unwrap());
    assert!(pins.peer(&task.id).is_some() && pins.is_sealed(&"task_1099".parse().unwrap()));
    assert!(!pins.is_sealed(&"task_0".parse().unwrap()));
}

/// The hub shows an old file as a new one: its bytes, keys and signature under the ids of another.
#[tokio::test]
async fn a_file_is_verified_once() {
    let pair = Pair::new(Db::Sqlite).await;
    let task = pair.task().await;
    for content in ["the old plan", "the new plan"] {
        pair.bob.upload_sealed(&task, "plan.txt", "text/plain", content.into()).await.unwrap();
    }
    let [old, new] = messages(&pair.ana, &task.id).await.try_into().unwrap();
    let folder = Shelf::new();
    let ana = program_of_ana(&pair, &folder);
    let read = async |ana: &Client, message: &MessageView| ana.download_sealed(&task, message).await;
    assert_eq!(read(&ana, &old).await.unwrap().bytes, b"the old plan");
    let again = MessageView { id: new.id.clone(), ..old.clone() };
    for program in [&ana, &program_of_ana(&pair, &folder)] {
        assert!(matches!(read(program, &again).await, Err(Error::Repeated)));
        assert_eq!(read(program, &old).await.unwrap().bytes, b"the old plan", "reading again is allowed");
    }
    assert_eq!(read(&ana, &new).await.unwrap().bytes, b"the new plan");
}

/// How many contents are recorded in the one file of a folder.
fn entries(folder: &Shelf) -> u64 {
    std::fs::metadata(record(folder)).unwrap().len() / 32
}

/// The record of the one task that a program of ana has read.
fn record(folder: &Shelf) -> PathBuf {
    let [file] = folder.file("ana.seen.d").read_dir().unwrap().collect::<Vec<_>>().try_into().unwrap();
    file.unwrap().path()
}

/// Another program of the same agent has opened a message before.
#[tokio::test]
async fn a_message_is_verified_once_by_all_programs() {
    let pair = Pair::new(Db::Sqlite).await;
    let task = pair.task().await;
    pair.bob.say(&task, SendMessage::new(body("Pay 5"))).await.unwrap();
    let one = messages(&pair.ana, &task.id).await.remove(0);
    let mut again = one.clone();
    again.id = "msg_again".parse().unwrap();
    let folder = Shelf::new();
    let program = || program_of_ana(&pair, &folder);
    let (first, second) = (program(), program());
    assert_eq!(first.open_messages(&task, vec![one.clone()]).await[0].trust, Trust::Verified);
    for client in [&second, &program()] {
        assert!(unreadable(&client.open_messages(&task, vec![again.clone()]).await[0]).contains("repeated"));
        assert_eq!(client.open_messages(&task, vec![one.clone()]).await[0].trust, Trust::Verified);
    }
    // A part of an entry that a killed process has left is overwritten.
    let seen = record(&folder);
    let length = std::fs::metadata(&seen).unwrap().len();
    assert_eq!((length, crate::command::mode(&seen)), (32, 0o600));
    std::fs::OpenOptions::new().append(true).open(&seen).unwrap().set_len(length + 7).unwrap();
    pair.bob.say(&task, SendMessage::new(body("Pay 6"))).await.unwrap();
    let newest = messages(&pair.ana, &task.id).await.pop().unwrap();
    assert_eq!(program().open_messages(&task, vec![newest.clone()]).await[0].trust, Trust::Verified);
    assert_eq!(entries(&folder), 2);
    let copy = MessageView { id: "msg_copy".parse().unwrap(), ..newest };
    unreadable(&program().open_messages(&task, vec![copy]).await[0]);
}

#[test]
fn parties_of_old_tasks_are_forgotten() {
    let pins = Pins::in_memory();
    let bob: AgentId = "agent_bob".parse().unwrap();
    let task = |n: usize| format!("task_{n}").parse().unwrap();
    (0..10_001).for_each(|n| pins.remember_peer(&task(n), &bob).unwrap());
    assert_eq!((pins.peer(&task(0)), pins.peer(&task(1))), (None, Some(bob.clone())));
    let other = pins.remember_peer(&task(1), &"agent_eve".parse().unwrap());
    assert!(matches!(other, Err(Error::OtherParty { .. })), "{other:?}");
}
