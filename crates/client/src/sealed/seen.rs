//! Messages and files that were opened, so that a hub cannot present one of them as a second one.
//!
//! Only what a pinned key has signed is recorded, so a hub alone can fill no record.

use std::collections::HashSet;

use tandem_api::actor::Actor;
use tandem_api::messages::MessageView;
use tandem_api::tasks::TaskView;
use tandem_core::messages::ContentType;
use tandem_core::{AgentId, MessageId};

use super::opening::{reason, without_content};
use super::seen_folder::Seen;
use super::{Opened, Trust};
use crate::{Client, Error};

impl Client {
    /// Leaves out messages that were opened before, and remembers who has signed the others. `sealed_texts` are those
    /// of the messages as the hub sent them.
    pub(super) fn refuse_repeated(
        &self,
        task: &TaskView,
        messages: &mut [Opened<MessageView>],
        sealed_texts: &[Option<String>],
    ) {
        // Two messages cannot announce one file.
        let mut announced = HashSet::new();
        for (one, text) in messages.iter_mut().zip(sealed_texts) {
            if one.trust == Trust::Unopened && !announced.insert(text) {
                *one = without_content(one.view.clone(), Error::Repeated.to_string());
            }
        }
        let verified: Vec<(usize, &str)> = (0..messages.len())
            .filter(|at| messages[*at].trust == Trust::Verified)
            .filter_map(|at| Some((at, sealed_texts[at].as_deref()?)))
            .collect();
        let read: Vec<_> = verified.iter().map(|(at, text)| (*text, &messages[*at].view.id)).collect();
        let signers = verified.iter().filter_map(|(at, _)| sender(&messages[*at].view));
        let recorded = self.record(task, signers, &read);
        // The sender has signed it once. A second one is the hub's, also one with the same id.
        let mut in_this_list = HashSet::new();
        for (number, (at, text)) in verified.iter().enumerate() {
            let refused = match &recorded {
                Err(why) => Some(reason(why)),
                Ok(recorded) => match &recorded[number] {
                    Err(why) => Some(reason(why)),
                    Ok(()) => (!in_this_list.insert(*text)).then(|| Error::Repeated.to_string()),
                },
            };
            if let Some(why) = refused {
                messages[*at] = without_content(messages[*at].view.clone(), why);
            }
        }
    }

    /// Records the content of a file that was opened. An error if it came with another message before.
    pub(super) fn record_file(
        &self,
        task: &TaskView,
        sender: &AgentId,
        content: &str,
        message: &MessageId,
    ) -> Result<(), Error> {
        let mut recorded = self.record(task, std::iter::once(sender), &[(content, message)])?;
        recorded.pop().unwrap_or(Ok(()))
    }

    /// Records signed contents of a task with the messages that they came with. An agent whose pinned key has signed
    /// content of the task is its other party; it is remembered first, because the record of a task that nobody remembers is
    /// removed.
    fn record<'a>(
        &self,
        task: &TaskView,
        signers: impl Iterator<Item = &'a AgentId>,
        read: &[(&str, &MessageId)],
    ) -> Result<Vec<Result<(), Error>>, Error> {
        if read.is_empty() {
            return Ok(Vec::new());
        }
        let keyring = self.keyring()?;
        let pins = keyring.pins()?;
        for signer in signers.filter(|signer| *signer != keyring.agent()) {
            pins.remember_peer(&task.id, signer)?;
        }
        let entries: Vec<_> = read.iter().map(|(text, message)| Seen::entry(text, message)).collect();
        keyring.seen.record(&task.id, &entries, || pins.tasks())
    }
}

fn sender(message: &MessageView) -> Option<&AgentId> {
    match &message.sender_agent_id {
        Actor::Agent(agent) => Some(agent),
        Actor::System => None,
    }
}

/// What no second message can have: its sealed content, or the id of its file.
pub(super) fn sealed_text(message: &MessageView) -> Option<String> {
    (message.content_type == ContentType::Encrypted).then(|| message.content.as_str().to_owned())
}
