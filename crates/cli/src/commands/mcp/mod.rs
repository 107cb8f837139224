//! `tandem mcp`: an MCP server on standard input and output, for AI tools on this machine.
//!
//! It passes calls on to the hub's `/mcp` and does itself what the hub must not or cannot do: end-to-end encryption, and
//! files of this machine. It follows the agent's events, and wakes the tool's model where the tool allows that.

mod claims;
mod create;
mod failures;
mod files;
mod folder;
mod forward;
mod handler;
mod hub;
mod new_file;
mod pairing;
mod sealed;
mod stdio;
mod targets;
mod titles;
mod tools;
mod wake;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use futures_util::FutureExt as _;
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tandem_server::mcp::shared::ToolSet;
use tokio_util::sync::CancellationToken;

use super::{Common, Session};
use crate::exit::{Failure, Outcome};
use crate::terminal::time;
use folder::Folder;
use handler::Bridge;
use hub::Hub;
use stdio::Stdio;
use wake::Wakes;

/// How long running calls may take to end after the client has left.
const DRAIN_MAX: Duration = Duration::from_millis(400);
/// Time limit of the last report to the hub.
const FAREWELL_MAX: Duration = Duration::from_millis(400);
/// A model needs some time to react.
const REACTION_MIN: Duration = Duration::from_secs(1);

/// Arguments of `tandem mcp`.
#[derive(Debug, Args)]
#[command(after_help = "\
An AI tool starts it and speaks MCP with it on standard input and output. `tandem setup` writes the entry.

Examples:
  tandem mcp --agent ada
  tandem mcp --agent ada --tools all --folder ~/project
  claude mcp add --scope user tandem -- tandem mcp --agent ada")]
pub(crate) struct Arguments {
    /// Which tools the model sees: core (about a dozen), or all
    #[arg(long, value_name = "SET", default_value = "core")]
    tools: Tools,
    /// The folder that file tools may read and write [default: the current one]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Wake the model again if it has not reacted for this time, at most twice for the same news
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time::duration)]
    wake_again: Duration,
}

/// Which tools the model sees.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Tools {
    /// Enough to pair, receive, work, answer and ask.
    Core,
    /// All tools.
    All,
}

/// Serves until standard input ends.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let session = Session::open(common)?;
    let folder = Folder::open(arguments.folder.as_deref(), &[session.profiles.folder().to_owned()])?;
    let reaction = arguments.wake_again.max(REACTION_MIN);
    let set = match arguments.tools {
        Tools::Core => ToolSet::Core,
        Tools::All => ToolSet::Full,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served = runtime.block_on(serve(Hub::new(session), folder, set, reaction));
    // Calls may still be under way.
    runtime.shutdown_background();
    served
}

async fn serve(hub: Hub, folder: Folder, set: ToolSet, reaction: Duration) -> Outcome {
    let hub = Arc::new(hub);
    let closing = CancellationToken::new();
    let wakes = Wakes::start(Arc::clone(&hub), reaction, closing.clone());
    let bridge = Bridge::new(Arc::clone(&hub), folder, set, Arc::clone(&wakes), closing.clone());
    tokio::spawn(end_on_signal(closing.clone()).boxed());
    let serving = async {
        match Box::pin(bridge.serve(Stdio::start(closing.clone()))).await {
            Ok(running) => {
                let _ = running.waiting().await;
                Ok(())
            }
            // The tool looked and left.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(Failure::refused(format!("the MCP client cannot be served: {error}"))),
        }
    };
    let ended = async {
        closing.cancelled().await;
        tokio::time::sleep(DRAIN_MAX).await;
    };
    let served = tokio::select! {
        served = serving => served,
        () = ended => Ok(()),
    };
    closing.cancel();
    let _ = tokio::time::timeout(FAREWELL_MAX, wakes.farewell()).await;
    served
}

/// Ends like the end of standard input does, so that the hub learns of it.
async fn end_on_signal(closing: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    closing.cancel();
}
