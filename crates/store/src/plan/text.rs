//! What a statement reads and writes, found in its own text.
//!
//! Jobs of one group run against a common cache before anything is written. Whether a write of one job concerns what
//! another has read is decided by tables, keys and columns, and those are all in the SQL. What this parser does not
//! understand counts as reading and writing whole tables, which is slower and never wrong.

use std::collections::HashSet;

use super::token::{Token, place, split, tokens};
use super::writes::{parse_delete, parse_insert, parse_update};
use crate::Value;
use crate::lock::{LockClass, LockedRow};

/// How a comment begins that says what a query locks.
pub(crate) const LOCK_MARK: &str = "/* lock ";

/// A statement that was understood as far as possible.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) sql: String,
    /// The rows that it reads, one entry for each table it names.
    pub(crate) sources: Vec<Source>,
    pub(crate) action: Action,
}

#[derive(Debug)]
pub(crate) enum Action {
    /// It reads, and locks rows in a transaction that writes.
    Read(Option<Lock>),
    /// It writes rows of one table, by values that are known when it is sent.
    Write(Write),
    /// Anything else. It cannot wait for the end of a group.
    Other,
}

/// Which rows a query locks: `/* lock t */` at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lock {
    /// What the query calls the table.
    pub(crate) alias: String,
    pub(crate) table: String,
    pub(crate) class: LockClass,
}

/// Rows of a table that a statement reads.
#[derive(Debug, Default)]
pub(crate) struct Source {
    pub(crate) table: String,
    alias: String,
    /// Columns that are compared with a parameter, which must be equal.
    pub(crate) keys: Vec<(String, usize)>,
    /// Columns that are shown as they are, and their places in the result.
    pub(crate) shown: Vec<(String, usize)>,
    /// Columns that are used in any other way.
    used: HashSet<String>,
    /// Whether any column may matter.
    whole: bool,
    /// Whether it is joined to another table, which is there without it.
    joined: bool,
}

impl Source {
    pub(super) fn of_write(table: &str) -> Self {
        Self { table: table.into(), alias: table.into(), ..Self::default() }
    }

    fn whole_table(table: &str) -> Self {
        Self { table: table.into(), whole: true, ..Self::default() }
    }

    /// Whether a changed column can be changed in the result as well.
    pub(crate) fn only_shows(&self, column: &str) -> bool {
        !self.whole && !self.used.contains(column)
    }

    /// Whether the result may have a row although this table has none.
    pub(crate) fn may_be_absent(&self) -> bool {
        self.joined
    }

    /// Whether the column matters for the result at all.
    pub(crate) fn looks_at(&self, column: &str) -> bool {
        !self.only_shows(column) || self.shown.iter().any(|(name, _)| name == column)
    }
}

/// A write of rows that are found by keys.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) table: String,
    pub(crate) form: Form,
    /// The columns that tell which rows are concerned, and their parameters. For a new row, all its columns.
    pub(crate) keys: Vec<(String, usize)>,
    /// What is set, by column.
    pub(crate) set: Vec<(String, Set)>,
    /// Whether the rows are found by the keys alone.
    pub(crate) exact: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    Insert,
    /// A new row, unless there is one with these keys.
    InsertOrIgnore(Vec<String>),
    /// A new row, or a change of the row with these keys.
    Upsert(Vec<String>),
    Update,
    /// A removal of rows.
    Delete,
}

/// What becomes of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Set {
    /// It gets the value of a parameter.
    To(usize),
    /// A parameter is added to it.
    Add(usize),
    /// It is computed in another way.
    Computed,
}

impl Text {
    pub(crate) fn parse(sql: &str) -> Self {
        let words = tokens(sql);
        let parsed = match words.first() {
            Some(Token::Word(verb)) if verb == "select" => parse_select(&words),
            Some(Token::Word(verb)) if verb == "insert" => parse_insert(&words),
            Some(Token::Word(verb)) if verb == "update" => parse_update(&words),
            Some(Token::Word(verb)) if verb == "delete" => parse_delete(&words),
            _ => None,
        };
        let (sources, mut action) = parsed.unwrap_or_else(|| (whole_tables(&words), fallback(&words)));
        if let Action::Read(lock) = &mut action {
            *lock = find_lock(sql, &sources);
        }
        Self { sql: sql.to_owned(), sources, action }
    }

    pub(crate) fn lock(&self) -> Option<&Lock> {
        match &self.action {
            Action::Read(lock) => lock.as_ref(),
            Action::Write(_) | Action::Other => None,
        }
    }

