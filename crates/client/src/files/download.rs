//! Downloads to a file or into memory, resumed where the connection broke.

use std::io;
use std::path::Path;

use bytes::Bytes;
use http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, RANGE};
use http::{HeaderMap, HeaderValue, StatusCode};
use tandem_core::FileId;
use tandem_core::files::FILE_BYTES_MAX;
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _};

use super::{Attempts, NewFile};
use crate::call::{Call, Method};
use crate::{Client, Error};

/// The largest file that is written to a disk: the largest that a hub takes, encrypted or not. A hub that sends more would
/// only fill the disk.
const DOWNLOAD_BYTES_MAX: u64 = FILE_BYTES_MAX + 1024 * 1024;

/// How a file is downloaded.
#[derive(Debug, Clone, Copy, Default)]
pub struct DownloadOptions {
    /// Replace a file that exists.
    pub overwrite: bool,
}

/// What the hub says about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileInfo {
    /// The name that its uploader gave it. It is a text of another agent, and no path.
    pub filename: Option<String>,
    /// The media type.
    pub mime_type: Option<String>,
    /// Its size.
    pub size_bytes: u64,
}

/// A file that was downloaded.
pub type Downloaded = FileInfo;

impl Client {
    /// Name, type and size of a file, without its bytes. Of a file on an encrypted task the hub knows only the size
    /// after encryption.
    pub async fn file_info(&self, file: &FileId) -> Result<FileInfo, Error> {
        let path = format!("/files/{file}");
        let headers = match self.answer(&Call::head(&path)).await {
            Ok((headers, _)) => headers,
            // A refused HEAD has no body; the answer to GET has the hub's error.
            Err(Error::NotAHub { .. }) => self.answer(&Call::get(path)).await?.0,
            Err(failure) => return Err(failure),
        };
        let (_, size) = extent(StatusCode::OK, &headers)
            .filter(|_| headers.contains_key(CONTENT_DISPOSITION))
            .ok_or_else(|| self.not_a_hub("a file without its name or size".to_owned()))?;
        Ok(info(&headers, size))
    }

    /// Downloads a file. `progress` is called with the bytes so far and the size.
    ///
    /// The bytes go to a temporary file in the same folder, which gets its name when it is complete. A lost connection
    /// is not the end: the download is resumed for as long as there was some progress in the last three minutes. A file
    /// that exists is not replaced unless `options` say so.
    ///
    /// ```no_run
    /// # use tandem_client::{Client, DownloadOptions};
    /// # async fn example(client: Client, file: tandem_core::FileId) -> anyhow::Result<()> {
    /// let to = std::path::Path::new("report.pdf");
    /// let got = client.download(&file, to, DownloadOptions::default(), |_, _| {}).await?;
    /// println!("{} bytes", got.size_bytes);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn download(
        &self,
        file: &FileId,
        to: &Path,
        options: DownloadOptions,
        progress: impl FnMut(u64, Option<u64>),
    ) -> Result<FileInfo, Error> {
        let mut sink = Sink::File(NewFile::create(to, options.overwrite).await?);
        let downloaded = self.fetch(file, &mut sink, progress).await?;
        if let Sink::File(written) = sink {
            written.finish().await?;
        }
        Ok(downloaded)
    }

    /// Downloads a file to one that is open, from its beginning. What the caller has checked is then what is written,
    /// whatever becomes of the path. On an error the file may have a part of the bytes.
    pub async fn download_to(&self, file: &FileId, to: std::fs::File) -> Result<FileInfo, Error> {
        let mut sink = Sink::Opened(tokio::fs::File::from_std(to));
        let downloaded = self.fetch(file, &mut sink, |_, _| {}).await?;
        sink.flush().await?;
        Ok(downloaded)
    }

    /// Downloads a file into memory. It is refused if it is larger than `max` bytes.
    pub async fn download_bytes(&self, file: &FileId, max: usize) -> Result<(Bytes, FileInfo), Error> {
        let mut sink = Sink::Memory(Vec::new(), max);
        let downloaded = self.fetch(file, &mut sink, |_, _| {}).await?;
        match sink {
            Sink::Memory(bytes, _) => Ok((bytes.into(), downloaded)),
            Sink::File(_) | Sink::Opened(_) => Ok((Bytes::new(), downloaded)),
        }
    }

    /// Reads a file until it is complete.
    async fn fetch(
        &self,
        file: &FileId,
        sink: &mut Sink,
        mut progress: impl FnMut(u64, Option<u64>),
    ) -> Result<FileInfo, Error> {
        let (mut attempts, mut part) = (Attempts::new(self), Part::default());
        loop {
            let advanced = |bytes: u64, size: u64| {
                attempts.progressed();
                progress(bytes, Some(size));
            };
            let key = self.key();
            match self.fetch_from(file, &mut part, sink, advanced).await {
                Ok(downloaded) => return Ok(downloaded),
                Err(failure) => attempts.wait_after(self, failure, key.as_ref()).await?,
            }
        }
    }

    /// Reads what is missing of a file. Files never change, so that their parts always fit; what does not fit is
    /// not written.
    async fn fetch_from(
        &self,
        file: &FileId,
        part: &mut Part,
        sink: &mut Sink,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<FileInfo, Error> {
        let mut request = self.head(&Method::GET, &format!("/files/{file}"))?;
        if part.done > 0
            && let Ok(range) = HeaderValue::try_from(format!("bytes={}-", part.done))
        {
            request.headers_mut().insert(RANGE, range);
        }
        let answering = tokio::time::timeout(crate::client::SILENCE_MAX, self.send(request));
        let answer = answering.await.map_err(|_| self.timed_out(crate::client::SILENCE_MAX))?;
        let (response, connection) = answer?;
        let (parts, mut body) = response.into_parts();
        let (start, size) = extent(parts.status, &parts.headers)
            .ok_or_else(|| self.not_a_hub("a file without its size".to_owned()))?;
        if *part.size.get_or_insert(size) != size {
            return Err(self.not_a_hub("a file that changes its size".to_owned()));
        }
        if start != part.done {
            // The hub sends all of it again.
            sink.restart().await?;
            part.done = 0;
        }
        if start > 0 && start != part.done {
            return Err(self.not_a_hub("another part of the file than was asked for".to_owned()));
        }
        sink.check(size)?;
        progress(part.done, size);
        while let Some(piece) = self.next_frame(&mut body).await? {
            if piece.len() as u64 > size.saturating_sub(part.done) {
                return Err(self.not_a_hub(format!("more than the {size} bytes of the file")));
            }
            sink.write(&piece).await?;
            part.done += piece.len() as u64;
            progress(part.done, size);
        }
        if part.done != size {
            let cause = format!("{} of {size} bytes arrived", part.done);
            return Err(Error::Lost { hub: self.hub().to_string(), cause });
        }
        self.put_back(connection);
        Ok(info(&parts.headers, size))
    }
}

