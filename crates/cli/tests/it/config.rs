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
fn a_port_alone_is_a_port_of_this_machine() {
    for (text, address) in [
        ("3001", "127.0.0.1:3001"),
        (":3001", "127.0.0.1:3001"),
        ("localhost:3001", "127.0.0.1:3001"),
        ("localhost", "127.0.0.1:3000"),
        ("0.0.0.0", "0.0.0.0:3000"),
        ("0.0.0.0:80", "0.0.0.0:80"),
        ("::1", "[::1]:3000"),
        ("[::1]", "[::1]:3000"),
        ("[::]:3001", "[::]:3001"),
    ] {
        assert_eq!(load(&[("listen", text)], &[], None).unwrap().listen, address.parse().unwrap(), "{text}");
        assert_eq!(load(&[], &[("TANDEM_LISTEN", text)], None).unwrap().listen, address.parse().unwrap());
        let file = format!("listen = \"{text}\"");
        assert_eq!(load(&[], &[], Some(&file)).unwrap().listen, address.parse().unwrap());
    }
    for wrong in ["", ":", "70000", "example.com:80", "localhost:", "127.0.0.1:x", "+80", ":+80", "-1"] {
        let error = load(&[("listen", wrong)], &[], None).unwrap_err();
        assert!(error.contains("--listen") && error.contains("127.0.0.1:3000"), "{wrong:?}: {error}");
    }
}

#[test]
fn a_misspelt_name_gets_a_suggestion() {
    for (misspelt, meant) in [
        ("rate_limit", "rate_limit_max"),
        ("max_conections", "max_connections"),
        ("ratelimitmax", "rate_limit_max"),
        ("register_rate_limit_max", "rate_limit_register_max"),
        ("behindproxy", "behind_proxy"),
        ("databse", "database"),
        ("Listen", "listen"),
    ] {
        let hint = format!("did you mean {meant}?");
        let error = load(&[(misspelt, "1")], &[], None).unwrap_err();
        assert!(error.contains(&hint) && error.contains(misspelt), "{error}");
        let error = load(&[], &[], Some(&format!("data = \"x\"\n{misspelt} = 1"))).unwrap_err();
        assert!(error.contains(&hint) && error.contains(misspelt), "{error}");
        let variable = format!("TANDEM_{}", misspelt.to_uppercase());
        let unknown = Config::unknown_variables([variable.clone()].into_iter());
        if meant.to_uppercase() == misspelt.to_uppercase() {
            assert_eq!(unknown, []);
        } else {
            assert_eq!(unknown, [(variable, Some(format!("TANDEM_{}", meant.to_uppercase())))]);
        }
    }
    assert!(!load(&[("zzz", "1")], &[], None).unwrap_err().contains("did you mean"));
    assert_eq!(Config::unknown_variables(["TANDEM_LOG".to_owned(), "PATH".to_owned()].into_iter()), []);
}

#[test]
fn lists_of_proxies_and_origins_are_checked() {
    let config = load(&[("trusted_proxies", "127.0.0.1, 10.0.0.0/8,::1/128")], &[], None).unwrap();
    assert!(config.is_behind_proxy() && !config.behind_proxy);
    for (ip, is_trusted) in
        [("10.255.0.1", true), ("11.0.0.1", false), ("::1", true), ("::ffff:10.0.0.1", true)]
    {
        assert_eq!(config.trusted_proxies.contains(ip.parse().unwrap()), is_trusted, "{ip}");
    }
    let all = load(&[("trusted_proxies", "0.0.0.0/0")], &[], None).unwrap().trusted_proxies;
    assert!(all.contains("203.0.113.1".parse().unwrap()) && !all.contains("2001:db8::1".parse().unwrap()));
    for wrong in ["proxy.example", "10.0.0.0/33", "10.0.0.0/", "::1/129", "10.0.0.0/-1"] {
        let error = load(&[("trusted_proxies", wrong)], &[], None).unwrap_err();
        assert!(error.contains("trusted_proxies") && error.contains("10.0.0.0/8"), "{error}");
    }
    for wrong in ["app.example", "https://", "https://a/b", "https://*.example", "null"] {
        let error = load(&[("allowed_origins", wrong)], &[], None).unwrap_err();
        assert!(error.contains("allowed_origins"), "{error}");
    }
}

