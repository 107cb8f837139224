//! Names of files that programs read or run because of their name: instructions and settings of AI tools, build files, hooks
//! and modules that are loaded without being asked for. A file of another agent must not get such a name by itself: the next
//! start of a tool, a test or a build in that folder would obey it.
//!
//! No list can have all names. Those of the common tools are here, for the bridge, the command line and the runner alike.

/// Beginnings of names, up to the first dot, of texts that AI tools read as instructions.
const INSTRUCTIONS: [&str; 15] = [
    "agent",
    "agents",
    "amazonq",
    "claude",
    "codex",
    "convention",
    "conventions",
    "copilot-instructions",
    "crush",
    "cursorrules",
    "gemini",
    "qwen",
    "replit",
    "skill",
    "warp",
];
const TEXT_ENDINGS: [&str; 5] = ["md", "mdc", "mdx", "markdown", "txt"];

/// Whole names of settings of AI tools and editors, which can name programs to start.
const SETTINGS: [&str; 9] = [
    "claude_desktop_config.json",
    "crush.json",
    "gemini-extension.json",
    "marketplace.json",
    "mcp.json",
    "mcp_config.json",
    "opencode.json",
    "opencode.jsonc",
    "plugin.json",
];

/// Whole names of files that a build, a test, an interpreter or a package manager runs, or that name what it runs.
const RUN: [&str; 62] = [
    // C, C++ and general
    "bsdmakefile",
    "build.bazel",
    "build.ninja",
    "build.xml",
    "cmakelists.txt",
    "cmakepresets.json",
    "configure",
    "configure.ac",
    "gnumakefile",
    "justfile",
    "makefile",
    "makefile.am",
    "meson.build",
    "module.bazel",
    "sconstruct",
    "taskfile.yaml",
    "taskfile.yml",
    "workspace.bazel",
    // Python
    "__init__.py",
    "__main__.py",
    "conftest.py",
    "fabfile.py",
    "noxfile.py",
    "pyproject.toml",
    "pytest.ini",
    "setup.cfg",
    "setup.py",
    "sitecustomize.py",
    "tox.ini",
    "usercustomize.py",
    // JavaScript
    "bunfig.toml",
    "deno.json",
    "deno.jsonc",
    "gruntfile.js",
    "gulpfile.js",
    "package.json",
    "package-lock.json",
    // Rust, Go, Java, Ruby, PHP, Elixir, Swift, Nix
    "build.gradle",
    "build.gradle.kts",
    "build.rs",
    "build.sbt",
    "cargo.toml",
    "composer.json",
    "default.nix",
    "flake.nix",
    "gemfile",
    "go.mod",
    "mix.exs",
    "package.swift",
    "pom.xml",
    "rakefile",
    "rust-toolchain",
    "rust-toolchain.toml",
    "settings.gradle",
    "shell.nix",
    // Containers, CI and hook managers
    "containerfile",
    "docker-compose.yml",
    "dockerfile",
    "jenkinsfile",
    "lefthook.yml",
    "procfile",
    "vagrantfile",
];

/// Hooks of git. A repository can keep them in any folder.
const GIT_HOOKS: [&str; 16] = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-checkout",
    "post-commit",
    "post-merge",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "update",
];

/// Endings of names: settings of JavaScript tools are programs, `.pth` files are run by Python, and an editor offers the tasks
/// of a workspace.
const ENDINGS: [&str; 10] = [
    ".code-workspace",
    ".config.cjs",
    ".config.cts",
    ".config.js",
    ".config.json",
    ".config.mjs",
    ".config.mts",
    ".config.ts",
    ".instructions.md",
    ".pth",
];

/// Whether a program may read or run a file because it has this name. Hidden files count as well.
pub(crate) fn is_autoloaded(name: &str) -> bool {
    let name = as_found(name);
    let name = name.as_str();
    if name.starts_with('.') || ENDINGS.iter().any(|ending| name.ends_with(ending)) {
        return true;
    }
    if SETTINGS.contains(&name) || RUN.contains(&name) || GIT_HOOKS.contains(&name) {
        return true;
    }
    let (Some((stem, _)), Some((_, ending))) = (name.split_once('.'), name.rsplit_once('.')) else {
        return false;
    };
    TEXT_ENDINGS.contains(&ending) && INSTRUCTIONS.contains(&stem)
}

/// The name by which a file can be found: some file systems ignore case, invisible characters, and dots and spaces at the
/// end.
fn as_found(name: &str) -> String {
    // Both ways, because some letters have no other form in one of them.
    let folded = name.to_uppercase().to_lowercase();
    let visible: String = folded.chars().filter(char::is_ascii_graphic).collect();
    visible.trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_programs_obey() {
        for name in [
            "CLAUDE.md",
            "claude.local.md",
            "AGENTS.md",
            "AGENTS.override.md",
            "Gemini.MD",
            "SKILL.md",
            "rust.instructions.md",
            ".mcp.json",
            "mcp.json",
            ".cursorrules",
            ".envrc",
            "conftest.py",
            "Makefile",
            "GNUmakefile",
            "package.json",
            "setup.py",
            "sitecustomize.py",
            "build.rs",
            "Cargo.toml",
            "Dockerfile",
            "vite.config.ts",
            "x.pth",
            "pre-commit",
        ] {
            assert!(is_autoloaded(name), "{name}");
        }
        // As file systems that ignore something would find them.
        for name in [
            "cOnFtEsT.pY",
            "MAKEFILE",
            "Makefile.",
            "Makefile ",
            "CLAUDE\u{200d}.md",
            "AGENT\u{17f}.md",
            "pac\u{212a}age.json",
            "ma\u{feff}kefile",
            "pre\u{ad}-commit",
        ] {
            assert!(is_autoloaded(name), "{name:?}");
        }
        for name in [
            "agents.csv",
            "claude-notes.md",
            "my-agents.md",
            "report.md",
            "test.py",
            "data.json",
            "a.config",
            "config.json",
        ] {
            assert!(!is_autoloaded(name), "{name}");
        }
    }
}
