//! What an archive says about itself.

use serde::{Deserialize, Serialize};

/// The name of the format, and the version of it that is written and read.
pub(super) const FORMAT: &str = "tandem-backup";
pub(super) const FORMAT_VERSION: u32 = 1;

pub(super) const MANIFEST: &str = "manifest.json";
/// In the form that `sha256sum -c` reads.
pub(super) const MANIFEST_HASH: &str = "manifest.sha256";
pub(super) const TABLES: &str = "tables/";
pub(super) const FILES: &str = "files/";

/// What any version of the format has; read first.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Head {
    pub(super) format: String,
    pub(super) format_version: u32,
    pub(super) tandem_version: String,
    pub(super) schema_version: i64,
}

/// The whole.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Manifest {
    pub(super) format: String,
    pub(super) format_version: u32,
    pub(super) tandem_version: String,
    pub(super) schema_version: i64,
    pub(super) created_at: String,
    pub(super) database: String,
    /// Files that were removed while the backup was made; their rows are left out, too.
    pub(super) files_gone: u64,
    pub(super) tables: Vec<TableMember>,
    pub(super) files: Vec<Member>,
}

/// A table in the archive.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableMember {
    pub(super) table: String,
    pub(super) columns: Vec<String>,
    pub(super) rows: u64,
    pub(super) member: Member,
}

/// Anything in the archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) size: u64,
    pub(super) sha256: String,
}

impl Manifest {
    /// Every member but the manifest itself.
    pub(super) fn members(&self) -> impl Iterator<Item = &Member> {
        self.tables.iter().map(|table| &table.member).chain(&self.files)
    }
}
