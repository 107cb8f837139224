//! Which rows a write concerns and what it sets there, found in its text.

use super::text::{Action, Form, Set, Source, Write, by_and, by_comma, find_keys};
use super::token::{Token, place};

pub(super) fn parse_insert(words: &[Token]) -> Option<(Vec<Source>, Action)> {
    let [_, Token::Word(into), Token::Word(table), rest @ ..] = words else { return None };
    let values = place(rest, &["values"])?;
    let after = rest.get(values + 1..)?;
    let on = place(after, &["on"]).unwrap_or(after.len());
    let columns = in_parentheses(rest.get(..values)?)?;
    let given = in_parentheses(after.get(..on)?)?;
    if into != "into" || columns.len() != given.len() || words.iter().any(|token| token.is("select")) {
        return None;
    }
    let mut keys = Vec::new();
    for (column, value) in columns.into_iter().zip(given) {
        match (column, value) {
            ([Token::Word(column)], [Token::Param(number)]) => keys.push((column.clone(), *number)),
            ([Token::Word(_)], [Token::Literal]) => {}
            _ => return None,
        }
    }
    let (form, set) = parse_conflict(table, after.get(on..)?, &keys)?;
    let write = Write { table: table.clone(), form, keys, set, exact: true };
    Some((Vec::new(), Action::Write(write)))
}

fn in_parentheses(words: &[Token]) -> Option<Vec<&[Token]>> {
    let [Token::Sign('('), inner @ .., Token::Sign(')')] = words else { return None };
    Some(by_comma(inner))
}

/// What happens when the new row is there already: `on conflict (keys) do nothing` or `do update set …`.
fn parse_conflict(
    table: &str,
    words: &[Token],
    given: &[(String, usize)],
) -> Option<(Form, Vec<(String, Set)>)> {
    if words.is_empty() {
        return Some((Form::Insert, Vec::new()));
    }
    let close = words.iter().position(|token| *token == Token::Sign(')'))?;
    let [Token::Word(on), Token::Word(conflict), Token::Sign('('), keys @ ..] = words.get(..close)? else {
        return None;
    };
    let only_word = |words: &[Token]| match words {
        [Token::Word(word)] => Some(word.clone()),
        _ => None,
    };
    let keys: Option<Vec<String>> = by_comma(keys).into_iter().map(only_word).collect();
    let keys = keys.filter(|_| on == "on" && conflict == "conflict")?;
    let what = words.get(close + 1..)?;
    if what.len() == 2 && what.last().is_some_and(|token| token.is("nothing")) {
        return Some((Form::InsertOrIgnore(keys), Vec::new()));
    }
    let [Token::Word(_), Token::Word(update), Token::Word(_), assignments @ ..] = what else { return None };
    if update != "update" || place(assignments, &["where"]).is_some() {
        return None;
    }
    let param = |column: &str| given.iter().find(|(name, _)| name == column).map(|(_, number)| *number);
    let mut set = Vec::new();
    for assignment in by_comma(assignments) {
        let (column, value) = match assignment {
            [Token::Word(column), Token::Sign('='), value @ ..] => (column, value),
            _ => return None,
        };
        let to = match value {
            [Token::Word(new), Token::Sign('.'), Token::Word(from)]
                if new == "excluded" && from == column =>
            {
                Set::To(param(column)?)
            }
            [
                Token::Word(own),
                Token::Sign('.'),
                Token::Word(old),
                Token::Sign('+'),
                Token::Word(new),
                Token::Sign('.'),
                Token::Word(from),
            ] if own == table && old == column && new == "excluded" && from == column => {
                Set::Add(param(column)?)
            }
            _ => return None,
        };
        set.push((column.clone(), to));
    }
    Some((Form::Upsert(keys), set))
}

pub(super) fn parse_update(words: &[Token]) -> Option<(Vec<Source>, Action)> {
    let [_, Token::Word(table), Token::Word(_), rest @ ..] = words else { return None };
    let condition = place(rest, &["where"])?;
    let mut set = Vec::new();
    for assignment in by_comma(rest.get(..condition)?) {
        let [Token::Word(column), Token::Sign('='), value @ ..] = assignment else { return None };
        let to = match value {
            [Token::Param(number)] => Set::To(*number),
            [Token::Word(old), Token::Sign('+'), Token::Param(number)] if old == column => Set::Add(*number),
            _ => Set::Computed,
        };
        set.push((column.clone(), to));
    }
    by_keys(table, Form::Update, set, rest.get(condition + 1..)?)
}

pub(super) fn parse_delete(words: &[Token]) -> Option<(Vec<Source>, Action)> {
    let [_, Token::Word(from), Token::Word(table), Token::Word(_), condition @ ..] = words else {
        return None;
    };
    if from != "from" {
        return None;
    }
    by_keys(table, Form::Delete, Vec::new(), condition)
}

/// A write of the rows that fulfil a condition.
fn by_keys(
    table: &str,
    form: Form,
    set: Vec<(String, Set)>,
    condition: &[Token],
) -> Option<(Vec<Source>, Action)> {
    if condition.iter().any(|token| token.is("select") || token.is("returning")) {
        return None;
    }
    let mut row = [Source::of_write(table)];
    find_keys(condition, &mut row);
    let [row] = row;
    let parts = by_and(condition).len();
    let exact = row.keys.len() == parts && !set.iter().any(|(_, set)| *set == Set::Computed);
    if row.keys.is_empty() {
        return None;
    }
    let write = Write { table: table.into(), form, keys: row.keys, set, exact };
    Some((Vec::new(), Action::Write(write)))
}
