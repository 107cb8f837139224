//! The manifest: what an archive contains, with sizes and hashes.

use serde::{Deserialize, Serialize};

/// Name and version of the format.
pub(super) const FORMAT: &str = "tandem-backup";
pub(super) const FORMAT_VERSION: u32 = 1;

pub(super) const MANIFEST: &str = "manifest.json";
/// A file in the format of `sha256sum -c`.
pub(super) const MANIFEST_HASH: &str = "manifest.sha256";
pub(super) const TABLES: &str = "tables/";
pub(super) const FILES: &str = "files/";

/// The fields that every version of the format has; they are read first.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ManifestHead {
    pub(super) format: String,
    pub(super) format_version: u32,
    pub(super) tandem_version: String,
    pub(super) schema_version: i64,
}

/// The manifest of this version.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Manifest {
    pub(super) format: String,
    pub(super) format_version: u32,
    pub(super) tandem_version: String,
    pub(super) schema_version: i64,
    pub(super) created_at: String,
    pub(super) database: String,
    /// Files that were deleted while the backup ran. Their rows are not in the archive.
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

/// A file in the archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) size: u64,
    pub(super) sha256: String,
}

impl Manifest {
    /// All members except the manifest itself.
    pub(super) fn members(&self) -> impl Iterator<Item = &Member> {
        self.tables.iter().map(|table| &table.member).chain(&self.files)
    }
}
