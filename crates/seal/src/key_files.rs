//! Keys in files. A file that is there is never written over, and a private key that others on the machine
//! can read is not taken. Knows nothing of what keys are for.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use crate::{Error, PrivateKey, PublicKey};

/// Far above the PEM of the largest key; whatever is longer is something else.
const FILE_BYTES_MAX: u64 = 64 * 1024;

const SECRET: u32 = 0o600;
const OPEN: u32 = 0o644;

impl PrivateKey {
    /// Writes the key into a new file that only its owner may read.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        write_new(path, &self.to_pem()?, SECRET)
    }

    /// Reads the key from a file that only its owner may read.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(at(path))?;
        refuse_exposed(path, &file)?;
        Self::from_pem(&read(path, file)?)
    }
}

impl PublicKey {
    /// Writes the key into a new file.
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
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let mut file = options.open(path).map_err(at(path))?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if let Err(cause) = written {
        // Half a key is worth nothing, and would be in the way of the next attempt. Should this fail too,
        // the first failure is still the one to tell.
        let _ = std::fs::remove_file(path);
        return Err(at(path)(cause));
    }
    Ok(())
}

fn read(path: &Path, file: File) -> Result<String, Error> {
    let mut text = String::new();
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(at(path))?;
    Ok(text)
}

/// Asks the open file and not the path, which could be another file by now.
#[cfg(unix)]
fn refuse_exposed(path: &Path, file: &File) -> Result<(), Error> {
    let mode = std::os::unix::fs::MetadataExt::mode(&file.metadata().map_err(at(path))?) & 0o777;
    if mode & 0o077 != 0 {
        return Err(Error::Exposed { path: path.to_owned(), mode });
    }
    Ok(())
}

/// Elsewhere there are no permission bits to ask for.
#[cfg(not(unix))]
fn refuse_exposed(_: &Path, _: &File) -> Result<(), Error> {
    Ok(())
}
