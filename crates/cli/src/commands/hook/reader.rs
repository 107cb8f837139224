//! Who reads what a hook writes: the session of the tool, as long as it lives.
//!
//! No tool confirms that its model was shown the text of a hook. What can be seen is whether the text was written, whether
//! somebody still has the other end of the stream open, and whether the process of the tool is alive. A session for which all
//! that holds at the moment after the write has the text; whether it shows the text to its model is up to the tool.

use std::os::fd::AsFd;
use std::os::unix::process::parent_id;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::tool_process::ToolProcess;

/// The session that has started this hook.
#[derive(Debug)]
pub(super) struct Reader {
    /// The process that has started this one. After its end it is another.
    parent: u32,
    /// None if the system does not show it.
    tool: Option<ToolProcess>,
}

impl Reader {
    pub(super) fn find() -> Self {
        Self { parent: parent_id(), tool: ToolProcess::find() }
    }

    /// Whether the session that is to read a stream is still there.
    pub(super) fn is_there(&self, stream: impl AsFd) -> bool {
        parent_id() == self.parent && self.tool.is_none_or(ToolProcess::is_alive) && !has_hung_up(stream)
    }
}

/// Whether nobody can read any more what is written to a stream.
fn has_hung_up(stream: impl AsFd) -> bool {
    let mut polled = [PollFd::new(&stream, PollFlags::empty())];
    poll(&mut polled, Some(&Timespec::default())).is_ok()
        && polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_stream_that_nobody_reads_is_noticed() {
        let (socket, other) = UnixStream::pair().unwrap();
        assert!(!has_hung_up(&socket));
        drop(other);
        assert!(has_hung_up(&socket));
        let (reader, pipe) = std::io::pipe().unwrap();
        assert!(!has_hung_up(&pipe));
        drop(reader);
        assert!(has_hung_up(&pipe));
        assert!(!has_hung_up(std::fs::File::open("/dev/null").unwrap()));
    }

    #[test]
    fn a_parent_that_has_changed_is_the_end() {
        let stream = std::fs::File::open("/dev/null").unwrap();
        let reader = Reader::find();
        assert!(reader.is_there(&stream));
        assert!(!Reader { parent: reader.parent + 1, ..reader }.is_there(&stream));
    }
}
