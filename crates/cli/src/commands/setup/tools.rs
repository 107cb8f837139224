//! The AI tools that `tandem setup` knows, as data: where each keeps its servers, and how an entry looks there.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::allow;
use super::edit_json::Dialect;

/// The name of the entry in every tool.
pub(super) const ENTRY: &str = "tandem";

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Tool {
    Claude,
    ClaudeDesktop,
    Codex,
    Gemini,
    Antigravity,
    Cursor,
    Vscode,
    Devin,
    Windsurf,
    Kiro,
    #[value(name = "amazonq")]
    #[serde(rename = "amazonq")]
    AmazonQ,
}

/// A place of a file of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Below the home folder.
    Home(&'static str),
    /// Below the folder for configuration: `$XDG_CONFIG_HOME`, or `~/.config`.
    Config(&'static str),
    /// Below the folder for applications: on macOS `~/Library/Application Support`, elsewhere as `Config`.
    Application(&'static str),
    /// Below the folder that a variable names, else below the home folder.
    Variable(&'static str, &'static str, &'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Json(Dialect),
    Toml,
}

/// How a tool writes a server with an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direct {
    /// `type`, `url` and `headers`.
    Typed,
    /// `url` and `headers`.
    Url,
    /// `serverUrl` and `headers`.
    ServerUrl,
    /// `url` and `http_headers`, in TOML.
    Headers,
    /// It takes no such entry from a file.
    None,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct HookFile {
    pub(super) place: Place,
    pub(super) dialect: Dialect,
    /// Events at which news are shown.
    pub(super) events: &'static [&'static str],
    /// Events after which a hook may wait and wake the tool.
    pub(super) waking: &'static [&'static str],
    /// The time limit of a hook in the tool's own unit.
    pub(super) timeout: u32,
}

/// What is known about a tool.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) binaries: &'static [&'static str],
    /// Folders and files that exist when it is installed.
    pub(super) traces: &'static [Place],
    /// The file of the user; none if only the tool's own command may write it.
    pub(super) user: Option<Place>,
    /// The file of a project, below its folder.
    pub(super) project: Option<&'static str>,
    pub(super) format: Format,
    pub(super) key: &'static str,
    /// Whether an entry says `"type": "stdio"`.
    pub(super) typed: bool,
    pub(super) direct: Direct,
    /// The tool's own command that lists servers.
    pub(super) list: &'static [&'static str],
    pub(super) hooks: Option<HookFile>,
    /// Where it keeps rules for tools that its model may use without a question; none if it has no rule for one tool.
    pub(super) allow: Option<allow::Place>,
    /// The tool that replaces this one.
    pub(super) successor: Option<Tool>,
    /// What a person has to do in the tool afterwards.
    pub(super) next: &'static str,
}

const STRICT: Format = Format::Json(Dialect::Strict);
const LENIENT: Format = Format::Json(Dialect::Lenient);

/// What most tools have in common.
const USUAL: Facts = Facts {
    id: "",
    name: "",
    binaries: &[],
    traces: &[],
    user: None,
    project: None,
    format: STRICT,
    key: "mcpServers",
    typed: false,
    direct: Direct::Url,
    list: &[],
    hooks: None,
    allow: None,
    successor: None,
    next: "",
};

const CLAUDE: Facts = Facts {
    id: "claude",
    name: "Claude Code",
    binaries: &["claude"],
    traces: &[Place::Variable("CLAUDE_CONFIG_DIR", "", ".claude"), Place::Home(".claude.json")],
    user: Some(Place::Variable("CLAUDE_CONFIG_DIR", ".claude.json", ".claude.json")),
    project: Some(".mcp.json"),
    typed: true,
    direct: Direct::Typed,
    list: &["mcp", "list"],
    hooks: Some(HookFile {
        place: Place::Variable("CLAUDE_CONFIG_DIR", "settings.json", ".claude/settings.json"),
        dialect: Dialect::Strict,
        events: &["SessionStart", "UserPromptSubmit"],
        waking: &["SessionStart", "Stop"],
        timeout: 10,
    }),
    allow: Some(allow::Place::Settings),
    next: "Start a new session of Claude Code",
    ..USUAL
};

const CLAUDE_DESKTOP: Facts = Facts {
    id: "claude-desktop",
    name: "Claude Desktop",
    traces: &[Place::Application("Claude")],
    user: Some(Place::Application("Claude/claude_desktop_config.json")),
    direct: Direct::None,
    next: "Quit Claude Desktop completely and start it again",
    ..USUAL
};

const CODEX: Facts = Facts {
    id: "codex",
    name: "Codex",
    binaries: &["codex"],
    traces: &[Place::Variable("CODEX_HOME", "", ".codex")],
    user: Some(Place::Variable("CODEX_HOME", "config.toml", ".codex/config.toml")),
    project: Some(".codex/config.toml"),
    format: Format::Toml,
    key: "mcp_servers",
    direct: Direct::Headers,
    list: &["mcp", "list", "--json"],
    hooks: Some(HookFile {
        place: Place::Variable("CODEX_HOME", "hooks.json", ".codex/hooks.json"),
        dialect: Dialect::Strict,
        events: &["SessionStart", "UserPromptSubmit"],
        waking: &[],
        timeout: 10,
    }),
    allow: Some(allow::Place::Entry),
    next: "Start a new session of Codex",
    ..USUAL
};

