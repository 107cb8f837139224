//! Wire types as JSON text. A list has some fifty fields a row, and `serde_json` looks at each byte of every name and copies
//! what it writes in small pieces through generic code, which every crate compiles again. This writer knows that names need
//! no escapes, and is compiled once. It writes what `serde_json` writes, byte for byte; a test compares them.

use serde::ser::{self, Serialize, Serializer};

/// Why a value cannot be written as JSON: its type refused, or a key of a map is no text.
#[derive(Debug)]
pub struct NotJson(String);

impl std::fmt::Display for NotJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotJson {}

impl ser::Error for NotJson {
    fn custom<T: std::fmt::Display>(what: T) -> Self {
        Self(what.to_string())
    }
}

/// The name under which `serde_json` hands over JSON that is written already.
const RAW: &str = "$serde_json::private::RawValue";

/// Writes a value as JSON text.
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> Result<String, NotJson> {
    let mut json = Json::new();
    value.serialize(&mut json)?;
    json.finish()
}

/// JSON that is being written.
#[derive(Debug)]
struct Json {
    text: Vec<u8>,
    /// Whether the next text is JSON already.
    is_raw: bool,
}

/// Whether one of eight bytes has to be escaped: a control character, a quotation mark or a backslash.
fn has_escape(eight: u64) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zeros = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes & HIGH;
    let below_space = eight.wrapping_sub(ONES * 0x20) & !eight & HIGH;
    below_space | zeros(eight ^ (ONES * 0x22)) | zeros(eight ^ (ONES * 0x5c)) != 0
}

/// How many bytes at the beginning need no escape.
fn plain(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        if has_escape(u64::from_ne_bytes(*eight)) {
            break;
        }
        at += 8;
    }
    let rest = bytes[at..].iter().position(|byte| matches!(byte, 0..32 | b'"' | b'\\'));
    rest.map_or(bytes.len(), |more| at + more)
}

impl Json {
    fn new() -> Self {
        Self { text: Vec::with_capacity(512), is_raw: false }
    }

    fn finish(self) -> Result<String, NotJson> {
        // Everything written is text or ASCII.
        String::from_utf8(self.text).map_err(ser::Error::custom)
    }

    fn push(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }

    fn push_text(&mut self, text: &str) {
        let mut rest = text.as_bytes();
        self.text.reserve(rest.len() + 2);
        self.text.push(b'"');
        loop {
            let (before, from) = rest.split_at(plain(rest));
            self.text.extend_from_slice(before);
            let Some((byte, after)) = from.split_first() else { break };
            self.push_escape(*byte);
            rest = after;
        }
        self.text.push(b'"');
    }

    fn push_escape(&mut self, byte: u8) {
        let short = match byte {
            b'"' => b'"',
            b'\\' => b'\\',
            8 => b'b',
            12 => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            _ => {
                const DIGITS: &[u8; 16] = b"0123456789abcdef";
                let digit = |four: u8| DIGITS[usize::from(four & 15)];
                self.text.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte)]);
                return;
            }
        };
        self.text.extend_from_slice(&[b'\\', short]);
    }

    fn push_number(&mut self, mut number: u64) {
        let mut digits = [0; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + u8::try_from(number % 10).unwrap_or_default();
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.text.extend_from_slice(&digits[at..]);
    }

    /// Writes the name of a field of ours, which is plain.
    fn name(&mut self, is_first: &mut bool, name: &str) {
        self.text.reserve(name.len() + 4);
        if !std::mem::replace(is_first, false) {
            self.text.push(b',');
        }
        self.text.push(b'"');
        self.text.extend_from_slice(name.as_bytes());
        self.text.extend_from_slice(b"\":");
    }

    fn separate(&mut self, is_first: &mut bool) {
        if !std::mem::replace(is_first, false) {
            self.text.push(b',');
        }
    }

    fn variant(&mut self, name: &str, opening: &'static str) {
        self.push("{");
        self.name(&mut true, name);
        self.push(opening);
    }

    fn items(&mut self, closing: &'static str) -> Items<'_> {
        Items { json: self, is_first: true, closing }
    }
}

/// The items of an array or the fields of an object.
#[derive(Debug)]
struct Items<'a> {
    json: &'a mut Json,
    is_first: bool,
    closing: &'static str,
}

impl Items<'_> {
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotJson> {
        self.json.separate(&mut self.is_first);
        value.serialize(&mut *self.json)
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), NotJson> {
        // JSON in place of an object.
        if !self.json.is_raw {
            self.json.name(&mut self.is_first, name);
        }
        value.serialize(&mut *self.json)
    }

    fn close(self) {
        self.json.is_raw = false;
        self.json.push(self.closing);
    }
}

impl<'a> Serializer for &'a mut Json {
    type Ok = ();
    type Error = NotJson;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Items<'a>;
    type SerializeTupleVariant = Items<'a>;
    type SerializeMap = Items<'a>;
    type SerializeStruct = Items<'a>;
    type SerializeStructVariant = Items<'a>;

