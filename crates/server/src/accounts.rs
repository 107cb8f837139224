//! Removing closed accounts to their end, here and after a restart.

use tandem_app::accounts::{self, Gone};
use tandem_app::{Error, accounts::erase_part};
use tandem_core::AgentId;

use crate::hub::HubParts;

impl HubParts {
    /// Closes an account and removes everything of it; tells how much that was.
    pub async fn delete_account(&self, agent: &AgentId) -> Result<Gone, Error> {
        let by = agent.clone();
        self.write(move |tx, now| accounts::close(tx, &by, now)).await?;
        self.end_key(agent);
        self.receivers.set(agent, false);
        self.erase_account(agent).await
    }

    /// Removes what a closed account still has.
    async fn erase_account(&self, agent: &AgentId) -> Result<Gone, Error> {
        let mut all = Gone::default();
        loop {
            let of = agent.clone();
            let gone = self.write(move |tx, now| erase_part(tx, &of, now)).await?;
            self.files.remove(&gone.files).await;
            all.connections += gone.connections;
            all.tasks += gone.tasks;
            all.messages += gone.messages;
            all.files.extend(gone.files);
            if !gone.more {
                return Ok(all);
            }
        }
    }

    /// Goes on where a request or a process was cut off.
    pub async fn finish_deletions(&self) -> Result<(), Error> {
        for agent in self.read(|tx, _| accounts::closed(tx)).await? {
            self.erase_account(&agent).await?;
        }
        Ok(())
    }
}
