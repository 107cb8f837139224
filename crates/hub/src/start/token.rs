//! The operator's token: a setting, or generated and stored in the data folder. All nodes of a hub take the same one; the
//! database has its hash.

use std::path::PathBuf;

use tandem_app::admin;
use tandem_app::keys::{KeyHash, sha256};

use crate::config::Config;
use crate::db::Db;
use crate::start::Error;
use crate::start::data_folder;

/// The name of the hash in the database.
const SECRET: &str = "admin-token";

/// Where the operator finds the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenPlace {
    /// It is a setting.
    Setting,
    /// In this file.
    File(PathBuf),
    /// Another node has it: in its file, or as its setting.
    OtherNode,
}

pub(crate) struct OperatorToken {
    pub(crate) hash: KeyHash,
    pub(crate) place: TokenPlace,
}

/// Finds or generates the token.
pub(crate) async fn find(config: &Config, db: &Db, is_clustered: bool) -> Result<OperatorToken, Error> {
    if let Some(token) = &config.admin_token {
        let hash = sha256(token.as_bytes());
        if is_clustered {
            let before = db
                .write(move |tx, _| {
                    let before = admin::hub_secret(tx, SECRET, &hash)?;
                    admin::set_hub_secret(tx, SECRET, &hash)?;
                    Ok::<_, tandem_app::Error>(before)
                })
                .await?;
            if before != hash {
                tracing::warn!(
                    "the operator's token differs from the one that the hub had before; nodes that are running take \
                     only the earlier one until they are started again with this one"
                );
            }
        }
        return Ok(OperatorToken { hash, place: TokenPlace::Setting });
    }
    let path = config.data.join("admin-token");
    let shared = match is_clustered {
        true => {
            db.read(|tx, _| admin::find_hub_secret(tx, SECRET)).await?.and_then(|hash| hash.try_into().ok())
        }
        false => None,
    };
    // Beside other nodes, a new token is generated only if the hub has none.
    if let Some(hash) = shared
        && !path.exists()
    {
        return Ok(OperatorToken { hash, place: TokenPlace::OtherNode });
    }
    let existed = path.exists();
    let failed = |cause| Error::Folder { path: path.clone(), cause };
    let own = sha256(data_folder::load_or_create_token(&path).map_err(failed)?.as_bytes());
    if !is_clustered {
        return Ok(OperatorToken { hash: own, place: TokenPlace::File(path) });
    }
    let stored = db.write(move |tx, _| admin::hub_secret(tx, SECRET, &own)).await?;
    let hash: KeyHash = stored.try_into().unwrap_or(own);
    if hash == own {
        return Ok(OperatorToken { hash, place: TokenPlace::File(path) });
    }
    if !existed {
        // Another node started at the same moment and was first.
        let _ = std::fs::remove_file(&path);
        return Ok(OperatorToken { hash, place: TokenPlace::OtherNode });
    }
    tracing::warn!(path = %path.display(), "the operator's token in this file is not that of the hub, and is not taken");
    Ok(OperatorToken { hash, place: TokenPlace::OtherNode })
}
