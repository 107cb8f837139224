//! Messages that were opened, so that a hub cannot present one of them as a second one.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};

use tandem_api::actor::Actor;
use tandem_api::messages::MessageView;
use tandem_api::tasks::TaskView;
use tandem_core::messages::ContentType;
use tandem_core::{AgentId, MessageId, TaskId};

use super::opening::{reason, without_content};
use super::{Opened, Trust};
use crate::{Client, Error};

/// Messages that are remembered in one process.
const SEEN_MAX: usize = 100_000;

/// What was opened under which message id.
#[derive(Debug, Default)]
pub(super) struct Seen {
    hasher: RandomState,
    ids: Mutex<HashMap<u64, MessageId>>,
}

impl Seen {
    /// Remembers a content or signature of a task. Returns whether it was seen under another message id.
    pub(super) fn is_repeated(&self, task: &TaskId, text: &str, id: &MessageId) -> bool {
        let key = self.hasher.hash_one((task.as_str(), text));
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        if ids.len() >= SEEN_MAX {
            ids.clear();
        }
        ids.entry(key).or_insert_with(|| id.clone()) != id
    }
}

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
        let mut in_this_list = HashSet::new();
        for (one, texts) in messages.iter_mut().zip(sealed_texts) {
            if !matches!(one.trust, Trust::Verified | Trust::Unopened) {
                continue;
            }
            // The sender has signed it once. A second one is the hub's.
            let mut is_repeated = false;
            for text in texts.into_iter().flatten() {
                is_repeated |= keyring.seen.is_repeated(&task.id, &text, &one.view.id);
                is_repeated |= !in_this_list.insert(text);
            }
            if is_repeated {
                *one = without_content(one.view.clone(), "it is a repeated message".to_owned());
            } else if let Err(why) = self.remember_sender(task, one) {
                *one = without_content(one.view.clone(), reason(&why));
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
