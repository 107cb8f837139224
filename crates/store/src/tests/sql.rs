//! Reading and writing by hand what the store itself never writes: schemas from the future, old forms of rows.

use std::time::{Duration, Instant};

use rstest::rstest;
use tandem_core::Status;

use super::place::{Db, Place};
use crate::conn::{Conn, Mode};
use crate::dump::tables_of;
use crate::{FromValue as _, Options, Store, Value, events};

#[rstest]
fn a_schema_from_the_future_is_refused(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = Place::new(db);
    place.run(|tx| {
        let sql = "insert into schema_migrations (version, name, applied_at) values (?1, ?2, 0)";
        tx.execute(sql, &[9_999.into(), "future".into()])
    });
    place.close();
    let again = Store::open(&place.database, &Options::default(), 0);
    let error = again.expect_err("an older hub does not touch it").to_string();
    assert!(error.contains("newer tandem") && error.contains("9999"), "{error}");
}

#[rstest]
fn a_migration_that_is_missing_is_applied_whatever_came_after_it(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = Place::new(db);
    // This one changes no table, so it can be applied again.
    place.run(|tx| tx.execute("delete from schema_migrations where version = 6", &[]));
    place.close();
    drop(Store::open(&place.database, &Options::default(), 0).unwrap());
    let mut again = Conn::open(&place.database, Mode::Read).unwrap();
    let found = again.rows("select name from schema_migrations where version = 6", &[]).unwrap();
    assert_eq!(found.len(), 1);
}

#[rstest]
fn nodes_that_start_at_once_share_the_work_on_postgres() {
    let mut place = Place::new(Db::Postgres);
    place.close();
    // An empty database again, as the first nodes of a hub find it.
    let mut conn = Conn::open(&place.database, Mode::Write).unwrap();
    for table in tables_of(&mut conn).unwrap() {
        conn.batch(&format!("drop table {table}")).unwrap();
    }
    let opened = std::thread::scope(|scope| {
        let open = || Store::open(&place.database, &Options::default(), 7).map(drop);
        let nodes: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
        nodes.into_iter().map(|node| node.join().unwrap()).collect::<Vec<_>>()
    });
    for outcome in opened {
        outcome.unwrap();
    }
    let versions = conn.rows("select version from schema_migrations where version > 0", &[]).unwrap();
    assert_eq!(versions.len(), crate::migrate::count());
}

#[rstest]
fn a_node_waits_for_another_one_that_changes_the_schema_on_postgres() {
    let mut place = Place::new(Db::Postgres);
    place.run(|tx| tx.execute("delete from schema_migrations where version = 6", &[]));
    place.close();
    let mut other = Conn::open(&place.database, Mode::Write).unwrap();
    other.begin(Mode::Write).unwrap();
    let lock = "insert into schema_migrations (version, name, applied_at) values (0, 'lock', 1)
                on conflict (version) do update set applied_at = 1";
    other.execute(lock, &[]).unwrap();
    other
        .execute("insert into schema_migrations (version, name, applied_at) values (6, 'other', 1)", &[])
        .unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| Store::open(&place.database, &Options::default(), 7).map(drop));
        let deadline = Instant::now() + Duration::from_secs(20);
        while other.rows("select 1 from pg_catalog.pg_locks where not granted", &[]).unwrap().is_empty() {
            assert!(Instant::now() < deadline && !waiting.is_finished(), "it does not wait");
        }
        other.commit().unwrap();
        waiting.join().unwrap().unwrap();
    });
    let name = other.rows("select name from schema_migrations where version = 6", &[]).unwrap();
    assert_eq!(name.into_iter().next().unwrap().into_values(), ["other".into()]);
}

#[test]
fn an_unknown_word_in_a_column_is_a_failure_and_not_a_missing_row() {
    assert!(Status::from_value(Value::Text("odd".into())).is_err());
    assert!(Status::from_value(Value::Null).is_err());
    assert!(i64::from_value(Value::Text("1".into())).is_err());
}

#[rstest]
fn an_event_is_whole_however_the_log_keeps_it(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = Place::new(db);
    let as_first = r#"{"type":"task.created","taskId":"t","fromAgentId":"agent_y","attempt":1}"#;
    let rows: [(&str, Option<&str>, &str); 5] = [
        ("task.created", None, as_first),
        ("task.created", None, r#"{"attempt":1}"#),
        ("message.created", Some("m"), r#"{"fromAgentName":"\"Y\""}"#),
        ("message.read", None, r#"{"messageIds":["m"]}"#),
        ("task.updated", None, "{}"),
    ];
    let read = place.run(|tx| {
        for (seq, (kind, message, data)) in (1_i64..).zip(rows) {
            tx.execute(
                "insert into events (agent_id, seq, type, task_id, message_id, from_agent_id, data, created_at)
                 values ('agent_x', ?1, ?2, 't', ?3, 'agent_y', ?4, 1)",
                &[seq.into(), kind.into(), message.into(), data.into()],
            )?;
        }
        events::after(tx, &"agent_x".parse().unwrap(), 0, 10)
    });
    let shown: Vec<&str> = read.iter().map(|event| event.data.as_str()).collect();
    assert_eq!(
        shown,
        [
            as_first,
            as_first,
            r#"{"type":"message.created","taskId":"t","messageId":"m","fromAgentId":"agent_y","fromAgentName":"\"Y\""}"#,
            r#"{"type":"message.read","taskId":"t","messageIds":["m"]}"#,
            r#"{"type":"task.updated","taskId":"t"}"#,
        ]
    );
}

#[test]
fn sqlite_is_built_as_the_workspace_says() {
    let mut place = Place::new(Db::Sqlite);
    let options: Vec<String> =
        place.run(|tx| tx.list("select compile_options from pragma_compile_options", &[]));
    assert!(options.iter().any(|option| option == "DEFAULT_MEMSTATUS=0"), "{options:?}");
    assert!(!options.iter().any(|option| option == "ENABLE_API_ARMOR"), "{options:?}");
}
