//! `tandem top`: what happens on a hub, refreshed until the operator has seen enough.

mod figures;
mod screen;

use std::time::Duration;

use clap::Args;
use tandem_client::Client;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::Common;
use super::operator::OperatorOptions;
use super::session::block_on;
use crate::exit::{Failure, Outcome};
use crate::terminal::Terminal;
use figures::{Figures, Observer};
use screen::Screen;

/// The first reading comes early, but not at once: a rate needs some time.
const FIRST_AFTER: Duration = Duration::from_millis(500);

/// Arguments of `tandem top`.
#[derive(Debug, Args)]
#[command(after_help = "\
Rates, delays and routes are those of the node that answers: with several nodes behind a proxy, name one by --hub.
The operator's token goes to the hub of --hub or TANDEM_HUB, else to http://127.0.0.1:3000; never to that of a profile.

Examples:
  tandem top                        on the machine of the hub, in its folder; q ends it
  tandem top --hub https://hub.example.com --token-file operator.token
  tandem top --once                 one reading, for a pipe
  tandem top --json --interval 5    one object per line, every five seconds")]
pub(crate) struct Arguments {
    /// Seconds between two readings
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    interval: Duration,
    /// Print one reading and end
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    operator: OperatorOptions,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: Option<f64> = text.parse().ok().filter(|number| (0.1..=3_600.0).contains(number));
    number
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "must be a number of seconds from 0.1 to 3600".to_owned())
}

/// Runs `tandem top`.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    // A reading that fails is shown; the next one comes soon.
    let client = arguments.operator.client(common)?.with_patience(Duration::ZERO);
    let terminal = common.terminal();
    if !terminal.interactive && !terminal.json && !arguments.once {
        return Err(Failure::usage("`tandem top` draws on a terminal")
            .next("In a pipe, use `tandem top --once`, or `tandem top --json`."));
    }
    block_on(async {
        let mut observer = Observer::start(&client).await?;
        if arguments.once || terminal.json {
            return print(&mut observer, &client, arguments, &terminal).await;
        }
        draw(&mut observer, &client, arguments.interval, &terminal).await
    })
}

/// Prints readings, one or until the end.
async fn print(
    observer: &mut Observer,
    client: &Client,
    arguments: &Arguments,
    terminal: &Terminal,
) -> Outcome {
    loop {
        tokio::time::sleep(arguments.interval).await;
        let figures = observer.read(client).await?;
        terminal.result(&figures, |terminal| {
            figures.lines().iter().try_for_each(|line| terminal.line(line.text.trim_end()))
        })?;
        if arguments.once {
            return Ok(());
        }
    }
}

/// Draws readings until q, Ctrl-C or SIGTERM. Dropping the screen restores the terminal, also after a panic.
async fn draw(observer: &mut Observer, client: &Client, every: Duration, terminal: &Terminal) -> Outcome {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut resized = signal(SignalKind::window_change())?;
    let mut screen = Screen::open()?;
    let mut tick = interval_at(Instant::now() + every.min(FIRST_AFTER), every);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut shown: Option<Result<Figures, String>> = None;
    loop {
        tokio::select! {
            _ = tick.tick() => {
                let read = observer.read(client).await;
                shown = Some(read.map_err(|error| error.to_string()));
            }
            _ = resized.recv() => {}
            _ = interrupt.recv() => return Ok(()),
            _ = terminate.recv() => return Ok(()),
            key = screen.key() => match key {
                Some(b'q' | b'Q' | 3) | None => return Ok(()),
                Some(_) => {}
            },
        }
        match &shown {
            Some(Ok(figures)) => screen.draw(terminal, &figures.lines())?,
            Some(Err(problem)) => screen.draw(terminal, &figures::problem_lines(client, problem))?,
            None => {}
        }
    }
}
