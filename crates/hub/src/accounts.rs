//! Removes closed accounts completely, in this process or after a restart.

use std::sync::Arc;

use tandem_app::accounts::{self, Erased};
use tandem_core::AgentId;

use crate::{Caller, Error, Hub, HubParts};

impl HubParts {
    /// Closes the caller's account and removes everything that belongs to it.
    pub(crate) async fn delete_account(self: &Hub, caller: &Caller) -> Result<Erased, Error> {
        let by = caller.agent.clone();
        self.write(caller, move |tx, now| accounts::close(tx, &by, now)).await?;
        Ok(Arc::clone(self).erase_account(&caller.agent).await?)
    }

    /// Erases what remains of a closed account. A shutdown interrupts it; the next start continues.
    async fn erase_account(&self, agent: &AgentId) -> Result<Erased, tandem_app::Error> {
        let mut all = Erased::default();
        loop {
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

    /// Continues deletions that a restart interrupted.
    pub async fn finish_deletions(&self) -> Result<(), tandem_app::Error> {
        for agent in self.db.read(|tx, _| accounts::closed(tx)).await? {
            if self.writing.is_closed() {
                break;
            }
            self.erase_account(&agent).await?;
        }
        Ok(())
    }
}
