//! Blocking access to stored files, for the backup and the restore.

use std::io::Read;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use tandem_core::FileId;
use tokio::runtime::{Builder, Runtime};

use super::Error;
use super::archive::CHUNK_BYTES;
use crate::files::{self, ByteStream, Files};
use crate::{Config, start};

/// The stored files of a hub, in its data folder or bucket.
pub(super) struct BlockingFiles {
    files: Files,
    runtime: Runtime,
}

/// A file that is being read.
pub(super) struct FileReader<'a> {
    place: String,
    chunks: ByteStream,
    runtime: &'a Runtime,
}

fn failed<E: Into<files::Error>>(place: &str) -> impl Fn(E) -> Error {
    move |cause| Error::File { place: place.to_owned(), cause: cause.into() }
}

impl BlockingFiles {
    pub(super) fn of(config: &Config) -> Result<Self, Error> {
        let files = Files::of(config).map_err(start::Error::from)?;
        let runtime = Builder::new_current_thread().enable_all().build();
        Ok(Self { files, runtime: runtime.map_err(Error::disk(&config.data))? })
    }

    /// Where a file is stored, for messages.
    pub(super) fn location(&self, id: &FileId) -> String {
        self.files.location(id)
    }

    /// Opens a file; `None` if it does not exist.
    pub(super) fn open(&self, id: &FileId) -> Result<Option<FileReader<'_>>, Error> {
        let place = self.location(id);
        match self.runtime.block_on(self.files.read(id, None)) {
            Ok(chunks) => Ok(Some(FileReader { place, chunks, runtime: &self.runtime })),
            Err(files::Error::Missing) => Ok(None),
            Err(error) => Err(failed(&place)(error)),
        }
    }

    pub(super) fn write(&self, id: &FileId, from: &mut impl Read) -> Result<(), Error> {
        let place = self.location(id);
        let mut upload = self.runtime.block_on(self.files.begin(id, None)).map_err(failed(&place))?;
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let count = from.read(&mut chunk).map_err(failed(&place))?;
            if count == 0 {
                return self.runtime.block_on(self.files.store(upload)).map_err(failed(&place));
            }
            let bytes = chunk.get(..count).unwrap_or_default();
            self.runtime.block_on(upload.write(bytes)).map_err(failed(&place))?;
        }
    }

    /// Checks that the bucket or the shared folder is empty.
    pub(super) fn refuse_occupied(&self) -> Result<(), Error> {
        match self.runtime.block_on(self.files.occupied()).map_err(start::Error::from)? {
            Some(place) => Err(Error::Refused(format!(
                "{place} is not empty: choose another files_bucket, files_prefix or shared_files. Nothing was changed"
            ))),
            None => Ok(()),
        }
    }
}

impl FileReader<'_> {
    /// Reads the next chunk.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, Error> {
        self.runtime.block_on(self.chunks.try_next()).map_err(failed(&self.place))
    }
}
