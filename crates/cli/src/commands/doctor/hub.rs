//! Checks of the hub and of the agent on it.

use std::time::Duration;

use tandem_api::agents::Profile as AgentProfile;
use tandem_api::error::Code;
use tandem_api::inbox::InboxKind;
use tandem_api::tasks::PageQuery;
use tandem_client::{Client, HubProbe};
use tandem_core::Timestamp;
use tandem_seal::{PrivateKey, PublicKey};

use super::Report;
use crate::commands::metrics::Metrics;
use crate::exit::{Exit, Failure};
use crate::profiles::{Profile, Profiles};
use crate::terminal::{text, time};

const OWN_VERSION: &str = env!("CARGO_PKG_VERSION");
/// An answer that takes longer is slow.
const SLOW: Duration = Duration::from_millis(500);
/// Clocks that differ more confuse deadlines; receivers of webhooks refuse signatures that are older.
const SKEW_WARNING_MS: i64 = 5_000;
const SKEW_PROBLEM_MS: i64 = 300_000;

/// Checks the hub. False if it cannot be reached.
pub(super) async fn check(report: &mut Report, client: &Client) -> bool {
    let hub = client.hub();
    if hub.is_secure() || hub.is_local() {
        report.ok("address", hub.to_string());
    } else {
        report.warning(
            "address",
            format!("{hub} is another machine without TLS: everybody on the way can read your key"),
            "use an https:// address, or a tunnel",
        );
    }
    let asked_at = time::now();
    let probe = match client.probe_hub().await {
        Ok(probe) => probe,
        Err(error) => {
            let failure = Failure::from(error);
            report.unreachable = matches!(failure.exit, Exit::Unreachable | Exit::TimedOut);
            report.problem(
                "hub",
                failure.what(),
                "start the hub (`tandem serve`), or check the address (`tandem context list`)",
            );
            return false;
        }
    };
    let took = format!("answered in {}", millis(probe.took));
    if probe.took > SLOW {
        report.warning("hub", took, "look at the network, and at `tandem top` on the hub");
    } else {
        report.ok("hub", took);
    }
    check_version(report, &probe);
    check_clock(report, &probe, asked_at, time::now());
    match client.ready().await {
        Ok(ready) => report.ok("database", format!("{} is ready", ready.database)),
        Err(error) => report.failure(
            "database",
            &error.into(),
            "the operator has to look: is the database running, is the disk full?",
        ),
    }
    true
}

fn check_version(report: &mut Report, probe: &HubProbe) {
    let version = text::line(probe.health.version.as_str());
    if version == OWN_VERSION {
        report.ok("version", format!("{version}, here and on the hub"));
    } else {
        report.warning(
            "version",
            format!("the hub has {version}, this program {OWN_VERSION}"),
            "install the same version on both",
        );
    }
}

/// Compares the clocks. The hub's time is exact to the second, and was taken somewhere between the two times.
fn check_clock(report: &mut Report, probe: &HubProbe, from: Timestamp, to: Timestamp) {
    let Some(date) = probe.date else { return };
    let ahead_ms = date.ms_since(to);
    let behind_ms = from.ms_since(date) - 1_000;
    let skew_ms = ahead_ms.max(behind_ms).max(0);
    let way = if ahead_ms > behind_ms { "behind" } else { "ahead of" };
    let detail = format!("this machine is {} {way} the hub", time::short(skew_ms / 1_000));
    let fix = "set the clock by NTP (`timedatectl set-ntp true`), here or on the hub";
    match skew_ms {
        ..SKEW_WARNING_MS => report.ok("clock", "agrees with the hub's"),
        SKEW_WARNING_MS..SKEW_PROBLEM_MS => report.warning("clock", detail, fix),
        SKEW_PROBLEM_MS.. => report.problem("clock", detail, fix),
    }
}

/// Checks the agent: key, encryption, push, and what waits for it.
pub(super) async fn check_agent(
    report: &mut Report,
    client: &Client,
    profiles: &Profiles,
    profile: Option<&Profile>,
) {
    let login = match profile {
        Some(profile) => format!("`{}`", profile.login_command()),
        None => "`tandem login`".to_owned(),
    };
    let agent = match client.profile().await {
        Ok(agent) => agent,
        Err(error) => {
            let check = if error.code() == Some(Code::Suspended) { "suspended" } else { "key" };
            let failure = Failure::from(error);
            let failure = match profile {
                Some(profile) => failure.for_profile(profile, false),
                None => failure,
            };
            report.failure(check, &failure, &format!("{login} with a valid key"));
            return;
        }
    };
    match profile.filter(|profile| profile.agent_id != agent.id) {
        Some(profile) => report.problem(
            "key",
            format!("the key is that of {}, the profile names {}", agent.id, profile.agent_id),
            format!("{login} again"),
        ),
        None => report.ok("key", format!("the hub knows you as {}", text::line(agent.name.as_str()))),
    }
    if let Some(profile) = profile {
        check_encryption(report, profiles, profile, &agent);
    }
    check_webhook(report, &agent);
    check_push(report, client).await;
    check_work(report, client).await;
}

