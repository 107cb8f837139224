//! `tandem key`: keys for end-to-end encryption. Private keys never leave this machine.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use tandem_seal::{PrivateKey, PublicKey};

use crate::output::{self, say};

/// Arguments of `tandem key`.
#[derive(Debug, Args)]
#[command(after_help = MORE)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: KeyCommand,
}

const MORE: &str = "\
Examples:
  tandem key new agent.pem               create a key; keep agent.pem secret, register agent.pub.pem
  tandem key show agent.pem              show the public key and its fingerprint
  tandem key show peer.pub.pem           show the words to compare with the owner of the other agent

Register the public key with POST /agents {\"publicKey\": …}. The private key decrypts everything that was
encrypted for it. A lost key cannot be recovered.";

#[derive(Debug, Subcommand)]
enum KeyCommand {
    /// Create a key pair (RSA-4096)
    #[command(after_help = "Examples:\n  tandem key new agent.pem")]
    New {
        /// The file for the private key; an existing file is never overwritten
        #[arg(value_name = "FILE", default_value = "tandem-key.pem")]
        file: PathBuf,
    },
    /// Show the public key and its fingerprint
    #[command(after_help = "Examples:\n  tandem key show peer.pub.pem")]
    Show {
        /// A private or a public key
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

/// Creates or shows a key.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.command {
        KeyCommand::New { file } => {
            let public_file = public_key_path(file);
            let key = PrivateKey::generate().context("cannot create a key")?;
            key.save(file)?;
            key.public().save(&public_file)?;
            say!("Private key: {} (keep it to yourself)", file.display());
            say!("Public key:  {}", public_file.display());
            say!("{}", shown(key.public()).trim_end());
        }
        KeyCommand::Show { file } => {
            let text =
                std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
            let public = if text.contains("PRIVATE KEY") {
                PrivateKey::load(file)?.public().clone()
            } else {
                PublicKey::from_pem(&text)?
            };
            output::result(&format!("{}{}", public.to_pem(), shown(&public)))?;
        }
    }
    Ok(())
}

/// The file of the public key: `agent.pub.pem` next to `agent.pem`.
fn public_key_path(file: &Path) -> PathBuf {
    file.with_extension("pub.pem")
}

fn shown(key: &PublicKey) -> String {
    let fingerprint = key.fingerprint();
    format!("Fingerprint: {}\nIn words:    {}\n", fingerprint.hex(), fingerprint.words())
}
