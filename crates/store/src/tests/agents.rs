//! Every column of the tables of agents, as in `tables`.

use rstest::rstest;
use tandem_core::agents::{A2aAccess, Agent, Guest};
use tandem_core::events::EventKind;
use tandem_core::tasks::Task;
use tandem_core::{Rule, Timestamp};

use super::place::{Db, Place};
use super::tables::{agent, id, text};
use crate::events::NewEvent;
use crate::webhooks::Webhook;
use crate::{Value, admin, agents, connections, deadlines, directory, events, guests, tasks, webhooks};

#[rstest]
fn an_agent_with_its_tags_and_its_mailbox(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = Place::new(db);
    let ada = agent("ada", "Ada");
    place.run(|tx| agents::insert(tx, &ada, b"hash"));
    let rest = |webhook: &Webhook, next_at: Option<i64>, lease_until: i64| {
        [
            ("id", Value::from("ada")),
            ("name", "Ada".into()),
            ("description", "Describes".into()),
            ("capabilities", "one,two".into()),
            ("metadata", "metadata".into()),
            ("public_key", "public key".into()),
            ("key_hash", b"hash".as_slice().into()),
            ("discoverable", 0.into()),
            ("auto_accept", 0.into()),
            ("default_approval", "require".into()),
            ("costs_credits", 0.into()),
            ("credits_micro", 11.into()),
            ("search_text", "ada\ndescribes".into()),
            ("created_at", 12.into()),
            ("last_seen_at", 13.into()),
            ("wake", "runner:75014:- hook:-:15".into()),
            ("a2a", "public".into()),
            ("skills", "skills".into()),
            ("profile_at", 16.into()),
            ("is_remote", 0.into()),
            ("webhook_url", webhook.url.clone().into()),
            ("webhook_secret", webhook.secret.clone().into()),
            ("webhook_events", webhook.events.join(",").into()),
            ("webhook_active", webhook.active.into()),
            ("webhook_failing_since", webhook.failing_since.into()),
            ("webhook_cursor", webhook.cursor.into()),
            ("webhook_next_at", next_at.into()),
            ("webhook_lease_until", lease_until.into()),
            ("webhook_lease_holder", if lease_until == 0 { "" } else { "node" }.into()),
            ("webhook_leased", if lease_until == 0 { 0 } else { 4 }.into()),
            ("webhook_interrupted", 0.into()),
            ("suspended", 0.into()),
            ("deleted_at", Value::Null),
            ("file_bytes", 0.into()),
        ]
    };
    let new = Webhook {
        url: text("url"),
        secret: None,
        events: vec!["three".into()],
        active: false,
        failing_since: None,
        cursor: 0,
    };
    place.expect("agents", rest(&new, None, 0));
    assert_eq!(place.run(|tx| agents::find(tx, &ada.id)), Some(ada.clone()));
    assert_eq!(place.run(|tx| webhooks::find(tx, &ada.id)), Some(new));
    let tags: Vec<Value<'_>> =
        place.raw("agent_capabilities").iter().map(|row| row["capability"].clone()).collect();
    assert_eq!(tags, ["one".into(), "two".into()]);
    let zero = Value::Int(0);
    place.expect(
        "mailboxes",
        [
            ("agent_id", "ada".into()),
            ("last_seq", zero.clone()),
            ("events_acked", zero.clone()),
            ("updates_acked", zero.clone()),
            ("events_fetched", zero.clone()),
            ("tasks_ended", zero.clone()),
            ("tasks_completed", zero),
            ("webhook_cursor", Value::Null),
        ],
    );

    let webhook = Webhook {
        url: text("other url"),
        secret: text("secret"),
        events: vec!["four".into(), "five".into()],
        active: true,
        failing_since: Some(Timestamp(21)),
        cursor: 22,
    };
    place.run(|tx| webhooks::update(tx, &ada.id, &webhook));
    place.run(|tx| webhooks::set_cursor(tx, &ada.id, webhook.cursor));
    assert!(place.run(|tx| webhooks::lease(tx, &ada.id, "node", 4, Timestamp(1), Timestamp(23))));
    place.expect("agents", rest(&webhook, Some(23), 23));
    assert_eq!(place.run(|tx| webhooks::find(tx, &ada.id)), Some(webhook));
}

