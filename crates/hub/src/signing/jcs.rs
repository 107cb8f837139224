//! The canonical form of JSON (RFC 8785), over which cards are signed: no white space, and names in the order of their
//! UTF-16 code units. Texts are written as serde does it, which is the canonical way.

use serde_json::Value;

/// JSON in its canonical form.
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
        Value::Number(number) => text.push_str(&canonical_number(number)),
        plain => text.push_str(&plain.to_string()),
    }
}

/// The largest whole number that a double and its neighbours tell apart.
const EXACT_MAX: u64 = 1 << 53;

/// A number as ECMAScript writes it: every number is a double there. One with more than 15 digits may have been read as the
/// double beside it; a signature over it is then not verified.
fn canonical_number(number: &serde_json::Number) -> String {
    let is_exact = number.as_u64().is_some_and(|whole| whole <= EXACT_MAX)
        || number.as_i64().is_some_and(|whole| whole.unsigned_abs() <= EXACT_MAX);
    match number.as_f64() {
        Some(double) if !is_exact => canonical_double(double),
        _ => number.to_string(),
    }
}

fn canonical_double(double: f64) -> String {
    if double == 0.0 {
        return "0".to_owned();
    }
    // The shortest digits that give the same double, and where the point is.
    let scientific = format!("{:e}", double.abs());
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = digits.replace('.', "");
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    let text = if count <= point && point <= 21 {
        format!("{digits}{}", zeros(point - count))
    } else if 0 < point && point <= 21 {
        let (whole, rest) = digits.split_at(usize::try_from(point).unwrap_or(0));
        format!("{whole}.{rest}")
    } else if -6 < point && point <= 0 {
        format!("0.{}{digits}", zeros(-point))
    } else {
        let (first, rest) = digits.split_at(1);
        let rest = if rest.is_empty() { String::new() } else { format!(".{rest}") };
        let sign = if point > 0 { "+" } else { "-" };
        format!("{first}{rest}e{sign}{}", (point - 1).abs())
    };
    if double < 0.0 { format!("-{text}") } else { text }
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

    #[test]
    fn numbers_are_written_as_ecmascript_does() {
        // Some of the examples of RFC 8785, appendix B, and whole numbers beyond what a double holds.
        for (given, expected) in [
            ("-0.0", "0"),
            ("333333333.5", "333333333.5"),
            ("1E30", "1e+30"),
            ("4.50", "4.5"),
            ("2e-3", "0.002"),
            ("0.000000000000000000000000001", "1e-27"),
            ("1e21", "1e+21"),
            ("1e20", "100000000000000000000"),
            ("-1.5e-7", "-1.5e-7"),
            ("0.000001", "0.000001"),
            ("9007199254740993", "9007199254740992"),
            ("9007199254740992", "9007199254740992"),
            ("42.0", "42"),
        ] {
            let value: Value = serde_json::from_str(given).unwrap();
            assert_eq!(canonical(&value), expected, "{given}");
        }
    }
}
