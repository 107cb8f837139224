//! Keys in files. An existing file is never overwritten, and a private key that other users of the machine can
//! read is refused.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::{Error, PrivateKey, PublicKey};

/// Far more than the PEM of the largest key. A longer file is not a key.
const FILE_BYTES_MAX: u64 = 64 * 1024;

const SECRET: u32 = 0o600;
const OPEN: u32 = 0o644;

impl PrivateKey {
    /// Writes the key to a new file with mode 0600.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        write_new(path, &self.to_pem()?, SECRET)
    }

    /// Reads the key from a file that only its owner can read.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(at(path))?;
        refuse_exposed(path, &file)?;
        Self::from_pem(&read(path, file)?)
    }
}

impl PublicKey {
    /// Writes the key to a new file.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        write_new(path, &self.to_pem(), OPEN)
    }

    /// Reads the key from a file.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::from_pem(&read(path, File::open(path).map_err(at(path))?)?)
    }
}

fn at(path: &Path) -> impl Fn(io::Error) -> Error {
    move |cause| Error::File { path: path.to_owned(), cause }
}

fn write_new(path: &Path, text: &str, mode: u32) -> Result<(), Error> {
    // A partial key would be useless, and would block the next attempt.
    tandem_disk::write_new(path, text.as_bytes(), mode).map_err(at(path))
}

fn read(path: &Path, file: File) -> Result<String, Error> {
    let mut text = String::new();
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(at(path))?;
    Ok(text)
}

/// Checks the open file and not the path, which could name another file by now.
fn refuse_exposed(path: &Path, file: &File) -> Result<(), Error> {
    let mode = std::os::unix::fs::MetadataExt::mode(&file.metadata().map_err(at(path))?) & 0o777;
    if mode & 0o077 != 0 {
        return Err(Error::Exposed { path: path.to_owned(), mode });
    }
    Ok(())
}
