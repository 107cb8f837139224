//! The figures behind the plots.

use std::time::Duration;

use tandem_core::events::EventKind;
use tandem_core::{AgentId, Timestamp};
use tandem_hub::history::{AGENTS_MAX, History, Period};
use tandem_store::EventNotice;

const START: Timestamp = Timestamp(1_800_000_000_000);

fn notice(agent: &str, at: Timestamp) -> EventNotice {
    EventNotice { agent: agent.parse().unwrap(), seq: 1, kind: EventKind::TaskCreated, task: None, at }
}

fn agent(name: &str) -> AgentId {
    name.parse().unwrap()
}

#[test]
fn events_are_counted_in_steps_and_the_past_is_unknown() {
    let history = History::new(START);
    let events = |at: Timestamp| history.events(&agent("ada"), Period::Minutes15, at).values;
    // Nothing is known of the time before the start, and the step that runs is not over.
    assert_eq!(events(START.plus_seconds(5)), vec![None; 90]);
    let zeros = events(START.plus_seconds(20));
    assert_eq!((zeros[87], zeros[88], zeros[89]), (None, Some(0), Some(0)));
    history.count_events(&[notice("ada", START.plus_seconds(1)), notice("ada", START.plus_seconds(9))]);
    history.count_events(&[notice("bob", START.plus_seconds(9)), notice("ada", START.plus_seconds(25))]);
    let counted = events(START.plus_seconds(40));
    assert_eq!(counted[85..], [None, Some(2), Some(0), Some(1), Some(0)]);
    let steps = history.events(&agent("ada"), Period::Minutes15, START.plus_seconds(40));
    assert_eq!((steps.from, steps.step_ms), (START.plus_seconds(40 - 900), 10_000));
    // What is too old is gone, in this period only.
    let later = START.plus_seconds(3_600);
    assert_eq!(events(later), vec![Some(0); 90]);
    let hours = history.events(&agent("ada"), Period::Hours3, later).values;
    assert_eq!(hours.iter().flatten().sum::<u32>(), 3);
    assert_eq!(hours.iter().filter(|step| step.is_some()).count(), 30);
    // A late event of an earlier step counts where it belongs, and one from before the ring nowhere.
    history.count_events(&[
        notice("ada", later),
        notice("ada", later.plus_seconds(-15)),
        notice("ada", START),
    ]);
    let counted = events(later.plus_seconds(10));
    assert_eq!(counted[87..], [Some(1), Some(0), Some(1)]);
    assert_eq!(counted.iter().flatten().sum::<u32>(), 2);
    assert_eq!(
        history.events(&agent("ada"), Period::Hours24, START.plus_seconds(200_000)).values,
        vec![Some(0); 96]
    );
}

#[test]
fn memory_does_not_grow_with_the_number_of_agents() {
    let history = History::new(START);
    for number in 0..5 * AGENTS_MAX {
        let at = START.plus_ms(10 * i64::try_from(number).unwrap());
        history.count_events(&[notice(&format!("agent_{number}"), at)]);
    }
    let now = START.plus_seconds(120);
    let count = |name: &str| history.events(&agent(name), Period::Minutes15, now).values;
    // The latest are counted; of one that was dropped, nobody claims that it had none.
    let last = count(&format!("agent_{}", 5 * AGENTS_MAX - 1));
    assert_eq!(last.iter().flatten().sum::<u32>(), 1);
    assert_eq!(count("agent_0")[78], None);
    assert_eq!(count("agent_0")[89], Some(0));
}

#[test]
fn pushes_are_told_by_quantiles() {
    let history = History::new(START);
    for ms in 1..=100 {
        history.count_push(Duration::from_millis(ms), START.plus_seconds(1));
    }
    history.count_push(Duration::from_micros(1), START.plus_seconds(20));
    history.count_push(Duration::from_secs(1_000_000), START.plus_seconds(30));
    let (steps, all) = history.pushes(Period::Minutes15, START.plus_seconds(50));
    let first = steps.values[85].unwrap().unwrap();
    assert_eq!(first.count, 100);
    for (found, right) in [(first.p50, 50.0), (first.p95, 95.0), (first.p99, 99.0)] {
        assert!((found - right).abs() / right < 0.1, "{found} is not {right}");
    }
    assert_eq!(steps.values[84], None, "before the start");
    assert_eq!(steps.values[86], Some(None), "nothing was pushed");
    assert!(steps.values[87].unwrap().unwrap().p50 < 0.01);
    assert!(steps.values[88].unwrap().unwrap().p50 > 10_000.0);
    assert_eq!(all.unwrap().count, 102);
    assert_eq!(History::new(START).pushes(Period::Hours24, START.plus_seconds(3_600)).1, None);
}
