//! What wakes a call that waits for news of a task: an act of either party, because one's own act is not in one's own log.

use tandem_core::AgentId;
use tandem_hub::bus::{EndReason, Listener, StreamLimit, Transport};
use tandem_hub::{Held, Hub};

use super::call::Call;

/// What a call costs that waits.
const IDLE_BYTES: usize = 8 * 1024;

/// The bells of both parties of a task.
#[derive(Debug)]
pub(super) struct Bells {
    caller: Listener,
    host: Listener,
    _held: Held,
}

impl Bells {
    /// Begins to listen, as one of so many streams or waits of the caller.
    pub(super) fn listen(call: &Call, transport: Transport) -> Result<Self, tandem_hub::Error> {
        let held = call.hub.budget.hold(&call.caller, IDLE_BYTES)?;
        let listen = |hub: &Hub, agent: &AgentId, transport| {
            hub.liveness.bus.listen(agent, transport, hub.config.max_streams)
        };
        let heard: Result<_, StreamLimit> = (|| {
            let caller = listen(&call.hub, &call.caller.agent, transport)?;
            Ok((caller, listen(&call.hub, &call.host, Transport::Bell)?))
        })();
        let (caller, host) = heard?;
        Ok(Self { caller, host, _held: held })
    }

    /// Marks all news so far as known. Call it before reading the task.
    pub(super) fn mark_seen(&mut self) {
        self.caller.mark_seen();
        self.host.mark_seen();
    }

    /// Waits for news.
    pub(super) async fn rung(&mut self) {
        tokio::select! {
            () = self.caller.woken() => {}
            () = self.host.woken() => {}
        }
    }

    /// Why the call must end, if it must.
    pub(super) fn ended(&self) -> Option<EndReason> {
        self.caller.ended().or_else(|| self.host.ended())
    }
}
