//! `tandem network`: groups of agents that reach each other without pairing.

use clap::{Args, Subcommand};
use tandem_api::networks::{
    BroadcastFilter, BroadcastView, CreateInvite, CreateNetwork, JoinNetwork, MemberView, NetworkRole,
    NetworkView, SendBroadcast,
};
use tandem_core::NetworkId;

use super::agent_names::by_id_or_name;
use super::input::{checked, confirm, text_or_stdin};
use super::pages::Extent;
use super::task_view::print_quoted;
use super::{Common, Session};
use crate::exit::{Failure, Outcome};
use crate::terminal::table::Table;
use crate::terminal::{text, time};

/// Arguments of `tandem network`.
#[derive(Debug, Args)]
#[command(after_help = "\
A network is named by its id or its name.

Examples:
  tandem network create reviewers
  tandem network invite reviewers --uses 5 --for 1d
  tandem network join CODE
  tandem network broadcast reviewers \"Build is red\" --capability rust")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: NetworkCommand,
}

#[derive(Debug, Subcommand)]
enum NetworkCommand {
    /// Create a network that you own
    #[command(after_help = "Examples:\n  tandem network create reviewers --description \"Code reviews\"")]
    Create {
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
        /// What it is for
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// List your networks
    #[command(after_help = "Examples:\n  tandem network list --json")]
    List,
    /// Show one network
    #[command(after_help = "Examples:\n  tandem network show reviewers")]
    Show(Named),
    /// Make an invitation code, as the owner
    #[command(
        after_help = "Examples:\n  tandem network invite reviewers\n  tandem network invite reviewers --uses 5 --for 1d"
    )]
    Invite {
        #[command(flatten)]
        network: Named,
        /// How often the code can be used
        #[arg(long, value_name = "N")]
        uses: Option<i64>,
        /// How long the code can be used: 10m, 1h, 7d
        #[arg(long = "for", value_name = "TIME", value_parser = time::seconds)]
        valid_for: Option<i64>,
    },
    /// Join a network with an invitation code
    #[command(after_help = "Examples:\n  tandem network join CODE")]
    Join {
        /// The code
        #[arg(value_name = "CODE")]
        code: String,
    },
    /// Leave a network
    #[command(after_help = "Examples:\n  tandem network leave reviewers")]
    Leave(Named),
    /// List the members of a network
    #[command(after_help = "Examples:\n  tandem network members reviewers")]
    Members {
        #[command(flatten)]
        network: Named,
        #[command(flatten)]
        extent: Extent,
    },
    /// Remove a member, as the owner
    #[command(after_help = "Examples:\n  tandem network remove reviewers bob")]
    Remove {
        #[command(flatten)]
        network: Named,
        /// The member: id or name
        #[arg(value_name = "AGENT")]
        member: String,
    },
    /// Send a message to all members
    #[command(after_help = "\
Examples:
  tandem network broadcast reviewers \"The build is red\"
  tandem network broadcast reviewers \"Who can review?\" --capability rust --online")]
    Broadcast {
        #[command(flatten)]
        network: Named,
        /// The message; - reads it from standard input
        #[arg(value_name = "TEXT")]
        text: String,
        /// Only to members with this capability
        #[arg(long, value_name = "TAG")]
        capability: Option<String>,
        /// Only to members that are online
        #[arg(long)]
        online: bool,
    },
    /// Show the broadcasts of a network, oldest first
    #[command(after_help = "Examples:\n  tandem network messages reviewers")]
    Messages {
        #[command(flatten)]
        network: Named,
        #[command(flatten)]
        extent: Extent,
    },
    /// Delete a network, as the owner
    #[command(after_help = "Examples:\n  tandem network delete reviewers --yes")]
    Delete {
        #[command(flatten)]
        network: Named,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Args)]
