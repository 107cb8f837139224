//! The canonical form of JSON (RFC 8785), over which cards are signed: no white space, and names in the order of their
//! UTF-16 code units. Texts are written as serde does it, which is the canonical way.

use serde_json::Value;

/// JSON in its canonical form. The numbers in it must be whole.
pub(crate) fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            text.push('{');
            for (at, (name, value)) in fields.into_iter().enumerate() {
                text.push_str(if at == 0 { "" } else { "," });
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                write(value, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { "," });
                write(item, text);
            }
            text.push(']');
        }
        Value::Number(number) => {
            debug_assert!(!number.is_f64(), "fractions have a canonical form that this does not know");
            text.push_str(&number.to_string());
        }
        plain => text.push_str(&plain.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::canonical;

    #[test]
    fn names_are_in_the_order_of_utf_16() {
        // The example of RFC 8785, 3.2.3: the emoji has two code units, the first of which is less than that of U+FB33.
        let given = json!({ "\u{20ac}": 1, "\r": 2, "\u{fb33}": 3, "1": 4, "\u{1f600}": 5, "\u{80}": 6, "\u{f6}": 7 });
        let expected =
            "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":1,\"\u{1f600}\":5,\"\u{fb33}\":3}";
        assert_eq!(canonical(&given), expected);
    }

    #[test]
    fn texts_have_the_shortest_escapes() {
        let given = json!(["\u{20ac}$\u{f}\nA'B\"\\\"/\u{7f}\u{2028}\u{1}", [], {}, null, true, 10, -3]);
        let expected = "[\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\"/\u{7f}\u{2028}\\u0001\",[],{},null,true,10,-3]";
        assert_eq!(canonical(&given), expected);
        assert_eq!(serde_json::from_str::<Value>(expected).unwrap(), given);
    }
}
