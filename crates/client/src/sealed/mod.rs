//! End-to-end encryption on top of the calls: seals what goes to an encrypted task, opens what comes from one.
//!
//! The hub says which agents a task has and what their public keys are. A hub could lie about both, so the key of each
//! agent is pinned when it is first seen, and content counts as verified only if the pinned key has signed it. Content of
//! an encrypted task that is not verified is left out of the opened view: the hub could have written it. The other party of
//! an encrypted task is remembered when the task is created or first opened, and no other agent takes its place.
//!
//! ```no_run
//! use tandem_api::tasks::CreateTask;
//! use tandem_client::{Client, Keyring, Pins, Trust};
//! use tandem_seal::PrivateKey;
//!
//! # async fn example(client: Client, bob: tandem_core::AgentId) -> anyhow::Result<()> {
//! let me = client.profile().await?.id;
//! let key = PrivateKey::load("ada.pem".as_ref())?;
//! let client = client.with_keyring(Keyring::new(me, key, Pins::at("ada.pins".into())?));
//!
//! let task = CreateTask::new(bob.to_string().try_into()?, "For your eyes only".to_owned().try_into()?);
//! let sent = client.create_encrypted_task(task, &bob).await?;
//! let read = client.open_task(client.task(&sent.id).await?).await;
//! assert_eq!(read.trust, Trust::Verified);
//! # Ok(())
//! # }
//! ```

mod keyring;
mod known_tasks;
mod names;
mod opening;
mod peers;
mod pinned;
mod pins;
mod pins_file;
mod seen;
mod seen_folder;
mod sending;
mod unsigned;

pub use keyring::Keyring;
pub use names::folded_name;
pub use opening::{Opened, OpenedFile, Trust};
pub use peers::PeerKey;
pub use pins::Pins;
