//! Names of files that AI tools read as instructions or settings of their owner. A file of another agent must not get such a
//! name: the tool would obey it at its next start.

/// Beginnings of names, up to the first dot, of files with a text.
const INSTRUCTIONS: [&str; 12] = [
    "agent",
    "agents",
    "amazonq",
    "claude",
    "codex",
    "copilot-instructions",
    "crush",
    "gemini",
    "qwen",
    "replit",
    "skill",
    "warp",
];
const TEXT_ENDINGS: [&str; 5] = ["md", "mdc", "mdx", "markdown", "txt"];
/// Whole names of settings, which can name programs to start.
const SETTINGS: [&str; 7] = [
    "crush.json",
    "gemini-extension.json",
    "mcp.json",
    "mcp_config.json",
    "opencode.json",
    "opencode.jsonc",
    "claude_desktop_config.json",
];

/// Whether an AI tool takes a file of this name for words or settings of its owner. Hidden files count as well.
pub(crate) fn is_read_as_instructions(name: &str) -> bool {
    let name = as_found(name);
    if name.starts_with('.') || SETTINGS.contains(&name.as_str()) {
        return true;
    }
    let (Some((stem, _)), Some((_, ending))) = (name.split_once('.'), name.rsplit_once('.')) else {
        return false;
    };
    TEXT_ENDINGS.contains(&ending) && (INSTRUCTIONS.contains(&stem) || name.ends_with(".instructions.md"))
}

/// The name by which a file can be found: some file systems ignore case, invisible characters, and dots and spaces at the
/// end.
fn as_found(name: &str) -> String {
    // Both ways, because some letters have no other form in one of them.
    let folded = name.to_uppercase().to_lowercase();
    let visible: String = folded.chars().filter(char::is_ascii_graphic).collect();
    visible.trim_end_matches('.').to_owned()
}
