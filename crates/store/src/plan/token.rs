//! The words and signs of an SQL text.

/// One word or sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A keyword or a name.
    Word(String),
    /// A parameter, counted from zero.
    Param(usize),
    /// Any other character.
    Sign(char),
    /// A text or a number in the SQL itself.
    Literal,
}

impl Token {
    pub(crate) fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(own) if own == word)
    }

    /// How much deeper the tokens after this one are: in parentheses, or between `case` and `end`.
    fn depth(&self) -> i32 {
        match self {
            Self::Sign('(') => 1,
            Self::Sign(')') => -1,
            Self::Word(word) if word == "case" => 1,
            Self::Word(word) if word == "end" => -1,
            _ => 0,
        }
    }
}

/// The tokens of a text. Comments are left out.
pub(crate) fn tokens(sql: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = sql.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, after) = if let Some(comment) = rest.strip_prefix("/*") {
            (None, comment.split_once("*/").map_or("", |(_, after)| after))
        } else if first == '?' {
            let (number, after) = take_while(rest.get(1..).unwrap_or(""), |c| c.is_ascii_digit());
            let number: usize = number.parse().unwrap_or(0);
            (Some(Token::Param(number.saturating_sub(1))), after)
        } else if first == '\'' {
            let text = rest.get(1..).unwrap_or("");
            (Some(Token::Literal), text.split_once('\'').map_or("", |(_, after)| after))
        } else if first.is_ascii_digit() {
            (Some(Token::Literal), take_while(rest, |c| c.is_ascii_digit()).1)
        } else if first.is_ascii_alphabetic() || first == '_' {
            let (word, after) = take_while(rest, |c| c.is_ascii_alphanumeric() || c == '_');
            (Some(Token::Word(word.to_owned())), after)
        } else {
            (Some(Token::Sign(first)), rest.get(first.len_utf8()..).unwrap_or(""))
        };
        found.extend(token);
        rest = after.trim_start();
    }
    found
}

fn take_while(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !belongs(c)).unwrap_or(text.len()))
}

/// The place of the first of these words that is not in parentheses.
pub(crate) fn place(words: &[Token], wanted: &[&str]) -> Option<usize> {
    let mut depth = 0;
    words.iter().position(|token| {
        let outside = depth == 0;
        depth += token.depth();
        outside && wanted.iter().any(|word| token.is(word))
    })
}

/// The parts between commas, or between words such as `and`, that are not in parentheses.
pub(crate) fn split<'a>(words: &'a [Token], separator: &Token) -> Vec<&'a [Token]> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (number, token) in words.iter().enumerate() {
        if depth == 0 && token == separator {
            parts.extend(words.get(start..number));
            start = number + 1;
        }
        depth += token.depth();
    }
    parts.extend(words.get(start..));
    parts
}
