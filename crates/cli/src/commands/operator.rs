//! The operator's token: from a file, the environment, or the data folder of a hub on this machine. Never from an
//! argument, which other users of the machine can read. It goes to the hub that the operator names, else to the usual one
//! on this machine; never to the hub of a profile, which somebody else may operate.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;
use tandem_client::{Client, HubUrl};

use super::Common;
use super::session::hub_of;
use crate::exit::{Failure, Outcome};
use crate::profiles::read_secret;

const VARIABLE: &str = "TANDEM_ADMIN_TOKEN";
/// The file in the data folder where a hub stores the token that it has generated.
const FILE: &str = "admin-token";
const WHERE: &str =
    "Set TANDEM_ADMIN_TOKEN, give --token-file FILE, or run this where the hub's data folder is (--data).";

/// What to do about a token that others may have read.
const REPLACE: &str = "give the hub another token";

/// Options that find the operator's token.
#[derive(Debug, Args)]
pub(crate) struct OperatorOptions {
    /// Read the operator's token from this file; - reads standard input
    #[arg(long, global = true, value_name = "FILE", help_heading = "Operator")]
    token_file: Option<PathBuf>,
    /// A local hub's data folder, which has the token
    #[arg(
        long,
        global = true,
        value_name = "FOLDER",
        env = "TANDEM_DATA",
        hide_env_values = true,
        default_value = "./tandem-data",
        help_heading = "Operator"
    )]
    data: PathBuf,
}

impl OperatorOptions {
    /// A client with the operator's token: from `--token-file`, `TANDEM_ADMIN_TOKEN` or the data folder.
    pub(crate) fn client(&self, common: &Common) -> Outcome<Client> {
        let given = match &self.token_file {
            Some(file) => Some(read_token(file)?),
            None => std::env::var(VARIABLE).ok().filter(|token| !token.trim().is_empty()),
        };
        let (hub, token) = match given {
            Some(token) => (hub_of(common)?, token),
            None => (local_hub(common)?, self.stored_token()?),
        };
        Ok(Client::new(hub)?.with_key(token.trim()))
    }

    fn stored_token(&self) -> Outcome<String> {
        let file = self.data.join(FILE);
        read_secret(&file, REPLACE)?.ok_or_else(|| {
            Failure::refused(format!("there is no operator's token: no file {}", file.display())).next(WHERE)
        })
    }
}

/// The hub for a token from the data folder. That token belongs to a hub of this machine and is sent to no other.
fn local_hub(common: &Common) -> Outcome<HubUrl> {
    let hub = hub_of(common)?;
    if hub.is_local() {
        return Ok(hub);
    }
    Err(Failure::usage(format!("{hub} is another machine, so the token in the data folder is not its token"))
        .next(WHERE))
}

fn read_token(file: &Path) -> Outcome<String> {
    if file == Path::new("-") {
        let mut token = String::new();
        std::io::stdin().take(4_096).read_to_string(&mut token)?;
        return Ok(token);
    }
    read_secret(file, REPLACE)?
        .ok_or_else(|| Failure::usage(format!("--token-file: no file {}", file.display())))
}
