//! A client of a Tandem hub: typed calls for every REST route, the event stream, files and end-to-end encryption.
//!
//! ```no_run
//! use tandem_api::tasks::{CreateTask, TasksQuery};
//! use tandem_client::{Client, HubUrl};
//!
//! # async fn example() -> anyhow::Result<()> {
//! let hub: HubUrl = "http://127.0.0.1:3000".parse()?;
//! let client = Client::new(hub)?.with_key("tdm_...");
//! let task = CreateTask::new("bob".to_owned().try_into()?, "Review the API".to_owned().try_into()?);
//! let sent = client.create_task(&task).await?;
//! let page = client.tasks(&TasksQuery::default()).await?;
//! assert!(page.items.iter().any(|task| task.id == sent.id));
//! # Ok(())
//! # }
//! ```
//!
//! A call that fails for a passing reason is repeated: see [`Client::with_patience`]. Every POST carries an
//! idempotency key of its own, so a repetition never takes effect twice.
//!
//! This crate knows the wire types of `tandem-api` and nothing of the hub's inside. It writes nothing to the terminal
//! and reads no environment; the only files it touches are named by its caller.

#![warn(missing_docs)]

mod answered_io;
mod api_key;
mod backoff;
mod call;
mod calls;
mod client;
mod connection;
mod error;
mod files;
mod hub_url;
mod page;
mod pool;
mod probe;
mod proof_of_work;
mod sealed;
mod stream;

pub use api_key::ApiKey;
pub use call::{Method, random_key};
pub use calls::{Download, McpAnswer};
pub use client::Client;
pub use connection::{Connection, Stream};
pub use error::{AnotherAgent, Error, Refusal};
pub use files::{DownloadOptions, Downloaded, FileInfo, NewFile, Upload};
pub use hub_url::{HubUrl, NotAHubUrl};
pub use page::{Page, each_page, find_on_pages};
pub use probe::{HubProbe, PushProbe};
pub use proof_of_work::solve;
pub use sealed::{Keyring, Opened, OpenedFile, PeerKey, Pins, Trust, folded_name};
pub use stream::{EventStream, Followed, Notice, StreamEvent, Transport};
