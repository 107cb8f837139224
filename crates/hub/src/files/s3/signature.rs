//! AWS Signature Version 4, for requests whose body is in memory.

use std::collections::BTreeMap;

use aws_lc_rs::hmac;
use jiff::Timestamp;
use tandem_app::keys::{hex, sha256};

/// Who signs. It has no `Debug`, so that no message can contain it.
pub(super) struct Credentials {
    pub(super) key_id: String,
    pub(super) secret: String,
    /// Belongs to temporary credentials.
    pub(super) token: Option<String>,
    pub(super) region: String,
}

/// What is signed of a request, as it is sent.
pub(super) struct Signed<'a> {
    pub(super) method: &'a str,
    /// Percent-encoded.
    pub(super) path: &'a str,
    /// Percent-encoded and in the order of the names.
    pub(super) query: &'a str,
    /// Names are in lower case.
    pub(super) headers: BTreeMap<&'static str, String>,
}

impl Credentials {
    /// All headers that the request needs: its own, the signature, and what the signature is about.
    pub(super) fn sign(
        &self,
        request: Signed<'_>,
        body: &[u8],
        now: Timestamp,
    ) -> BTreeMap<&'static str, String> {
        let Signed { method, path, query, mut headers } = request;
        let (time, day) = (now.strftime("%Y%m%dT%H%M%SZ").to_string(), now.strftime("%Y%m%d").to_string());
        let body_hash = hex(&sha256(body));
        headers.insert("x-amz-content-sha256", body_hash.clone());
        headers.insert("x-amz-date", time.clone());
        if let Some(token) = &self.token {
            headers.insert("x-amz-security-token", token.clone());
        }
        let names = headers.keys().copied().collect::<Vec<_>>().join(";");
        let lines: String =
            headers.iter().map(|(name, value)| format!("{name}:{}\n", value.trim())).collect();
        let canonical = format!("{method}\n{path}\n{query}\n{lines}\n{names}\n{body_hash}");
        let scope = format!("{day}/{}/s3/aws4_request", self.region);
        let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hex(&sha256(canonical.as_bytes())));
        let signature = hex(hmac(self.key_of(&day).as_ref(), &text).as_ref());
        let key_id = &self.key_id;
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={key_id}/{scope}, SignedHeaders={names}, Signature={signature}"
        );
        headers.insert("authorization", authorization);
        headers
    }

    /// The key for one day, region and service.
    fn key_of(&self, day: &str) -> hmac::Tag {
        let secret = hmac(format!("AWS4{}", self.secret).as_bytes(), day);
        [&self.region, "s3", "aws4_request"].iter().fold(secret, |key, text| hmac(key.as_ref(), text))
    }
}

fn hmac(key: &[u8], text: &str) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Signs one of the examples in Amazon's documentation ("Signature Calculations for the Authorization Header:
    /// Transferring Payload in a Single Chunk").
    fn example(method: &str, path: &str, query: &str, own: &[(&'static str, &str)], body: &[u8]) -> String {
        let credentials = Credentials {
            key_id: "AKIAIOSFODNN7EXAMPLE".into(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
            token: None,
            region: "us-east-1".into(),
        };
        let mut headers: BTreeMap<_, _> = own.iter().map(|(name, value)| (*name, (*value).into())).collect();
        headers.insert("host", "examplebucket.s3.amazonaws.com".into());
        let now = "2013-05-24T00:00:00Z".parse().unwrap();
        let signed = credentials.sign(Signed { method, path, query, headers }, body, now);
        signed["authorization"].clone()
    }

    #[test]
    fn the_examples_of_amazon_have_their_signatures() {
        assert_eq!(
            example("GET", "/test.txt", "", &[("range", "bytes=0-9")], b""),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
             SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, \
             Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
        let own = [("date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")];
        let put = example("PUT", "/test%24file.text", "", &own, b"Welcome to Amazon S3.");
        assert!(put.ends_with("=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"), "{put}");
        let list = example("GET", "/", "max-keys=2&prefix=J", &[], b"");
        assert!(
            list.ends_with("=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
            "{list}"
        );
    }

    #[test]
    fn a_token_is_sent_and_signed() {
        let credentials = Credentials {
            key_id: "id".into(),
            secret: "secret".into(),
            token: Some("token".into()),
            region: "eu-central-1".into(),
        };
        let request = Signed { method: "GET", path: "/", query: "", headers: BTreeMap::new() };
        let headers = credentials.sign(request, b"", Timestamp::UNIX_EPOCH);
        assert_eq!(headers["x-amz-security-token"], "token");
        assert!(headers["authorization"].contains("x-amz-date;x-amz-security-token,"));
    }
}
