//! Messages that were opened, so that a hub cannot present one of them as a second one.

use std::collections::HashSet;

use tandem_api::actor::Actor;
use tandem_api::messages::MessageView;
use tandem_api::tasks::TaskView;
use tandem_core::AgentId;
use tandem_core::messages::ContentType;

use super::opening::{reason, without_content};
use super::seen_file::Seen;
use super::{Opened, Trust};
use crate::{Client, Error};

impl Client {
    /// Leaves out messages that were opened before, and remembers who has signed the others. `sealed_texts` are those
    /// of the messages as the hub sent them.
    pub(super) fn refuse_repeated(
        &self,
        task: &TaskView,
        messages: &mut [Opened<MessageView>],
        sealed_texts: Vec<SealedTexts>,
    ) {
        let Ok(keyring) = self.keyring() else { return };
        let is_content = |one: &Opened<MessageView>| matches!(one.trust, Trust::Verified | Trust::Unopened);
        let read: Vec<_> = messages
            .iter()
            .zip(&sealed_texts)
            .filter(|(one, _)| is_content(one))
            .flat_map(|(one, texts)| {
                texts.iter().flatten().map(|text| Seen::entry(&task.id, text, &one.view.id))
            })
            .collect();
        let recorded = keyring.seen.record(&read).map_err(|why| reason(&why));
        let mut in_this_list = HashSet::new();
        for (one, texts) in messages.iter_mut().zip(sealed_texts) {
            if !is_content(one) {
                continue;
            }
            // The sender has signed it once. A second one is the hub's.
            let mut is_repeated = false;
            for text in texts.into_iter().flatten() {
                let entry = Seen::entry(&task.id, &text, &one.view.id);
                is_repeated |= recorded.as_ref().is_ok_and(|repeated| repeated.contains(&entry));
                is_repeated |= !in_this_list.insert(text);
            }
            let refused = match &recorded {
                Err(why) => Err(why.clone()),
                Ok(_) if is_repeated => Err("it is a repeated message".to_owned()),
                Ok(_) => self.remember_sender(task, one).map_err(|why| reason(&why)),
            };
            if let Err(why) = refused {
                *one = without_content(one.view.clone(), why);
            }
        }
    }

    /// An agent whose pinned key has signed content of the task is its other party.
    fn remember_sender(&self, task: &TaskView, message: &Opened<MessageView>) -> Result<(), Error> {
        let keyring = self.keyring()?;
        match verified_sender(message) {
            Some(sender) if sender != keyring.agent() => keyring.pins()?.remember_peer(&task.id, sender),
            _ => Ok(()),
        }
    }
}

fn verified_sender(message: &Opened<MessageView>) -> Option<&AgentId> {
    match &message.view.sender_agent_id {
        Actor::Agent(agent) if message.trust == Trust::Verified => Some(agent),
        _ => None,
    }
}

/// What no second message can have: its sealed content and its signature.
type SealedTexts = [Option<String>; 2];

pub(super) fn sealed_texts(message: &MessageView) -> SealedTexts {
    let is_sealed = message.content_type == ContentType::Encrypted;
    let signature = message.sender_signature.as_ref().map(|signature| signature.as_str().to_owned());
    [is_sealed.then(|| message.content.as_str().to_owned()), signature.filter(|_| is_sealed)]
}