struct Named {
    /// The network: id or name
    #[arg(value_name = "NETWORK")]
    network: String,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    Session::run(common, async |session| match &arguments.command {
        NetworkCommand::Create { name, description } => create(&session, name, description.as_ref()).await,
        NetworkCommand::List => list(&session).await,
        NetworkCommand::Show(named) => {
            let network = session.client.network(&find(&session, named).await?.id).await?;
            session.terminal.result(&network, |_| print_networks(&session, std::slice::from_ref(&network)))
        }
        NetworkCommand::Invite { network, uses, valid_for } => {
            invite(&session, network, *uses, *valid_for).await
        }
        NetworkCommand::Join { code } => {
            let joined = session.client.join_network(&JoinNetwork { code: checked("CODE", code)? }).await?;
            session.terminal.result(&joined, |terminal| {
                terminal.done(&format!("You are now a member of {}.", text::line(joined.name.as_str())))
            })
        }
        NetworkCommand::Leave(named) => {
            let network = find(&session, named).await?;
            let left = session.client.leave_network(&network.id).await?;
            session.terminal.result(&left, |terminal| {
                terminal.done(&format!("You have left {}.", text::line(network.name.as_str())))
            })
        }
        NetworkCommand::Members { network, extent } => members(&session, network, *extent).await,
        NetworkCommand::Remove { network, member } => remove(&session, network, member).await,
        NetworkCommand::Broadcast { network, text, capability, online } => {
            let filter = BroadcastFilter {
                capability: capability.as_ref().map(|tag| checked("--capability", tag)).transpose()?,
                online: online.then_some(true),
            };
            broadcast(&session, network, text, filter).await
        }
        NetworkCommand::Messages { network, extent } => messages(&session, network, *extent).await,
        NetworkCommand::Delete { network, yes } => {
            let network = find(&session, network).await?;
            let name = text::line(network.name.as_str());
            confirm(&format!("Delete the network {name} for all its members?"), *yes)?;
            let deleted = session.client.delete_network(&network.id).await?;
            session.terminal.result(&deleted, |terminal| terminal.done(&format!("Deleted {name}.")))
        }
    })
}

fn role(role: NetworkRole) -> &'static str {
    match role {
        NetworkRole::Owner => "owner",
        NetworkRole::Member => "member",
    }
}

/// The network that an argument names.
async fn find(session: &Session, named: &Named) -> Outcome<NetworkView> {
    let wanted = &named.network;
    let networks = session.client.networks().await?;
    let matches = |network: &NetworkView| {
        network.id.as_str() == wanted || network.name.as_str().eq_ignore_ascii_case(wanted)
    };
    let mut found: Vec<NetworkView> = networks.into_iter().filter(matches).collect();
    match (found.pop(), found.is_empty()) {
        (Some(network), true) => Ok(network),
        (None, _) => Err(Failure::not_found(format!("you are in no network {:?}", text::line(wanted)))
            .next("`tandem network list` shows your networks.")),
        (Some(_), false) => {
            Err(Failure::usage(format!("several networks are named {:?}", text::line(wanted)))
                .next("Give the id: `tandem network list` shows it."))
        }
    }
}

async fn create(session: &Session, name: &str, description: Option<&String>) -> Outcome {
    let network = CreateNetwork {
        name: checked("NAME", name)?,
        description: description.map(|text| checked("--description", text)).transpose()?,
    };
    let created = session.client.create_network(&network).await?;
    session.terminal.result(&created, |terminal| {
        terminal.line(created.id.as_str())?;
        terminal.note(&format!("Invite others: tandem network invite {}", created.id));
        Ok(())
    })
}

async fn list(session: &Session) -> Outcome {
    let networks = session.client.networks().await?;
    if session.terminal.json {
        return networks.iter().try_for_each(|network| session.terminal.json_line(network));
    }
    print_networks(session, &networks)
}

fn print_networks(session: &Session, networks: &[NetworkView]) -> Outcome {
    let mut table = Table::new(&["network", "id", "your role", "members", "owner", "description"], 5);
    for network in networks {
        table.row([
            network.name.as_str(),
            network.id.as_str(),
            role(network.role),
            &network.member_count.to_string(),
            network.owner_agent_name.as_str(),
            network.description.as_ref().map_or("", |text| text.as_str()),
        ]);
    }
    table.print(&session.terminal, "You are in no network. `tandem network create NAME` makes one.")
}