/// Ways to write a database setting with a password in it; most of them are wrong.
const FORMS: [&str; 16] = [
    "postgres://tandem:{}@db.example:5432/tandem",
    "postgres://tandem:{}@db.example",
    "postgresql://{}@db.example/tandem",
    "postgres://db.example/tandem?user=tandem&password={}",
    "postgres://tandem@db.example/tandem?password={}&sslmode=require",
    "postgres://tandem:{}@[::1]:5432/tandem",
    "postgres://tandem:{}@a.example,b.example/tandem",
    "postgres://tandem:{}/tandem",
    "postgres://tandem:{}",
    "postgres:/tandem:{}@db.example/tandem",
    "postgres//tandem:{}@db.example/tandem",
    "tandem:{}@db.example/tandem",
    "host=db.example user=tandem password={} dbname=tandem",
    "mysql://tandem:{}@db.example/tandem",
    "Postgres://tandem:{}@db.example/tandem#x",
    "{}",
];

#[test]
fn a_password_is_never_shown() {
    // A password is pieces with anything between them, so that showing any part of it is noticed.
    let between =
        proptest::sample::select(vec!["", "@", "/", "?", "#", ":", "&", "=", "%40", " ", "://", "é"]);
    let pieces = proptest::collection::vec(between, 0..4);
    let form = proptest::sample::select(FORMS.to_vec());
    let runs = proptest::test_runner::Config { failure_persistence: None, ..Default::default() };
    let mut runner = proptest::test_runner::TestRunner::new(runs);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let run = runner.run(&(form, pieces), |(form, pieces)| {
        let password =
            pieces.iter().fold("s3cret".to_owned(), |text, between| format!("{text}{between}s3cret"));
        // Where no host follows, an @ makes the rest of the password the host.
        if password.contains('@') && !form.contains("{}@") && !form.contains("password=") {
            return Ok(());
        }
        let setting = form.replace("{}", &password);
        let config = load(&[("database", &setting)], &[], None).unwrap();
        let shown = config.redacted().to_string();
        assert!(!shown.contains("s3cret"), "{setting} is shown as {shown}");
        let error = Config { data: "/nowhere/at/all".into(), ..config };
        let started = runtime.block_on(tandem_hub::start::open(
            Config { database: Some(setting.replacen("postgres", "postgras", 1)), ..error },
            tandem_hub::Clock::System,
            tandem_hub::webhooks::address::Resolver::system(),
        ));
        let error = started.unwrap_err().to_string();
        assert!(!error.contains("s3cret"), "{setting} is refused with {error}");
        Ok(())
    });
    run.unwrap();
    let shown = |setting: &str| tandem_hub::config::redact_database(setting);
    assert_eq!(
        shown("postgres://u:p@db.example:5432/tandem?x=y"),
        "postgres://(hidden)@db.example:5432/tandem"
    );
    assert_eq!(shown("postgres://db.example/tandem"), "postgres://db.example/tandem");
    assert_eq!(shown("sqlite:/var/lib/a@b?c.db"), "sqlite:/var/lib/a@b?c.db");
    // Nor is a line of the file quoted.
    let error = load(&[], &[], Some("data = \"x\"\ndatabase = \"postgres://u:s3cret@h/db")).unwrap_err();
    assert!(error.contains("line 2") && !error.contains("s3cret"), "{error}");
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

#[test]
fn a_bus_needs_a_database_that_nodes_can_share() {
    let postgres = ("database", "postgres://tandem@db/tandem");
    let config = load(&[postgres, ("bus", "nats://u:s3cret@a:4222, tls://b")], &[], None).unwrap();
    assert_eq!(config.redacted()["bus"], "nats://a:4222,tls://b:4222");
    assert_eq!(load(&[postgres, ("bus", "none")], &[], None).unwrap().redacted()["bus"], "none");
    for (flags, words) in [
        (vec![("bus", "nats://a")], ["bus", "PostgreSQL"]),
        (vec![("bus", "none")], ["bus", "PostgreSQL"]),
        (vec![postgres, ("bus", "s3cret")], ["bus", "nats://HOST"]),
        (vec![postgres, ("bus", "http://a:s3cret@b")], ["bus", "nats://HOST"]),
        (vec![postgres, ("bus", "nats://s3cret:x@")], ["bus", "nats://HOST"]),
        (vec![postgres, ("bus", "nats://a"), ("listen", "0.0.0.0:3000")], ["advertise", "--advertise"]),
        (vec![postgres, ("bus", "nats://a"), ("advertise", "a")], ["advertise", "port"]),
        (vec![postgres, ("bus", "nats://a"), ("advertise", "a:0")], ["advertise", "port"]),
        (vec![("bus_credentials", "x")], ["bus_credentials", "--bus"]),
        (vec![("shared_files", "x"), ("files_bucket", "b")], ["shared_files", "bucket"]),
        (vec![("drain_seconds", "301")], ["drain_seconds", "300"]),
    ] {
        let error = load(&flags, &[], None).unwrap_err();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
        assert!(!error.contains("s3cret"), "{error}");
    }
}