#[rstest]
fn each_flag_of_an_agent_has_its_own_column(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let names = ["discoverable", "auto_accept", "costs_credits", "suspended", "webhook_active"];
    for set in 0..names.len() {
        let mut place = Place::new(db);
        let flag = |number: usize| number == set;
        let ada = Agent {
            discoverable: flag(0),
            auto_accept: flag(1),
            costs_credits: flag(2),
            suspended: flag(3),
            webhook_active: flag(4),
            ..agent("ada", "Ada")
        };
        place.run(|tx| agents::insert(tx, &ada, b"hash"));
        let row = &place.raw("agents")[0];
        for (number, name) in names.into_iter().enumerate() {
            assert_eq!(row[name], Value::from(flag(number)), "{name}");
        }
        assert_eq!(place.run(|tx| agents::find(tx, &ada.id)), Some(ada));
    }
}

#[rstest]
fn what_agents_and_operators_change(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = Place::new(db);
    let ada = agent("ada", "Ada");
    place.run(|tx| agents::insert(tx, &ada, b"hash"));
    let changed = Agent {
        name: "Eve".into(),
        description: text("Other"),
        capabilities: vec!["six".into()],
        metadata: text("other metadata"),
        public_key: text("not written"),
        discoverable: true,
        auto_accept: false,
        default_approval: Some(Rule::Auto),
        a2a: A2aAccess::Off,
        skills: None,
        profile_at: Some(Timestamp(33)),
        credits_micro: 99,
        ..ada.clone()
    };
    place.run(|tx| agents::update(tx, &changed));
    let expected = Agent { public_key: ada.public_key, credits_micro: 11, ..changed };
    assert_eq!(place.run(|tx| agents::find(tx, &expected.id)), Some(expected.clone()));
    assert_eq!(place.raw("agents")[0]["search_text"], "eve\nother".into());
    place.run(|tx| agents::set_terms(tx, &expected.id, true, 31, false));
    place.run(|tx| agents::set_last_seen(tx, &expected.id, Timestamp(32)));
    let expected =
        Agent { costs_credits: true, credits_micro: 31, last_seen_at: Some(Timestamp(32)), ..expected };
    assert_eq!(place.run(|tx| agents::find(tx, &expected.id)), Some(expected.clone()));
    place.run(|tx| agents::set_key_hash(tx, &expected.id, b"new"));
    assert_eq!(place.run(|tx| agents::key_of(tx, &expected.id)), Some((b"new".to_vec(), false)));
    assert_eq!(place.run(|tx| agents::by_key_hash(tx, b"new")), Some((id("ada"), false, None)));

    place.run(|tx| crate::accounts::close(tx, &expected.id, Timestamp(41)));
    let row = &place.raw("agents")[0];
    for name in ["discoverable", "auto_accept", "webhook_active"] {
        assert_eq!(row[name], Value::Int(0), "{name}");
    }
    for name in ["webhook_url", "webhook_secret", "webhook_next_at"] {
        assert_eq!(row[name], Value::Null, "{name}");
    }
    assert_eq!((&row["deleted_at"], &row["key_hash"]), (&Value::Int(41), &b"ada".as_slice().into()));
}

