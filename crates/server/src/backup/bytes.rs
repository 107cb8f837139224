//! The bytes of files for who blocks: the hub's own way to them, driven from here.

use std::io::Read;

use axum::body::Bytes;
use futures_util::TryStreamExt as _;
use tandem_core::FileId;
use tokio::runtime::{Builder, Runtime};

use super::Error;
use super::archive::PIECE;
use crate::files::{self, Files, Pieces};
use crate::{Config, start};

/// The files of a hub, wherever its settings say they lie.
pub(super) struct Stored {
    files: Files,
    runtime: Runtime,
}

/// A file that is being read.
pub(super) struct Reading<'a> {
    place: String,
    pieces: Pieces,
    runtime: &'a Runtime,
}

fn failed<E: Into<files::Error>>(place: &str) -> impl Fn(E) -> Error {
    move |cause| Error::File { place: place.to_owned(), cause: cause.into() }
}

impl Stored {
    pub(super) fn of(config: &Config) -> Result<Self, Error> {
        let files = Files::of(config).map_err(start::Error::from)?;
        let runtime = Builder::new_current_thread().enable_all().build();
        Ok(Self { files, runtime: runtime.map_err(Error::disk(&config.data))? })
    }

    /// Where a file lies.
    pub(super) fn whereabouts(&self, id: &FileId) -> String {
        self.files.whereabouts(id)
    }

    /// Begins to read a file; nothing when it is not there.
    pub(super) fn open(&self, id: &FileId) -> Result<Option<Reading<'_>>, Error> {
        let place = self.whereabouts(id);
        match self.runtime.block_on(self.files.read(id, None)) {
            Ok(pieces) => Ok(Some(Reading { place, pieces, runtime: &self.runtime })),
            Err(files::Error::Missing) => Ok(None),
            Err(error) => Err(failed(&place)(error)),
        }
    }

    /// Puts a file in its place.
    pub(super) fn write(&self, id: &FileId, from: &mut impl Read) -> Result<(), Error> {
        let place = self.whereabouts(id);
        let mut arriving = self.runtime.block_on(self.files.begin(id)).map_err(failed(&place))?;
        let mut piece = vec![0; PIECE];
        loop {
            let count = from.read(&mut piece).map_err(failed(&place))?;
            if count == 0 {
                return self.runtime.block_on(self.files.keep(arriving)).map_err(failed(&place));
            }
            let bytes = piece.get(..count).unwrap_or_default();
            self.runtime.block_on(arriving.write(bytes)).map_err(failed(&place))?;
        }
    }

    /// Nothing may lie in the bucket yet.
    pub(super) fn refuse_occupied(&self) -> Result<(), Error> {
        match self.runtime.block_on(self.files.occupied_bucket()).map_err(start::Error::from)? {
            Some(bucket) => Err(Error::Refused(format!(
                "{bucket} is not empty: choose another files_bucket or files_prefix. Nothing was changed"
            ))),
            None => Ok(()),
        }
    }
}

impl Reading<'_> {
    /// The next piece.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, Error> {
        self.runtime.block_on(self.pieces.try_next()).map_err(failed(&self.place))
    }
}