    /// The row that it locks, if its parameters tell.
    pub(crate) fn locked_row(&self, params: &[Value<'static>]) -> Option<LockedRow> {
        let lock = self.lock()?;
        let source = self.sources.iter().find(|source| source.alias == lock.alias)?;
        let value = |column: &str| {
            let (_, number) = source.keys.iter().find(|(name, _)| name == column)?;
            params.get(*number).cloned()
        };
        LockedRow::named(&lock.table, source.keys.iter().map(|(column, _)| column.as_str()), value)
    }
}

/// A query that is not understood still only reads.
fn fallback(words: &[Token]) -> Action {
    if words.first().is_some_and(|word| word.is("select")) { Action::Read(None) } else { Action::Other }
}

/// The lock that a query asks for in a comment, which SQLite ignores: one writer needs none.
fn find_lock(sql: &str, sources: &[Source]) -> Option<Lock> {
    let (_, mark) = sql.rsplit_once(LOCK_MARK)?;
    let alias = mark.trim_end().strip_suffix("*/")?.trim();
    let table = sources.iter().find(|source| source.alias == alias).map_or(alias, |source| &source.table);
    Some(Lock { alias: alias.into(), table: table.into(), class: LockClass::of(table) })
}

/// Every table that is named anywhere.
fn whole_tables(words: &[Token]) -> Vec<Source> {
    let mut tables: Vec<&str> = Vec::new();
    for pair in words.windows(2) {
        if let [Token::Word(before), Token::Word(table)] = pair
            && ["from", "join", "into", "update"].contains(&before.as_str())
            && !tables.contains(&table.as_str())
        {
            tables.push(table);
        }
    }
    tables.into_iter().map(Source::whole_table).collect()
}

/// Words that a query of the simple form does not have outside of parentheses.
const NOT_SIMPLE: [&str; 9] =
    ["union", "with", "group", "having", "window", "distinct", "offset", "returning", "using"];
/// Words that are no columns.
const KEYWORDS: [&str; 26] = [
    "and", "or", "not", "is", "null", "in", "like", "case", "when", "then", "else", "end", "on", "as", "asc",
    "desc", "order", "by", "limit", "where", "select", "from", "join", "left", "escape", "exists",
];

pub(super) fn by_comma(words: &[Token]) -> Vec<&[Token]> {
    split(words, &Token::Sign(','))
}

pub(super) fn by_and(words: &[Token]) -> Vec<&[Token]> {
    split(words, &Token::Word("and".into()))
}

fn parse_select(words: &[Token]) -> Option<(Vec<Source>, Action)> {
    if place(words, &NOT_SIMPLE).is_some() {
        return None;
    }
    let from = place(words, &["from"])?;
    let list = words.get(1..from)?;
    let rest = words.get(from + 1..)?;
    let tables_end = place(rest, &["where", "order", "limit"]).unwrap_or(rest.len());
    let (tables, tail) = rest.split_at(tables_end);
    let (mut sources, mut conditions) = parse_tables(tables)?;
    let (condition, order) = tail.split_at(place(tail, &["order", "limit"]).unwrap_or(tail.len()));
    conditions.extend(condition.get(1..));
    for condition in &conditions {
        find_keys(condition, &mut sources);
        note_used(condition, &mut sources);
    }
    note_used(order, &mut sources);
    for (number, item) in by_comma(list).into_iter().enumerate() {
        match item {
            [Token::Word(column)] if sources.len() == 1 => {
                sources.first_mut()?.shown.push((column.clone(), number));
            }
            [Token::Word(alias), Token::Sign('.'), Token::Word(column)] => {
                let source = sources.iter_mut().find(|source| source.alias == *alias)?;
                source.shown.push((column.clone(), number));
            }
            expression => note_used(expression, &mut sources),
        }
    }
    let nested = words.get(1..)?;
    if nested.iter().any(|token| token.is("select")) {
        // A query inside of this one: its tables matter as a whole.
        let outer: Vec<String> = sources.iter().map(|source| source.table.clone()).collect();
        sources.extend(whole_tables(nested).into_iter().filter(|source| !outer.contains(&source.table)));
    }
    Some((sources, Action::Read(None)))
}

/// The tables of a query with their aliases, and the conditions of their joins.
fn parse_tables(words: &[Token]) -> Option<(Vec<Source>, Vec<&[Token]>)> {
    let (mut sources, mut conditions, mut rest) = (Vec::new(), Vec::new(), words);
    while !rest.is_empty() {
        let skipped = rest.iter().take_while(|token| token.is("left") || token.is("join")).count();
        rest = rest.get(skipped..)?;
        let (Token::Word(table), after) = rest.split_first()? else { return None };
        let alias = match after.first() {
            Some(Token::Word(alias)) if !KEYWORDS.contains(&alias.as_str()) => alias,
            _ => table,
        };
        let (own, next) = after.split_at(place(after, &["left", "join"]).unwrap_or(after.len()));
        match place(own, &["on"]) {
            Some(on) => conditions.push(own.get(on + 1..)?),
            None if own.len() > 1 => return None,
            None => {}
        }
        let joined = !sources.is_empty();
        sources.push(Source { table: table.clone(), alias: alias.clone(), joined, ..Source::default() });
        rest = next;
    }
    Some((sources, conditions))
}

/// Finds what must be equal to a parameter for a condition to hold.
pub(super) fn find_keys(condition: &[Token], sources: &mut [Source]) {
    if place(condition, &["or"]).is_some() {
        return;
    }
    for part in by_and(condition) {
        match part {
            [Token::Word(column), Token::Sign('='), Token::Param(number)] => {
                if let [source] = sources {
                    source.keys.push((column.clone(), *number));
                }
            }
            [
                Token::Word(alias),
                Token::Sign('.'),
                Token::Word(column),
                Token::Sign('='),
                Token::Param(number),
            ] => {
                if let Some(source) = sources.iter_mut().find(|source| source.alias == *alias) {
                    source.keys.push((column.clone(), *number));
                }
            }
            _ => {}
        }
    }
}

/// Notes the columns that a part of a query uses.
fn note_used(words: &[Token], sources: &mut [Source]) {
    let mut rest = words;
    while let Some((first, after)) = rest.split_first() {
        rest = match (first, after) {
            (Token::Word(alias), [Token::Sign('.'), Token::Word(column), after @ ..]) => {
                let of_alias = sources.iter_mut().filter(|source| source.alias == *alias);
                for source in of_alias {
                    source.used.insert(column.clone());
                }
                after
            }
            (Token::Word(column), _) if !KEYWORDS.contains(&column.as_str()) => {
                for source in sources.iter_mut() {
                    source.used.insert(column.clone());
                }
                after
            }
            _ => after,
        };
    }
}
