//! A tool that is killed leaves the shell of its hook behind, and the hook. What arrives then is for the next session.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::{ended, input, is_following, waiter};
use crate::command::Cli;
use crate::harness::{Db, Harness, eventually};

/// Stands for the tool: another program than a shell, which runs the hook in a shell that stays. Returns the hook's id too.
async fn tool(cli: &Cli, session: &str) -> (Child, String) {
    let (program, file) = (cli.home.join("claude"), cli.home.join("input.json"));
    std::fs::copy("/bin/sh", &program).unwrap();
    std::fs::write(&file, input("Stop", session)).unwrap();
    let hook = r#""$0" hook --agent bob --tool claude --wait <"$1" & echo $!; wait $!"#;
    let mut tool = Command::new(&program);
    tool.args(["-c", r#"sh -c "$2" "$0" "$1" & wait"#, env!("CARGO_BIN_EXE_tandem")]).arg(&file).arg(hook);
    let like = cli.command(&[]);
    tool.envs(like.as_std().get_envs().filter_map(|(name, value)| Some((name, value?))));
    // The test has the other end of the streams: that somebody could read does not mean that the session does.
    let mut tool = tool.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(tool.stdout.take().unwrap()).lines();
    let pid = lines.next_line().await.unwrap().unwrap();
    (tool, pid)
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_task_after_the_death_of_the_tool_is_for_the_next_session() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let (mut killed, pid) = tool(&cli, "one").await;
    is_following(&cli).await;
    killed.kill().await.unwrap();
    let task = cli.task(&[]).await;
    let place = format!("/proc/{pid}");
    eventually(async || (!Path::new(&place).exists()).then_some(())).await;
    let shown = cli.json(&["task", "show", &task]).await;
    let delivery = shown.get("delivery").or_else(|| shown["task"].get("delivery")).unwrap();
    assert_eq!(delivery["surfacedAt"], Value::Null, "nobody was there to read it: {shown}");
    assert_ne!(cli.json(&["agents"]).await["reach"], "hook", "nobody waits any more");
    // The same session, continued: what nobody has read was not shown to it.
    let (code, said) = ended(waiter(&cli, "one", &[]).await).await;
    assert!(code == 2 && said.contains(&task), "{code}: {said}");
}

/// A tool that closes the streams of its hook does not read them.
#[tokio::test]
async fn a_text_that_nobody_can_read_is_not_surfaced() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let mut deaf = waiter(&cli, "one", &[]).await;
    is_following(&cli).await;
    drop(deaf.stderr.take());
    let task = cli.task(&[]).await;
    assert_eq!(deaf.wait().await.unwrap().code(), Some(0));
    let (code, said) = ended(waiter(&cli, "one", &[]).await).await;
    assert!(code == 2 && said.contains(&task), "{code}: {said}");
}
