//! The settings: where they come from, and what is said about wrong ones.

use std::collections::HashMap;

use tandem_hub::Config;
use tandem_hub::config::EXAMPLE;

fn load(flags: &[(&str, &str)], env: &[(&str, &str)], file: Option<&str>) -> Result<Config, String> {
    let flags: Vec<(String, String)> =
        flags.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    let env: HashMap<&str, &str> = env.iter().copied().collect();
    let path = file.map(|text| {
        let path = std::env::temp_dir().join(format!("tandem-{}.toml", tandem_app::keys::random_hex::<8>()));
        std::fs::write(&path, text).unwrap();
        path
    });
    let loaded = Config::load(&flags, |name| env.get(name).map(ToString::to_string), path.as_deref());
    if let Some(path) = path {
        std::fs::remove_file(path).unwrap();
    }
    loaded.map_err(|error| error.to_string())
}

#[test]
fn the_example_file_is_the_defaults() {
    assert_eq!(load(&[], &[], Some(EXAMPLE)).unwrap(), Config::default());
    for name in Config::names() {
        assert!(EXAMPLE.contains(&format!("{name} = ")), "{name} is not in the example");
    }
    // What is commented out is right, too.
    let all =
        EXAMPLE.lines().map(|line| line.strip_prefix("# ").filter(|l| l.contains(" = ")).unwrap_or(line));
    load(&[], &[], Some(&all.collect::<Vec<_>>().join("\n"))).unwrap();
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let file =
        "rate_limit_max = 1\nrate_limit_register_max = 1\nrate_limit_discover_max = 1\nbehind_proxy = true";
    let env = [
        ("TANDEM_RATE_LIMIT_REGISTER_MAX", "2"),
        ("TANDEM_RATE_LIMIT_DISCOVER_MAX", "2"),
        ("TANDEM_BEHIND_PROXY", "0"),
    ];
    let config = load(&[("rate_limit_discover_max", "3")], &env, Some(file)).unwrap();
    assert_eq!(
        (
            config.rate_limit_max,
            config.rate_limit_register_max,
            config.rate_limit_discover_max,
            config.behind_proxy
        ),
        (1, 2, 3, false)
    );
    assert_eq!(load(&[], &[("MAX_MESSAGES_PER_MINUTE", "7")], None).unwrap().max_messages_per_minute, 7);
    let both = [("MAX_MESSAGES_PER_MINUTE", "7"), ("TANDEM_MAX_MESSAGES_PER_MINUTE", "8")];
    assert_eq!(load(&[], &both, None).unwrap().max_messages_per_minute, 8);
    assert_eq!(
        load(&[], &[("TANDEM_INITIAL_AGENT_CREDITS", "2")], None).unwrap().initial_credits_micro(),
        2_000_000
    );
}

#[test]
fn wrong_settings_are_named() {
    let says = |result: Result<Config, String>, words: &[&str]| {
        let error = result.unwrap_err();
        for word in words {
            assert!(error.contains(word), "{word:?} is not in {error:?}");
        }
    };
    says(load(&[], &[("TANDEM_RATE_LIMIT_MAX", "many")], None), &["TANDEM_RATE_LIMIT_MAX", "whole number"]);
    says(load(&[], &[("TANDEM_RATE_LIMIT_MAX", "-1")], None), &["TANDEM_RATE_LIMIT_MAX"]);
    says(load(&[], &[("TANDEM_BEHIND_PROXY", "yes")], None), &["TANDEM_BEHIND_PROXY", "true"]);
    assert_eq!(load(&[], &[("TANDEM_CHECK_IN_SECONDS", "0")], None).unwrap().check_in_seconds, Some(0));
    assert_eq!(load(&[], &[], Some("check_in_seconds = 45")).unwrap().check_in_seconds, Some(45));
    says(load(&[], &[("TANDEM_CHECK_IN_SECONDS", "x")], None), &["TANDEM_CHECK_IN_SECONDS", "whole number"]);
    says(load(&[("check_in_seconds", "86401")], &[], None), &["check_in_seconds", "86400"]);
    says(load(&[("listen", "here")], &[], None), &["--listen"]);
    says(load(&[("rate-limit", "1")], &[], None), &["no such setting"]);
    says(load(&[("admin_token", "short")], &[], None), &["admin_token", "16"]);
    says(load(&[], &[], Some("rate_limit = 1")), &["rate_limit", "unknown field"]);
    says(load(&[], &[], Some("listen = ")), &["toml"]);
    says(load(&[], &[("TANDEM_POW_DIFFICULTY", "41")], None), &["pow_difficulty", "40"]);
    let bucket = |name: &str, value: &str| load(&[("files_bucket", "b"), (name, value)], &[], None);
    bucket("files_prefix", "hubs/mine").unwrap();
    bucket("files_endpoint", "http://127.0.0.1:9000/").unwrap();
    says(load(&[("files_bucket", "s3://b")], &[], None), &["files_bucket", "bare name"]);
    says(
        load(&[("files_endpoint", "https://store")], &[], None),
        &["files_endpoint", "without files_bucket"],
    );
    for wrong in ["/a", "a/", "a//b", "..", "a b"] {
        says(bucket("files_prefix", wrong), &["files_prefix"]);
    }
    for wrong in ["store:9000", "https://", "https://key:secret@store", "https://store:65536/"] {
        says(bucket("files_endpoint", wrong), &["files_endpoint", "http://"]);
    }
    let hub = |name: &str, value: &str| load(&[(name, value)], &[], None);
    for right in ["https://hub.example.com", "http://hub:65535/below", "http://[::1]:3000/"] {
        hub("public_url", right).unwrap();
    }
    for wrong in ["https://hub.example.com:65536", "http://hub:0/", "http://:80/", "http://hub:x/"] {
        says(hub("public_url", wrong), &["public_url", "port"]);
    }
    hub("mcp_hosts", "inside.example, other.example:8080").unwrap();
    says(hub("mcp_hosts", "inside.example, other.example:80800"), &["mcp_hosts", "port"]);
}
