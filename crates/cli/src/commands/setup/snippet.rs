//! `tandem setup --print`: the entry for a tool that is not in the table.

use serde_json::json;

use super::PrintFormat;
use super::detect::own_path;
use super::edit_toml;
use super::entry::Target;
use super::plan::refused;
use super::tools::{ENTRY, Tool};
use crate::commands::Common;
use crate::exit::{Failure, Outcome};
use crate::profiles::{Profiles, check_name};
use crate::terminal::print;

/// Prints the entry of an agent: the named one, else the one that commands act as.
pub(super) fn run(format: PrintFormat, name: Option<&str>, common: &Common) -> Outcome {
    let profiles = Profiles::of_user()?;
    let agent = match name {
        Some(name) => {
            check_name(name)?;
            name.to_owned()
        }
        None => profiles.select(common.agent.as_deref())?.name,
    };
    let target = Target::bridge(own_path()?, &agent);
    let text = match format {
        PrintFormat::Json => {
            let entry = json!({ "mcpServers": { ENTRY: target.json(Tool::Kiro.facts()) } });
            let text = serde_json::to_string_pretty(&entry);
            format!("{}\n", text.map_err(|cause| Failure::refused(cause.to_string()))?)
        }
        PrintFormat::Toml => {
            let appended = edit_toml::append("", ["mcp_servers", ENTRY], &target.toml());
            appended.map_err(|refusal| refused("".as_ref(), &refusal))?.0
        }
    };
    print(&text)?;
    if profiles.load(&agent)?.is_none() {
        common.terminal().note(&format!("The agent does not exist yet: `tandem register {agent}` makes it."));
    }
    Ok(())
}