fn info(headers: &HeaderMap, size_bytes: u64) -> FileInfo {
    let mime_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    FileInfo { filename: filename(headers), mime_type: mime_type.map(ToOwned::to_owned), size_bytes }
}

/// With which byte an answer begins, and how many the whole file has.
fn extent(status: StatusCode, headers: &HeaderMap) -> Option<(u64, u64)> {
    let text = |name| headers.get(name)?.to_str().ok();
    if status != StatusCode::PARTIAL_CONTENT {
        return Some((0, text(CONTENT_LENGTH)?.parse().ok()?));
    }
    let (part, size) = text(CONTENT_RANGE)?.strip_prefix("bytes ")?.split_once('/')?;
    Some((part.split_once('-')?.0.parse().ok()?, size.parse().ok()?))
}

/// The file name in `Content-Disposition`.
fn filename(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(CONTENT_DISPOSITION)?.to_str().ok()?;
    if let Some((_, encoded)) = text.split_once("filename*=UTF-8''") {
        let encoded = encoded.split(';').next().unwrap_or_default().trim();
        return percent_decoded(encoded);
    }
    let (_, quoted) = text.split_once("filename=\"")?;
    Some(quoted.split('"').next().unwrap_or_default().to_owned())
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = rest.get(2..)?;
    }
    String::from_utf8(bytes).ok()
}

/// How much of a file has arrived.
#[derive(Debug, Default)]
struct Part {
    done: u64,
    /// The size of the whole file, once the hub has said it.
    size: Option<u64>,
}

/// Where the bytes go.
enum Sink {
    File(NewFile),
    /// A file of the caller.
    Opened(tokio::fs::File),
    /// With the size limit.
    Memory(Vec<u8>, usize),
}

impl Sink {
    fn check(&self, size: u64) -> Result<(), Error> {
        let max = match self {
            Self::Memory(_, max) => *max as u64,
            Self::File(_) | Self::Opened(_) => DOWNLOAD_BYTES_MAX,
        };
        if size > max { Err(Error::TooLarge { size, max }) } else { Ok(()) }
    }

    async fn write(&mut self, piece: &[u8]) -> Result<(), Error> {
        match self {
            Self::File(file) => file.write(piece).await,
            Self::Opened(file) => file.write_all(piece).await.map_err(not_written),
            Self::Memory(bytes, _) => {
                bytes.extend_from_slice(piece);
                Ok(())
            }
        }
    }

    async fn restart(&mut self) -> Result<(), Error> {
        match self {
            Self::File(file) => file.restart().await,
            Self::Opened(file) => {
                let emptied = async {
                    file.set_len(0).await?;
                    file.rewind().await
                };
                emptied.await.map(drop).map_err(not_written)
            }
            Self::Memory(bytes, _) => {
                bytes.clear();
                Ok(())
            }
        }
    }

    /// Brings the bytes to the disk.
    async fn flush(&mut self) -> Result<(), Error> {
        let Self::Opened(file) = self else { return Ok(()) };
        let flushed = async {
            file.flush().await?;
            file.sync_all().await
        };
        flushed.await.map_err(not_written)
    }
}

/// An error of a file whose path only the caller knows.
fn not_written(cause: io::Error) -> Error {
    Error::File { what: "cannot write the file".to_owned(), cause }
}