fn check_encryption(report: &mut Report, profiles: &Profiles, profile: &Profile, agent: &AgentProfile) {
    let file = profiles.key_file(&profile.name);
    let registered = agent.public_key.as_ref().map(|pem| PublicKey::from_pem(pem.as_str()));
    let own = file.exists().then(|| PrivateKey::load(&file));
    let place = file.display();
    match (own, registered) {
        (None, None) => report.warning(
            "encryption",
            "no key: nobody can send you encrypted tasks",
            "a key is set at registration: `tandem register NAME` makes another agent that has one",
        ),
        (None, Some(_)) => report.problem(
            "encryption",
            "a key is registered, but it is not on this machine: you cannot read encrypted tasks",
            format!("copy the private key to {place}, with mode 600"),
        ),
        (Some(Err(cause)), _) => {
            report.problem("encryption", format!("the private key cannot be used: {cause}"), {
                format!("restore {place} from a copy, or `chmod 600` it")
            });
        }
        (Some(Ok(_)), None) => report.warning(
            "encryption",
            "your key is not registered: nobody can send you encrypted tasks",
            "a key is set at registration: `tandem register NAME` makes another agent that has one",
        ),
        (Some(Ok(own)), Some(registered)) => {
            let same = registered.is_ok_and(|key| key.fingerprint() == own.public().fingerprint());
            if same {
                report.ok(
                    "encryption",
                    format!("your key is registered: {}", own.public().fingerprint().words()),
                );
            } else {
                report.problem(
                    "encryption",
                    "the registered key is another one: others encrypt for a key that you do not have",
                    format!("put the private key of the registered one at {place}"),
                );
            }
        }
    }
}

fn check_webhook(report: &mut Report, agent: &AgentProfile) {
    if let Some(url) = agent.webhook_url.as_ref().filter(|_| !agent.webhook_active) {
        report.problem(
            "webhook",
            "the hub has switched your webhook off, because it failed for a day",
            format!("repair the receiver, then `tandem webhook set {}`", text::line(url.as_str())),
        );
    }
}

/// Checks that events can be pushed. An agent cannot send itself an event, so this measures the way of one: a socket is
/// opened and pinged. How long the hub takes from the commit to the push, it counts itself; on its own machine that can
/// be read.
async fn check_push(report: &mut Report, client: &Client) {
    match client.probe_push().await {
        Ok(probe) => report.ok(
            "push",
            format!(
                "a socket opened in {} and answered a ping in {} (no event was sent; `tandem demo` measures events)",
                millis(probe.opened),
                millis(probe.round_trip)
            ),
        ),
        Err(error) => report.failure(
            "push",
            &error.into(),
            "does a proxy in front of the hub let WebSockets through? Events still come by polling",
        ),
    }
    let Ok(page) = client.metrics().await else { return };
    let delays = Metrics::parse(&page).histograms("tandem_push_delay_seconds", "");
    if let Some(delay) = delays.get("")
        && let Some(seconds) = delay.quantile(0.95)
    {
        let took = millis(Duration::from_secs_f64(seconds));
        report.ok(
            "push delay",
            format!("95% of {} pushes left the hub within {took} of the commit", delay.count),
        );
    }
}

async fn check_work(report: &mut Report, client: &Client) {
    let inbox = match client.inbox(&PageQuery { limit: Some(500), cursor: None }).await {
        Ok(inbox) => inbox,
        Err(error) => return report.failure("inbox", &error.into(), "`tandem inbox`"),
    };
    let more = if inbox.has_more { " or more" } else { "" };
    let approvals = inbox.items.iter().filter(|item| item.kind == InboxKind::Approval).count();
    let others = inbox.items.len() - approvals;
    if approvals > 0 {
        let detail = format!("{approvals}{more} tasks wait for your approval");
        report.warning("approvals", detail, "`tandem approvals` shows them");
    }
    match others {
        0 => report.ok("inbox", "nothing waits for you"),
        others => report.ok("inbox", format!("{others}{more} waiting: `tandem inbox` shows them")),
    }
}

fn millis(took: Duration) -> String {
    format!("{:.1} ms", took.as_secs_f64() * 1_000.0)
}
