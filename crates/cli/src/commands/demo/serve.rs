//! A hub inside this process, in a temporary folder that is removed at the end.

use std::path::PathBuf;

use futures_util::FutureExt as _;
use tandem_client::HubUrl;
use tandem_hub::webhooks::address::Resolver;
use tandem_hub::{Clock, Config};
use tandem_server::Server;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::descriptors;
use crate::exit::{Failure, Outcome};

/// The hub. Its folder goes with it, also after a failure.
#[derive(Debug)]
pub(super) struct TemporaryHub {
    pub(super) url: HubUrl,
    stop: Option<oneshot::Sender<()>>,
    served: Option<JoinHandle<()>>,
    folder: PathBuf,
}

impl TemporaryHub {
    /// Starts a hub on a free port of this machine.
    pub(super) async fn start() -> Outcome<Self> {
        let folder = std::env::temp_dir().join(format!("tandem-demo-{}", std::process::id()));
        let mut config =
            Config { listen: ([127, 0, 0, 1], 0).into(), data: folder.clone(), ..Config::default() };
        descriptors::make_room(&mut config)?;
        let started = tandem_hub::start::open(config, Clock::System, Resolver::system())
            .await
            .map_err(anyhow::Error::from)?;
        let listener = tandem_server::listen(&started.hub.config).await.map_err(anyhow::Error::from)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(
            Server::new(started)
                .run(listener, async {
                    let _ = stopped.await;
                })
                .boxed(),
        );
        let url =
            format!("http://{address}").parse().map_err(|cause| Failure::refused(format!("{cause}")))?;
        Ok(Self { url, stop: Some(stop), served: Some(served), folder })
    }

    pub(super) async fn stop(mut self) {
        drop(self.stop.take());
        if let Some(served) = self.served.take() {
            // It has nothing to say any more.
            let _ = served.await;
        }
    }
}

impl Drop for TemporaryHub {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
