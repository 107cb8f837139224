//! How templates write values: times, sizes, agents. They get views as they are.

use std::fmt::Display;

use askama::filters::HtmlSafeOutput;
use askama::{Result, Values};

use super::people::Party;
use super::{regions, words};

type Html = Result<HtmlSafeOutput<String>>;

/// Begins a live region with this id.
#[askama::filter_fn]
pub(crate) fn region<T: Display>(id: T, _: &dyn Values) -> Html {
    Ok(HtmlSafeOutput(regions::begin(&id.to_string())))
}

/// Ends it.
#[askama::filter_fn]
pub(crate) fn end_region<T: Display>(_id: T, _: &dyn Values) -> Html {
    Ok(HtmlSafeOutput(regions::end()))
}

/// The place of the versions of a page's regions, with those that the browser has.
#[askama::filter_fn]
pub(crate) fn versions<T: Display>(known: T, _: &dyn Values) -> Html {
    Ok(HtmlSafeOutput(regions::versions(&known.to_string())))
}

/// How long ago something was, as text that changes by itself.
#[askama::filter_fn]
pub(crate) fn passing<T: Display>(text: T, _: &dyn Values) -> Html {
    Ok(HtmlSafeOutput(regions::passing(&words::escaped(&text.to_string()))))
}

/// The small avatar of an agent.
#[askama::filter_fn]
pub(crate) fn avatar<T: AsRef<Party>>(party: T, _: &dyn Values) -> Html {
    let party = party.as_ref();
    Ok(HtmlSafeOutput(format!(
        "<span class=\"avatar {}\" aria-hidden=\"true\">{}</span>",
        party.kind(),
        words::escaped(&party.initials)
    )))
}

/// The large one, with the ring of its key.
#[askama::filter_fn]
pub(crate) fn face<T: AsRef<Party>>(party: T, _: &dyn Values) -> Html {
    let party = party.as_ref();
    Ok(HtmlSafeOutput(format!(
        "<span class=\"avatar {} large\" aria-hidden=\"true\">{}{}</span>",
        party.kind(),
        words::escaped(&party.initials),
        party.ring()
    )))
}

/// An agent in a line: avatar and name.
#[askama::filter_fn]
pub(crate) fn party<T: AsRef<Party>>(party: T, _: &dyn Values) -> Html {
    let party = party.as_ref();
    let name = words::escaped(&party.name);
    Ok(HtmlSafeOutput(format!(
        "<span class=\"party\" title=\"{name}\"><span class=\"avatar {}\" aria-hidden=\"true\">{}</span>\
         <span class=\"name\">{name}</span></span>",
        party.kind(),
        words::escaped(&party.initials)
    )))
}

/// A number with commas.
#[askama::filter_fn]
pub(crate) fn thousands<T: Number>(number: T, _: &dyn Values) -> Result<String> {
    Ok(words::thousands(number.number()))
}

/// A number, behind however many references a template has it.
pub(crate) trait Number {
    fn number(&self) -> i64;
}

impl Number for i64 {
    fn number(&self) -> i64 {
        *self
    }
}

impl<T: Number + ?Sized> Number for &T {
    fn number(&self) -> i64 {
        (**self).number()
    }
}
