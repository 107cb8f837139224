//! Work that is too much for one transaction: its visible part is committed at once, the rest follows in batches, in
//! this process or after a restart.

use std::sync::Arc;

use tandem_app::accounts::{self, Erased};
use tandem_app::{networks, tasks};
use tandem_core::AgentId;

use crate::{Caller, Error, Hub, HubParts};

impl HubParts {
    /// Closes the caller's account and removes everything that belongs to it.
    pub(crate) async fn delete_account(self: &Hub, caller: &Caller) -> Result<Erased, Error> {
        let by = caller.agent.clone();
        self.write(caller, move |tx, now| accounts::close(tx, &by, now)).await?;
        let erased = Arc::clone(self).erase_account(&caller.agent).await?;
        self.liveness.forget(&caller.agent);
        self.finish_removals().await?;
        self.finish_networks().await?;
        Ok(erased)
    }

    /// Removes everything that belongs to an account that is closed.
    pub(crate) async fn erase_closed(&self, agent: &AgentId) -> Result<(), Error> {
        self.erase_account(agent).await?;
        self.liveness.forget(agent);
        Ok(self.finish_removals().await?)
    }

    /// Erases what remains of a closed account. A shutdown interrupts it; the next start continues.
    async fn erase_account(&self, agent: &AgentId) -> Result<Erased, tandem_app::Error> {
        let mut all = Erased::default();
        loop {
            self.files.removals.wait_for_space().await;
            let of = agent.clone();
            let erased = self.db.write(move |tx, now| accounts::erase_batch(tx, &of, now)).await?;
            all.connections += erased.connections;
            all.tasks += erased.tasks;
            all.messages += erased.messages;
            all.files += erased.files;
            if !erased.more || self.writing.is_closed() {
                return Ok(all);
            }
        }
    }

    /// Continues what a restart or a shutdown interrupted.
    pub async fn finish_batches(&self) -> Result<(), tandem_app::Error> {
        self.finish_cancellations().await?;
        self.finish_networks().await?;
        self.finish_marks().await?;
        for agent in self.db.read(|tx, _| accounts::closed(tx)).await? {
            if self.writing.is_closed() {
                break;
            }
            self.erase_account(&agent).await?;
        }
        // A closed account may have left tasks and a network.
        self.finish_removals().await?;
        self.finish_networks().await
    }

    /// Removes what belongs to deleted tasks with long threads.
    pub(crate) async fn finish_removals(&self) -> Result<(), tandem_app::Error> {
        while !self.writing.is_closed() && self.db.write(|tx, _| tasks::remove_batch(tx)).await? {
            self.files.removals.wait_for_space().await;
        }
        Ok(())
    }

    /// Removes the broadcasts of deleted networks.
    pub(crate) async fn finish_networks(&self) -> Result<(), tandem_app::Error> {
        while !self.writing.is_closed() && self.db.write(|tx, _| networks::erase_batch(tx)).await? {}
        Ok(())
    }

    /// Marks the messages of long threads that an act has acknowledged.
    async fn finish_marks(&self) -> Result<(), tandem_app::Error> {
        while !self.writing.is_closed() && self.db.write(|tx, _| tasks::mark_deferred(tx)).await? {}
        Ok(())
    }

    /// Cancels what one transaction did not of the tasks of a relation that has ended. Its end holds in any case;
    /// housekeeping cancels what is left after a failure.
    pub(crate) async fn cancel_rest(&self, cancelled: i64) {
        if usize::try_from(cancelled).is_ok_and(|cancelled| cancelled > tasks::CANCEL_BATCH)
            && let Err(error) = self.finish_cancellations().await
        {
            tracing::warn!(%error, "could not cancel all tasks of an ended connection; they are cancelled later");
        }
    }

    /// Cancels the remaining tasks of relations that have ended.
    async fn finish_cancellations(&self) -> Result<(), tandem_app::Error> {
        while !self.writing.is_closed() && self.db.write(tasks::continue_cancellation).await? {}
        Ok(())
    }
}