const GEMINI: Facts = Facts {
    id: "gemini",
    name: "Gemini CLI",
    binaries: &["gemini"],
    traces: &[Place::Variable("GEMINI_CLI_HOME", ".gemini/settings.json", ".gemini/settings.json")],
    user: Some(Place::Variable("GEMINI_CLI_HOME", ".gemini/settings.json", ".gemini/settings.json")),
    project: Some(".gemini/settings.json"),
    format: Format::Json(Dialect::Comments),
    direct: Direct::Typed,
    list: &["mcp", "list"],
    hooks: Some(HookFile {
        place: Place::Variable("GEMINI_CLI_HOME", ".gemini/settings.json", ".gemini/settings.json"),
        dialect: Dialect::Comments,
        events: &["SessionStart", "BeforeAgent"],
        waking: &[],
        timeout: 10_000,
    }),
    allow: Some(allow::Place::Policy(Place::Variable(
        "GEMINI_CLI_HOME",
        ".gemini/policies/tandem.toml",
        ".gemini/policies/tandem.toml",
    ))),
    next: "Start Gemini CLI in a folder that it trusts",
    ..USUAL
};

const ANTIGRAVITY: Facts = Facts {
    id: "antigravity",
    name: "Antigravity",
    binaries: &["agy"],
    traces: &[Place::Home(".gemini/config/mcp_config.json"), Place::Home(".gemini/antigravity-cli")],
    direct: Direct::None,
    list: &["mcp", "list"],
    next: "Start a new session of Antigravity",
    ..USUAL
};

const CURSOR: Facts = Facts {
    id: "cursor",
    name: "Cursor",
    binaries: &["cursor"],
    traces: &[Place::Home(".cursor")],
    user: Some(Place::Home(".cursor/mcp.json")),
    project: Some(".cursor/mcp.json"),
    format: LENIENT,
    next: "Turn `tandem` on in Cursor, under Customize › MCPs",
    ..USUAL
};

const VSCODE: Facts = Facts {
    id: "vscode",
    name: "VS Code",
    binaries: &["code"],
    traces: &[Place::Application("Code/User")],
    user: Some(Place::Application("Code/User/mcp.json")),
    project: Some(".vscode/mcp.json"),
    format: LENIENT,
    key: "servers",
    typed: true,
    direct: Direct::Typed,
    next: "Start `tandem` in VS Code with the command MCP: List Servers",
    ..USUAL
};

const DEVIN: Facts = Facts {
    id: "devin",
    name: "Devin",
    binaries: &["devin"],
    traces: &[Place::Config("devin")],
    user: Some(Place::Config("devin/config.json")),
    project: Some(".devin/config.json"),
    format: LENIENT,
    list: &["mcp", "list"],
    next: "Start a new session of Devin",
    ..USUAL
};

const WINDSURF: Facts = Facts {
    id: "windsurf",
    name: "Windsurf",
    binaries: &["windsurf"],
    traces: &[Place::Home(".codeium/windsurf")],
    user: Some(Place::Home(".codeium/windsurf/mcp_config.json")),
    direct: Direct::ServerUrl,
    successor: Some(Tool::Devin),
    next: "Press refresh in Windsurf's list of MCP servers",
    ..USUAL
};

const KIRO: Facts = Facts {
    id: "kiro",
    name: "Kiro",
    binaries: &["kiro", "kiro-cli"],
    traces: &[Place::Home(".kiro")],
    user: Some(Place::Home(".kiro/settings/mcp.json")),
    project: Some(".kiro/settings/mcp.json"),
    next: "Kiro connects by itself; its MCP panel shows `tandem`",
    ..USUAL
};

const AMAZON_Q: Facts = Facts {
    id: "amazonq",
    name: "Amazon Q",
    traces: &[Place::Home(".aws/amazonq")],
    user: Some(Place::Home(".aws/amazonq/default.json")),
    project: Some(".amazonq/default.json"),
    direct: Direct::Typed,
    successor: Some(Tool::Kiro),
    next: "Start the editor with Amazon Q again",
    ..USUAL
};

impl Tool {
    pub(super) const ALL: [Self; 11] = [
        Self::Claude,
        Self::ClaudeDesktop,
        Self::Codex,
        Self::Gemini,
        Self::Antigravity,
        Self::Cursor,
        Self::Vscode,
        Self::Devin,
        Self::Windsurf,
        Self::Kiro,
        Self::AmazonQ,
    ];

    pub(super) fn facts(self) -> &'static Facts {
        match self {
            Self::Claude => &CLAUDE,
            Self::ClaudeDesktop => &CLAUDE_DESKTOP,
            Self::Codex => &CODEX,
            Self::Gemini => &GEMINI,
            Self::Antigravity => &ANTIGRAVITY,
            Self::Cursor => &CURSOR,
            Self::Vscode => &VSCODE,
            Self::Devin => &DEVIN,
            Self::Windsurf => &WINDSURF,
            Self::Kiro => &KIRO,
            Self::AmazonQ => &AMAZON_Q,
        }
    }
}
