//! Jobs that share a group on PostgreSQL do not suffer from one another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use futures_util::future::{join, poll_immediate};

use super::place::{Db, Place};
use crate::declare::insert;
use crate::{Error, Options, Store, Tx};

/// Runs two jobs in one group; `hold` is a third one, behind which they wait.
macro_rules! in_one_group {
    ($store:expr, $kind:ident, $one:expr, $other:expr) => {{
        let store = $store;
        let (begun, release) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (has_begun, is_released) = (Arc::clone(&begun), Arc::clone(&release));
        let hold = store.$kind(move |_: &mut Tx<'_>| {
            has_begun.store(true, SeqCst);
            while !is_released.load(SeqCst) {
                std::thread::yield_now();
            }
            Ok::<_, Error>(())
        });
        let others = async {
            while !begun.load(SeqCst) {
                tokio::task::yield_now().await;
            }
            let mut both = Box::pin(join(store.$kind($one), store.$kind($other)));
            let early = poll_immediate(&mut both).await;
            assert!(early.is_none(), "they are in the queue");
            release.store(true, SeqCst);
            both.await
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(join(hold, others)).1
    }};
}

fn store(place: &mut Place) -> Store {
    place.close();
    Store::open(&place.database, &Options { readers: 1, writers: 1, ..Options::default() }, 0).unwrap()
}

fn block(tx: &mut Tx<'_>, by: Option<&str>, blocked: &str) -> Result<(), Error> {
    insert!(blocks { agent_id: by, blocked_id: blocked, created_at: 1 }).send(tx)
}

fn blocks(tx: &mut Tx<'_>) -> Result<Vec<String>, Error> {
    tx.list("select agent_id from blocks order by agent_id", &[])
}

#[test]
fn a_read_that_fails_takes_nobody_with_it_on_postgres() {
    let mut place = Place::new(Db::Postgres);
    place.run(|tx| block(tx, Some("ada"), "bob"));
    let store = store(&mut place);
    let broken = |tx: &mut Tx<'_>| tx.rows("select nonsense", &[]).map(drop);
    let (failed, found) = in_one_group!(&store, read, broken, blocks);
    assert!(matches!(failed, Err(Error::Failed(_))), "{failed:?}");
    assert_eq!(found.unwrap(), ["ada"]);
    drop(store);
}

#[test]
fn a_write_that_the_database_refuses_takes_nobody_with_it_on_postgres() {
    let mut place = Place::new(Db::Postgres);
    let store = store(&mut place);
    let (refused, written) = in_one_group!(
        &store,
        write,
        |tx: &mut Tx<'_>| block(tx, None, "bob"),
        |tx: &mut Tx<'_>| block(tx, Some("cy"), "dan")
    );
    assert!(matches!(refused, Err(Error::Failed(_))), "{refused:?}");
    written.unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    assert_eq!(runtime.block_on(store.read(blocks)).unwrap(), ["cy"]);
    drop(store);
}
