//! `tandem key`: keys for end-to-end encryption, made and kept here and nowhere else.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use tandem_seal::{PrivateKey, PublicKey};

/// What `tandem key` takes.
#[derive(Debug, Args)]
#[command(after_help = MORE)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

const MORE: &str = "\
Examples:
  tandem key new agent.pem               makes a key; agent.pem stays with you, agent.pub.pem is registered
  tandem key show agent.pem              the public key again, with its fingerprint
  tandem key show peer.pub.pem           what to read out to the owner of the other agent, word by word

Register the public key with POST /agents {\"publicKey\": …}. Whoever has the private key can read everything that
was ever encrypted for it; there is no way back to it when it is lost.";

#[derive(Debug, Subcommand)]
enum What {
    /// Make a new key pair (RSA-4096)
    New {
        /// Where the private key goes; nothing is overwritten
        #[arg(value_name = "FILE", default_value = "tandem-key.pem")]
        file: PathBuf,
    },
    /// Show the public key and its fingerprint
    Show {
        /// A private or a public key
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

/// Makes or shows a key.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.what {
        What::New { file } => {
            let public_file = public_beside(file);
            let key = PrivateKey::generate().context("cannot make a key")?;
            key.save(file)?;
            key.public().save(&public_file)?;
            println!("Private key: {} (keep it to yourself)", file.display());
            println!("Public key:  {}", public_file.display());
            print!("{}", shown(key.public()));
        }
        What::Show { file } => {
            let text =
                std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
            let public = if text.contains("PRIVATE KEY") {
                PrivateKey::load(file)?.public().clone()
            } else {
                PublicKey::from_pem(&text)?
            };
            print!("{}{}", public.to_pem(), shown(&public));
        }
    }
    Ok(())
}

/// Where the public half of a key file lies: `agent.pem` has `agent.pub.pem` beside it.
fn public_beside(file: &Path) -> PathBuf {
    file.with_extension("pub.pem")
}

fn shown(key: &PublicKey) -> String {
    let fingerprint = key.fingerprint();
    format!("Fingerprint: {}\nIn words:    {}\n", fingerprint.hex(), fingerprint.words())
}
