//! The memory budget: its bounds, and what draws from it.

use tandem_core::AgentId;
use tandem_hub::budget::Exhausted;
use tandem_hub::{Address, Budget, Holder};

fn address(text: &str) -> Address {
    Address::new(text.parse().unwrap())
}

fn agent(name: &str) -> Holder {
    Holder::Agent(name.parse::<AgentId>().unwrap())
}

#[test]
fn each_bound_holds_at_its_edge_and_everything_is_given_back() {
    let budget = Budget::new(800);
    let (one, two, three) = (address("10.0.0.1"), address("10.0.0.2"), address("10.0.0.3"));

    assert_eq!(budget.hold(&one, 101).unwrap_err(), Exhausted::Share);
    let guests = (budget.hold(&one, 100).unwrap(), budget.hold(&two, 100).unwrap());
    assert_eq!(budget.hold(&three, 1).unwrap_err(), Exhausted::Hub, "strangers have a quarter together");
    let idle = budget.hold(Holder::Connections, 200).unwrap();
    assert_eq!(budget.hold(Holder::Connections, 1).unwrap_err(), Exhausted::Hub);
    let mut ada = budget.hold(agent("ada"), 199).unwrap();
    assert_eq!(ada.grow(2).unwrap_err(), Exhausted::Share);
    ada.grow(1).unwrap();
    let bob = budget.hold(agent("bob"), 200).unwrap();
    assert_eq!(budget.hold(agent("cat"), 1).unwrap_err(), Exhausted::Hub);

    drop((guests, idle));
    let cat = budget.hold(agent("cat"), 1).unwrap();
    ada.shrink_to(10);
    assert_eq!(budget.used(), 211);
    let tied = ada.tie(vec![1, 2, 3]);
    let part = tied.slice(1..2);
    drop((tied, bob, cat));
    assert_eq!(budget.used(), 10, "a part keeps the whole");
    drop(part);
    assert_eq!(budget.used(), 0);
}

#[test]
fn a_refused_growth_changes_nothing() {
    let budget = Budget::new(80);
    let mut held = budget.hold(&address("::1"), 3).unwrap();
    assert!(held.grow_to(20).is_err());
    assert_eq!(budget.used(), 3);
    held.grow_to(5).unwrap();
    held.grow_to(1).unwrap();
    assert_eq!(budget.used(), 5);
}