#[rstest]
fn the_directory_and_the_totals(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = Place::new(db);
    let (ada, bob) = (agent("ada", "Ada"), Agent { discoverable: true, ..agent("bob", "Bob") });
    place.run(|tx| agents::insert(tx, &ada, b"1"));
    place.run(|tx| agents::insert(tx, &bob, b"2"));
    place
        .run(|tx| connections::insert(tx, &id("connection"), (&ada.id, &bob.id), (None, None), Timestamp(5)));
    place.run(|tx| tasks::count_ended(tx, &bob.id, true, 6));
    place.run(|tx| tasks::count_ended(tx, &bob.id, false, 1));
    let search = directory::Search {
        capability: None,
        text: None,
        registered_before: Timestamp(99),
        in_networks: false,
        limit: 10,
        offset: 0,
    };
    let (total, listed) = place.run(|tx| directory::search(tx, &ada.id, &search));
    let expected =
        directory::Listed { agent: bob.clone(), connection_count: 1, tasks_ended: 7, tasks_completed: 6 };
    assert_eq!((total, listed), (1, vec![expected]));
    assert_eq!(place.run(|tx| admin::list_agents(tx, None, 1)), [bob]);

    for task in ["one", "two", "three"] {
        place.run(|tx| tasks::insert(tx, &Task { id: id(task), ..super::tasks::new_task() }, None));
    }
    let event = || NewEvent {
        kind: EventKind::TaskCreated,
        task: None,
        message: None,
        from: None,
        data: "{}".into(),
        at: Timestamp(5),
    };
    place.run(|tx| events::append(tx, &ada.id, &[event(), event(), event(), event()]));
    // In parts of two rows, and of more than there are.
    for some in [1, 100] {
        let mut total = |what: admin::Counted| {
            let (mut total, mut after) = (0, String::new());
            loop {
                let part = place.run(|tx| admin::count_some(tx, what, &after, some));
                assert!(
                    what != admin::Counted::Tasks
                        || part.by_status.iter().all(|(status, _)| status == "submitted")
                );
                total += part.by_status.iter().map(|(_, count)| count).sum::<i64>();
                match part.next {
                    Some(next) => after = next,
                    None => return total,
                }
            }
        };
        use admin::Counted::{Agents, ConnectionSides, Events, Messages, Tasks};
        assert_eq!([Agents, ConnectionSides, Messages, Events, Tasks].map(&mut total), [2, 2, 0, 4, 3]);
    }
}

#[rstest]
fn a_guest_and_its_time(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = Place::new(db);
    place.run(|tx| agents::insert(tx, &agent("ada", "Ada"), b"1"));
    place.run(|tx| agents::insert(tx, &agent("eve", "Eve"), b"2"));
    let guest = Guest {
        agent: id("eve"),
        name: "Eve".into(),
        host: id("ada"),
        expires_at: Some(Timestamp(7)),
        created_at: Timestamp(5),
    };
    place.run(|tx| guests::insert(tx, &guest));
    place.expect(
        "guests",
        [
            ("agent_id", "eve".into()),
            ("host_id", "ada".into()),
            ("expires_at", 7.into()),
            ("created_at", 5.into()),
        ],
    );
    assert_eq!(place.run(|tx| guests::list(tx, &guest.host, 9)), std::slice::from_ref(&guest));
    assert_eq!(place.run(|tx| guests::host_of(tx, &guest.agent)), Some(id("ada")));
    assert_eq!(place.run(|tx| guests::expired(tx, Timestamp(6), 9)), []);
    assert_eq!(place.run(|tx| guests::expired(tx, Timestamp(7), 9)), [id("eve")]);
    assert_eq!(place.run(|tx| deadlines::any_due(tx, Timestamp(6))), (false, false));
    assert_eq!(place.run(|tx| deadlines::any_due(tx, Timestamp(7))), (false, true));
    let found = place.run(|tx| agents::by_key_hash(tx, b"2"));
    assert_eq!(found, Some((id("eve"), false, Some(id("ada")))));
    place.run(|tx| guests::remove(tx, &guest.agent));
    assert_eq!(place.run(|tx| agents::by_key_hash(tx, b"2")), Some((id("eve"), false, None)));
}
