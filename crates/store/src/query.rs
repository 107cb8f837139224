//! A query put together from parts, for lists with optional filters.

use crate::Value;

/// SQL text with its parameters.
#[derive(Debug, Default)]
pub(crate) struct Query {
    pub(crate) sql: String,
    pub(crate) params: Vec<Value<'static>>,
}

impl Query {
    pub(crate) fn push(&mut self, sql: &str) -> &mut Self {
        self.sql.push_str(sql);
        self
    }

    /// Adds a parameter and its place in the text.
    pub(crate) fn bind<'v>(&mut self, value: impl Into<Value<'v>>) -> &mut Self {
        self.params.push(value.into().into_owned());
        self.sql.push('?');
        self.sql.push_str(&self.params.len().to_string());
        self
    }

    /// Adds several parameters and a list of their places.
    pub(crate) fn bind_all<'v, T: Into<Value<'v>>>(
        &mut self,
        values: impl IntoIterator<Item = T>,
    ) -> &mut Self {
        for (number, value) in values.into_iter().enumerate() {
            if number > 0 {
                self.push(", ");
            }
            self.bind(value);
        }
        self
    }
}

/// A pattern for `like` that finds `needle` anywhere, its wildcards taken literally.
pub(crate) fn contains_pattern(needle: &str) -> String {
    let mut pattern = String::from("%");
    for c in needle.chars() {
        if matches!(c, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}
