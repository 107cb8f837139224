//! Lists over several pages.

use std::future::Future;

use clap::Args;
use serde::Serialize;
use tandem_api::tasks::PageQuery;
use tandem_client::{Error, Page, each_page};

use crate::exit::Outcome;
use crate::terminal::Terminal;
use crate::terminal::table::Table;

/// Items per request.
const PAGE: usize = 500;

/// How much of a list to print.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Extent {
    /// Print at most this many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print the whole list
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

/// Part of a list.
#[derive(Debug)]
pub(crate) struct Listed<T> {
    pub(crate) items: Vec<T>,
    pub(crate) has_more: bool,
}

impl Extent {
    pub(crate) fn whole() -> Self {
        Self { limit: 0, all: true }
    }

    /// Reads as many pages as needed.
    pub(crate) async fn read<T, F>(self, page: impl FnMut(PageQuery) -> F) -> Result<Listed<T>, Error>
    where
        F: Future<Output = Result<Page<T>, Error>>,
    {
        let wanted = if self.all { usize::MAX } else { self.limit as usize };
        let (mut items, mut has_more) = (Vec::new(), false);
        let limit = i64::try_from(wanted.min(PAGE)).unwrap_or_default();
        each_page(limit, page, |page| {
            has_more = page.next.is_some();
            items.extend(page.items);
            items.len() < wanted
        })
        .await?;
        has_more |= items.len() > wanted;
        items.truncate(wanted);
        Ok(Listed { items, has_more })
    }
}

impl<T: Serialize> Listed<T> {
    /// Prints the items: one line of JSON each, or a table.
    pub(crate) fn print(
        &self,
        terminal: &Terminal,
        mut table: Table,
        mut row: impl FnMut(&mut Table, &T),
        when_empty: &str,
    ) -> Outcome {
        if terminal.json {
            return self.items.iter().try_for_each(|item| terminal.json_line(item));
        }
        self.items.iter().for_each(|item| row(&mut table, item));
        table.print(terminal, when_empty)?;
        if self.has_more {
            terminal.note("There are more: --limit N or --all.");
        }
        Ok(())
    }
}
