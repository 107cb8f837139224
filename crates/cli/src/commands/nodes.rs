//! `tandem nodes`: the processes that serve a hub, for its operator.

use clap::Args;
use tandem_api::admin::AdminNode;

use super::Common;
use super::operator::OperatorOptions;
use super::session::block_on;
use crate::exit::Outcome;
use crate::terminal::table::Table;
use crate::terminal::time;

/// Arguments of `tandem nodes`.
#[derive(Debug, Args)]
#[command(after_help = "\
BUS says how a node hears of what the others commit: hearing (at once, by NATS), deaf or away (it looks at the database
every second until NATS is back), polling (it always does), alone (there are no others). LAG is the time of its last
exchange with NATS, SEEN the time since it last said that it runs; after 20 seconds it counts as gone.
The operator's token goes to the hub of --hub or TANDEM_HUB, else to http://127.0.0.1:3000; never to that of a profile.

Examples:
  tandem nodes                             on the machine of a node, in its folder
  tandem nodes --hub https://hub.example.com --token-file operator.token --json | jq .version")]
pub(crate) struct Arguments {
    #[command(flatten)]
    operator: OperatorOptions,
}

/// Runs `tandem nodes`.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let client = arguments.operator.client(common)?;
    let terminal = common.terminal();
    block_on(async {
        let nodes = client.admin_nodes().await?;
        if terminal.json {
            return nodes.iter().try_for_each(|node| terminal.json_line(node));
        }
        let header = ["node", "address", "version", "bus", "lag", "sockets", "streams", "started", "seen"];
        let mut table = Table::new(&header, 0);
        nodes.iter().for_each(|node| table.row(cells(node)));
        table.print(&terminal, "No node has said that it runs.")
    })
}

fn cells(node: &AdminNode) -> [String; 9] {
    let bus = node.bus.as_str();
    [
        node.id.to_string(),
        node.advertise.as_str().to_owned(),
        node.version.as_str().to_owned(),
        if node.draining { format!("{bus}, stopping") } else { bus.to_owned() },
        node.bus_ms.map_or_else(|| "-".into(), |ms| format!("{ms:.1} ms")),
        node.open_sockets.to_string(),
        node.open_streams.to_string(),
        time::relative(node.started_at, time::now()),
        format!(
            "{:.1} s ago",
            std::time::Duration::from_millis(node.seen_ms_ago.unsigned_abs()).as_secs_f64()
        ),
    ]
}
