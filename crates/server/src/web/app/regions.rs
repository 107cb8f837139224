//! The regions of a page that follow the events of an agent. An open page asks for itself again and names the versions of
//! the regions that it shows; it gets the regions that have changed, or all of the page if it shows others by now.
//!
//! Templates write a boundary before and after each region, as parts of a multipart body have one. It is a random text of
//! this process, so nothing that an agent wrote can contain it, and it never leaves the process.

use std::fmt::Write as _;
use std::sync::LazyLock;

use tandem_app::keys;

/// Bytes of a region's version, before they are written as hexadecimal text.
const VERSION_BYTES: usize = 6;
/// More than the versions of any page.
pub(crate) const KNOWN_BYTES_MAX: usize = 4_096;

/// The boundary, and the signs that follow it.
static BOUNDARY: LazyLock<String> = LazyLock::new(|| format!("\u{1e}{}", keys::random_hex::<16>()));
const BEGIN: char = '>';
const END: char = '<';
/// Around what changes with time alone: the script keeps it fresh.
const BEGIN_TIME: char = '(';
const END_TIME: char = ')';
/// Where the versions stand.
const VERSIONS: char = '=';
/// Ends the name of a region, and the versions that a browser knows.
const NAMED: char = '\u{1f}';

pub(crate) fn begin(name: &str) -> String {
    format!("{}{BEGIN}{name}{NAMED}", *BOUNDARY)
}

pub(crate) fn end() -> String {
    format!("{}{END}", *BOUNDARY)
}

/// A text that says how long ago something was.
pub(crate) fn passing(text: &str) -> String {
    format!("{0}{BEGIN_TIME}{text}{0}{END_TIME}", *BOUNDARY)
}

/// The place of the versions, with those that the browser knows.
pub(crate) fn versions(known: &str) -> String {
    format!("{}{VERSIONS}{known}{NAMED}", *BOUNDARY)
}

#[derive(Debug)]
struct Region {
    name: String,
    start: usize,
    end: usize,
    version: String,
}

/// The page as a browser gets it, or the regions that it does not have in this version.
pub(crate) fn finish(rendered: &str) -> String {
    let mut parts = rendered.split(&**BOUNDARY);
    let mut page = String::with_capacity(rendered.len());
    page.push_str(parts.next().unwrap_or_default());
    let mut regions: Vec<Region> = Vec::new();
    let mut open: Option<(Region, keys::Hashing)> = None;
    let mut slot = None;
    let mut passes = false;
    for part in parts {
        let mut signs = part.chars();
        let sign = signs.next();
        let mut text = signs.as_str();
        match sign {
            Some(BEGIN) => {
                let (name, rest) = text.split_once(NAMED).unwrap_or_default();
                let region =
                    Region { name: name.to_owned(), start: page.len(), end: 0, version: String::new() };
                open = Some((region, keys::Hashing::default()));
                text = rest;
            }
            Some(END) => {
                if let Some((region, hashing)) = open.take() {
                    let version = keys::hex(&hashing.finish()[..VERSION_BYTES]);
                    regions.push(Region { end: page.len(), version, ..region });
                }
            }
            Some(VERSIONS) => {
                let (known, rest) = text.split_once(NAMED).unwrap_or_default();
                slot = Some((page.len(), known.to_owned()));
                text = rest;
            }
            Some(BEGIN_TIME) => passes = true,
            _ => passes = false,
        }
        if let Some((_, hashing)) = open.as_mut().filter(|_| !passes) {
            hashing.add(text.as_bytes());
        }
        page.push_str(text);
    }
    let Some((place, known)) = slot else { return page };
    let known: Vec<(&str, &str)> = known.split(',').filter_map(|one| one.split_once('.')).collect();
    let written = versions_of(&regions);
    if !known.is_empty() && known.iter().map(|one| one.0).eq(regions.iter().map(|one| one.name.as_str())) {
        let pairs = regions.iter().zip(&known);
        let changed = pairs.filter(|(region, known)| region.version != known.1);
        return changed
            .map(|(region, _)| &page[region.start..region.end])
            .chain([written.as_str()])
            .collect();
    }
    page.insert_str(place, &written);
    page
}

fn versions_of(regions: &[Region]) -> String {
    let mut text = String::from("<template id=\"versions\">");
    for (number, region) in regions.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = write!(text, "{comma}{}.{}", region.name, region.version);
    }
    text.push_str("</template>");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(known: &str, count: i32, ago: &str) -> String {
        let time = passing(ago);
        finish(&format!(
            "<title>x</title>{}<p id=\"a\">{count}</p>{}<b>between</b>{}<p id=\"b\">{time}</p>{}{}",
            begin("a"),
            end(),
            begin("b"),
            end(),
            versions(known)
        ))
    }

    fn versions_in(page: &str) -> String {
        let rest = page.split_once("<template id=\"versions\">").unwrap().1;
        rest.split_once("</template>").unwrap().0.to_owned()
    }

    #[test]
    fn a_page_is_whole_at_first_and_then_only_what_has_changed() {
        let first = page("", 1, "now");
        assert!(first.starts_with("<title>x</title><p id=\"a\">1</p><b>between</b><p id=\"b\">now</p>"));
        let known = versions_in(&first);
        let same = page(&known, 1, "2 min ago");
        assert_eq!(same, format!("<template id=\"versions\">{known}</template>"), "time alone is no change");
        let changed = page(&known, 2, "2 min ago");
        assert!(changed.starts_with("<p id=\"a\">2</p><template"), "{changed}");
        assert_ne!(versions_in(&changed), known);
    }

    #[test]
    fn whoever_shows_other_regions_gets_the_whole_page() {
        let known = versions_in(&page("", 1, "now"));
        let swapped: Vec<&str> = known.split(',').rev().collect();
        for known in ["1", "a.0", &swapped.join(","), "<script>", &format!("{known},c.0")] {
            assert!(page(known, 1, "now").contains("between"), "{known}");
        }
        assert!(!page(&known, 1, "now").contains(BOUNDARY.as_str()));
    }
}
