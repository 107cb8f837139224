//! The AI tool that has started this process, as far as the system shows it.
//!
//! A tool runs a hook with a shell, which on some systems stays the hook's parent. When the tool is killed, that shell lives on
//! and so does the hook: the end of the tool shows only in the process of the tool itself.

use std::path::{Path, PathBuf};

/// The variable with which Claude Code names the inbox of a session to the hooks and servers that it starts.
pub(crate) const SESSION_INBOX: &str = "CLAUDE_CODE_MESSAGING_SOCKET";
/// Programs that only start others. The tool is the first ancestor that is none of them.
const STARTERS: [&str; 20] = [
    "ash", "bash", "busybox", "csh", "dash", "elvish", "env", "fish", "ionice", "ksh", "mksh", "nice",
    "nohup", "nu", "setsid", "sh", "stdbuf", "tcsh", "timeout", "zsh",
];
/// Ancestors that are looked at.
const ANCESTORS_MAX: usize = 32;
/// The process that takes over those whose parent has ended.
const INIT: u32 = 1;

/// A process. Its number alone could be that of another one later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ToolProcess {
    pid: u32,
    /// When it was started, in ticks of the system.
    started: u64,
}

/// What the system says about a process.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    name: String,
    parent: u32,
    started: u64,
    has_ended: bool,
}

impl ToolProcess {
    /// The tool that has started this process; none if the system does not show it.
    pub(crate) fn find() -> Option<Self> {
        first_tool(std::os::unix::process::parent_id(), |pid| {
            let mut seen = Seen::parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
            // The name in the statistics can be changed by the process, and has 15 characters.
            if let Some(program) = program(pid).as_deref().and_then(Path::file_name) {
                seen.name = program.to_string_lossy().into_owned();
            }
            Some(seen)
        })
    }

    pub(crate) fn is_alive(self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).ok();
        let seen = stat.as_deref().and_then(Seen::parse);
        seen.is_some_and(|seen| seen.started == self.started && !seen.has_ended)
    }

    /// The program's file.
    pub(crate) fn program(self) -> Option<PathBuf> {
        program(self.pid).filter(|_| self.is_alive())
    }

    /// A variable that it was started with; none if it has none or the system does not show it.
    pub(crate) fn variable(self, name: &str) -> Option<String> {
        let all = std::fs::read(format!("/proc/{}/environ", self.pid)).ok().filter(|_| self.is_alive())?;
        let mut pairs = all.split(|byte| *byte == 0).filter_map(|pair| std::str::from_utf8(pair).ok());
        pairs.find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')).map(ToOwned::to_owned)
    }

    /// The arguments with which it was started; none if the system does not show them.
    pub(crate) fn arguments(self) -> Option<Vec<String>> {
        let line = std::fs::read(format!("/proc/{}/cmdline", self.pid)).ok()?;
        let words = line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
        Some(words.collect()).filter(|_| self.is_alive())
    }
}

/// Other systems than Linux have no such folder, and so no answer.
fn program(pid: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// The first process from this one upwards that does more than start others.
fn first_tool(from: u32, look: impl Fn(u32) -> Option<Seen>) -> Option<ToolProcess> {
    let mut pid = from;
    for _ in 0..ANCESTORS_MAX {
        if pid <= INIT {
            return None;
        }
        let seen = look(pid)?;
        if !STARTERS.contains(&seen.name.as_str()) {
            return Some(ToolProcess { pid, started: seen.started });
        }
        pid = seen.parent;
    }
    None
}

impl Seen {
    /// Reads the line of `/proc/PID/stat`. The name is in brackets and may contain any character.
    fn parse(line: &str) -> Option<Self> {
        let (head, tail) = line.rsplit_once(')')?;
        let (_, name) = head.split_once('(')?;
        let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
        Some(Self {
            name: name.to_owned(),
            has_ended: matches!(*fields.first()?, "Z" | "X" | "x"),
            parent: fields.get(1)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(name: &str, parent: u32) -> Seen {
        Seen { name: name.to_owned(), parent, started: u64::from(parent) + 100, has_ended: false }
    }

    #[test]
    fn a_line_of_the_system_is_read_whatever_the_name_is() {
        let rest = "54 86 54 0 -1 4194304 1 0 0 0 7 1 0 0 20 0 9 0 4242 5 6";
        let parsed = Seen::parse(&format!("86 (a) Z (b) S {rest}")).unwrap();
        assert_eq!(parsed, Seen { name: "a) Z (b".into(), parent: 54, started: 4242, has_ended: false });
        assert!(Seen::parse(&format!("86 (claude) Z {rest}")).unwrap().has_ended);
        assert_eq!(Seen::parse("86 (claude) S 54"), None);
    }

    #[test]
    fn the_tool_is_behind_the_shells() {
        let look = |pid| match pid {
            86 => Some(seen("dash", 78)),
            78 => Some(seen("timeout", 54)),
            54 => Some(seen("claude", 52)),
            52 => Some(seen("bash", 1)),
            _ => None,
        };
        assert_eq!(first_tool(86, look), Some(ToolProcess { pid: 54, started: 152 }));
        assert_eq!(first_tool(52, look), None, "init is no tool");
        assert_eq!(first_tool(7, look), None, "the system shows nothing");
        assert_eq!(first_tool(86, |_| Some(seen("sh", 86))), None, "it ends");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn another_process_with_the_same_number_is_not_the_tool() {
        let tool = ToolProcess::find().unwrap();
        assert!(tool.is_alive() && tool.arguments().is_some());
        assert!(!ToolProcess { started: tool.started + 1, ..tool }.is_alive());
    }
}
