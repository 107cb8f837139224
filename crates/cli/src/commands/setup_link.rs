//! `tandem setup-link`: a way into the dashboard for the operator, without typing the token into a browser.

use clap::Args;

use super::Common;
use super::operator::OperatorOptions;
use super::session::block_on;
use crate::exit::Outcome;

/// Arguments of `tandem setup-link`.
#[derive(Debug, Args)]
#[command(after_help = "\
The link works once and for 30 minutes. Its code is behind the sign #, which browsers do not send to servers.
The operator's token goes to the hub of --hub or TANDEM_HUB, else to http://127.0.0.1:3000; never to that of a profile.

Examples:
  tandem setup-link                        on the machine of the hub, in its folder
  tandem setup-link --hub https://hub.example.com --token-file operator.token")]
pub(crate) struct Arguments {
    #[command(flatten)]
    operator: OperatorOptions,
}

/// Runs `tandem setup-link`.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let client = arguments.operator.client(common)?;
    let terminal = common.terminal();
    block_on(async {
        let link = client.admin_setup_link().await?;
        terminal.result(&link, |terminal| terminal.line(&format!("{}{}", client.hub(), link.path.as_str())))
    })
}