    fn serialize_bool(self, value: bool) -> Result<(), NotJson> {
        self.push(if value { "true" } else { "false" });
        Ok(())
    }
    fn serialize_i8(self, value: i8) -> Result<(), NotJson> {
        self.serialize_i64(value.into())
    }
    fn serialize_i16(self, value: i16) -> Result<(), NotJson> {
        self.serialize_i64(value.into())
    }
    fn serialize_i32(self, value: i32) -> Result<(), NotJson> {
        self.serialize_i64(value.into())
    }
    fn serialize_i64(self, value: i64) -> Result<(), NotJson> {
        if value < 0 {
            self.push("-");
        }
        self.push_number(value.unsigned_abs());
        Ok(())
    }
    fn serialize_u8(self, value: u8) -> Result<(), NotJson> {
        self.serialize_u64(value.into())
    }
    fn serialize_u16(self, value: u16) -> Result<(), NotJson> {
        self.serialize_u64(value.into())
    }
    fn serialize_u32(self, value: u32) -> Result<(), NotJson> {
        self.serialize_u64(value.into())
    }
    fn serialize_u64(self, value: u64) -> Result<(), NotJson> {
        self.push_number(value);
        Ok(())
    }
    fn serialize_f32(self, value: f32) -> Result<(), NotJson> {
        serde_json::to_writer(&mut self.text, &value).map_err(ser::Error::custom)
    }
    fn serialize_f64(self, value: f64) -> Result<(), NotJson> {
        serde_json::to_writer(&mut self.text, &value).map_err(ser::Error::custom)
    }
    fn serialize_char(self, value: char) -> Result<(), NotJson> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }
    fn serialize_str(self, value: &str) -> Result<(), NotJson> {
        if self.is_raw {
            self.push(value);
        } else {
            self.push_text(value);
        }
        Ok(())
    }
    fn serialize_bytes(self, value: &[u8]) -> Result<(), NotJson> {
        self.collect_seq(value)
    }
    fn serialize_none(self) -> Result<(), NotJson> {
        self.serialize_unit()
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotJson> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), NotJson> {
        self.push("null");
        Ok(())
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), NotJson> {
        self.serialize_unit()
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), NotJson> {
        self.serialize_str(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), NotJson> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), NotJson> {
        self.variant(variant, "");
        value.serialize(&mut *self)?;
        self.push("}");
        Ok(())
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'a>, NotJson> {
        self.push("[");
        Ok(self.items("]"))
    }
    fn serialize_tuple(self, _: usize) -> Result<Items<'a>, NotJson> {
        self.serialize_seq(None)
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'a>, NotJson> {
        self.serialize_seq(None)
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'a>, NotJson> {
        self.variant(variant, "[");
        Ok(self.items("]}"))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Items<'a>, NotJson> {
        self.push("{");
        Ok(self.items("}"))
    }
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Items<'a>, NotJson> {
        if name == RAW {
            self.is_raw = true;
            return Ok(self.items(""));
        }
        self.serialize_map(None)
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'a>, NotJson> {
        self.variant(variant, "{");
        Ok(self.items("}}"))
    }
}

/// The traits of arrays and objects differ in their names only.
macro_rules! collections {
    ($($of:ident $add:ident ($($name:ident)?) => $how:ident;)+) => {
        $(impl ser::$of for Items<'_> {
            type Ok = ();
            type Error = NotJson;
            fn $add<T: Serialize + ?Sized>(&mut self, $($name: &'static str,)? value: &T) -> Result<(), NotJson> {
                self.$how($($name,)? value)
            }
            fn end(self) -> Result<(), NotJson> {
                self.close();
                Ok(())
            }
        })+
    };
}

collections! {
    SerializeSeq serialize_element () => item;
    SerializeTuple serialize_element () => item;
    SerializeTupleStruct serialize_field () => item;
    SerializeTupleVariant serialize_field () => item;
    SerializeStruct serialize_field (name) => field;
    SerializeStructVariant serialize_field (name) => field;
}

impl ser::SerializeMap for Items<'_> {
    type Ok = ();
    type Error = NotJson;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NotJson> {
        self.json.separate(&mut self.is_first);
        let begin = self.json.text.len();
        key.serialize(&mut *self.json)?;
        // A number is a key as text.
        match self.json.text.get(begin) {
            Some(b'"') => {}
            Some(b'0'..=b'9' | b'-' | b't' | b'f') => {
                self.json.text.insert(begin, b'"');
                self.json.push("\"");
            }
            _ => return Err(NotJson("the key of a map is no text".into())),
        }
        self.json.push(":");
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotJson> {
        value.serialize(&mut *self.json)
    }
    fn end(self) -> Result<(), NotJson> {
        self.close();
        Ok(())
    }
}