async fn invite(session: &Session, named: &Named, uses: Option<i64>, valid_for: Option<i64>) -> Outcome {
    let network = find(session, named).await?;
    let wrong = |name: &str, why: &tandem_core::text::Unfit| Failure::usage(format!("{name} {}", why.0));
    let invite = CreateInvite {
        max_uses: uses.map(|uses| uses.try_into().map_err(|why| wrong("--uses", &why))).transpose()?,
        expires_in_seconds: valid_for
            .map(|time| time.try_into().map_err(|why| wrong("--for", &why)))
            .transpose()?,
    };
    let created = session.client.invite(&network.id, &invite).await?;
    session.terminal.result(&created, |terminal| {
        terminal.line(&text::line(created.code.as_str()))?;
        let until = time::relative(created.expires_at, time::now());
        terminal.note(&format!(
            "Ends {until}. The other agent runs: tandem network join {}",
            text::line(created.code.as_str())
        ));
        Ok(())
    })
}

async fn members(session: &Session, named: &Named, extent: Extent) -> Outcome {
    let (client, network) = (&session.client, &find(session, named).await?.id);
    let listed = extent.read(|query| async move { client.members(network, &query).await }).await?;
    let row = |table: &mut Table, member: &MemberView| {
        table.row([
            member.agent_name.as_str(),
            member.agent_id.as_str(),
            role(member.role),
            if member.online { "online" } else { "" },
            &member.capabilities.as_slice().join(", "),
        ]);
    };
    let table = Table::new(&["agent", "id", "role", "seen", "capabilities"], 4);
    listed.print(&session.terminal, table, row, "The network has no members.")
}

async fn remove(session: &Session, named: &Named, member: &str) -> Outcome {
    let (client, network) = (&session.client, &find(session, named).await?.id);
    let all = Extent::whole().read(|query| async move { client.members(network, &query).await }).await?;
    let found = by_id_or_name(&all.items, member, |one| (one.agent_id.as_str(), one.agent_name.as_str()));
    let [one] = found.as_slice() else {
        return Err(Failure::not_found(format!("the network has no single member {:?}", text::line(member)))
            .next("`tandem network members NETWORK` shows their ids."));
    };
    let removed = client.remove_member(network, &one.agent_id).await?;
    session.terminal.result(&removed, |terminal| {
        terminal.done(&format!("Removed {}.", text::line(one.agent_name.as_str())))
    })
}

async fn broadcast(session: &Session, named: &Named, text: &str, filter: BroadcastFilter) -> Outcome {
    let content = checked("TEXT", text_or_stdin(text)?)?;
    let network = find(session, named).await?.id;
    let filter = (filter.capability.is_some() || filter.online.is_some()).then_some(filter);
    let sent = session.client.broadcast(&network, &SendBroadcast { content, filter }).await?;
    session.terminal.result(&sent, |terminal| {
        let agents = if sent.recipients == 1 { "agent" } else { "agents" };
        terminal.done(&format!("Sent to {} {agents}.", sent.recipients))
    })
}

async fn messages(session: &Session, named: &Named, extent: Extent) -> Outcome {
    let (client, network): (_, &NetworkId) = (&session.client, &find(session, named).await?.id);
    let listed = extent.read(|query| async move { client.broadcasts(network, &query).await }).await?;
    let terminal = &session.terminal;
    if terminal.json {
        return listed.items.iter().try_for_each(|message| terminal.json_line(message));
    }
    let print = |message: &BroadcastView| {
        let when = time::relative(message.created_at, time::now());
        terminal
            .line(&terminal.dim(&format!("{} · {when}", text::line(message.sender_agent_name.as_str()))))?;
        print_quoted(terminal, &text::lines(message.content.as_str()))
    };
    listed.items.iter().try_for_each(print)
}
