//! The few elements that are read from and written to the XML of the S3 API.

use std::time::SystemTime;

use jiff::Timestamp;

#[derive(Debug, PartialEq)]
pub(in crate::files) struct Page {
    /// Keys and modification times.
    pub(in crate::files) objects: Vec<(String, SystemTime)>,
    /// Where the next page starts; `None` on the last one.
    pub(in crate::files) next: Option<String>,
}

/// Reads a listing; `None` if the text is not a whole one.
pub(super) fn page(xml: &str) -> Option<Page> {
    if !xml.contains("<ListBucketResult") || !xml.contains("</ListBucketResult>") {
        return None;
    }
    let next = match text_of(xml, "IsTruncated")?.as_str() {
        "true" => Some(text_of(xml, "NextContinuationToken").filter(|token| !token.is_empty())?),
        _ => None,
    };
    let object = |contents: &str| {
        let modified: Timestamp = text_of(contents, "LastModified")?.parse().ok()?;
        Some((text_of(contents, "Key")?, modified.into()))
    };
    let objects = xml.split("<Contents>").skip(1).map(object).collect::<Option<_>>()?;
    Some(Page { objects, next })
}

/// The text of the first element with this name. A literal `<` is always a tag, because texts contain it as an entity.
pub(super) fn text_of(xml: &str, name: &str) -> Option<String> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    Some(unescape(text))
}

/// The body of the request that completes an upload.
pub(super) fn parts(tags: &[String]) -> String {
    let part = |(tag, number): (&String, u32)| {
        format!("<Part><PartNumber>{number}</PartNumber><ETag>{}</ETag></Part>", escape(tag))
    };
    let parts: String = tags.iter().zip(1..).map(part).collect();
    format!(
        "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">{parts}\
         </CompleteMultipartUpload>"
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Decodes entities. What is not one stays as it is.
fn unescape(text: &str) -> String {
    let mut pieces = text.split('&');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.split_once(';').and_then(|(name, rest)| Some((entity(name)?, rest))) {
            Some((char, rest)) => {
                plain.push(char);
                plain.push_str(rest);
            }
            None => {
                plain.push('&');
                plain.push_str(piece);
            }
        }
    }
    plain
}

fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LISTING: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
  <Name>files</Name><Prefix>a&amp;b/</Prefix><KeyCount>2</KeyCount><MaxKeys>2</MaxKeys>
  <IsTruncated>true</IsTruncated><NextContinuationToken>1&#43;2&quot;==</NextContinuationToken>
  <Contents>
    <Key>a&amp;b/&lt;Key&gt;&apos;&#xe4;&#10;&amp;lt;</Key><LastModified>1970-01-01T00:00:01.500Z</LastModified>
    <ETag>&quot;fba9&quot;</ETag><Size>434234</Size><Owner><ID>1</ID></Owner>
  </Contents>
  <Contents><Key>a&b;c&</Key><LastModified>1970-01-01T00:00:02Z</LastModified></Contents>
</ListBucketResult>"#;

    #[test]
    fn a_listing_is_read_with_its_entities() {
        let at = |ms| SystemTime::UNIX_EPOCH + Duration::from_millis(ms);
        let objects = vec![("a&b/<Key>'ä\n&lt;".to_owned(), at(1_500)), ("a&b;c&".to_owned(), at(2_000))];
        assert_eq!(page(LISTING), Some(Page { objects, next: Some("1+2\"==".into()) }));
        let last = LISTING.replace(">true<", ">false<");
        assert_eq!(page(&last).unwrap().next, None);
    }

    #[test]
    fn what_is_no_whole_listing_is_refused() {
        let without = |piece: &str| LISTING.replace(piece, "");
        for text in [
            "<html>Welcome</html>".to_owned(),
            without("</ListBucketResult>"),
            without("<IsTruncated>true</IsTruncated>"),
            without("<NextContinuationToken>1&#43;2&quot;==</NextContinuationToken>"),
            without("<Key>a&b;c&</Key>"),
            LISTING.replace("1970-01-01T00:00:02Z", "yesterday"),
        ] {
            assert_eq!(page(&text), None, "{text}");
        }
    }

    #[test]
    fn the_parts_of_an_upload_are_numbered() {
        let body = parts(&["\"a\"".to_owned(), "b<&".to_owned()]);
        assert!(body.contains("<Part><PartNumber>1</PartNumber><ETag>&quot;a&quot;</ETag></Part>"), "{body}");
        assert!(body.contains("<Part><PartNumber>2</PartNumber><ETag>b&lt;&amp;</ETag></Part>"), "{body}");
    }
}
