//! Encrypted content. The hub cannot read it; it checks only for whom the keys are wrapped and that the sender signed
//! it. The checks run outside the transaction, because they are slow.

use std::collections::BTreeMap;
use std::io::Read;

use tandem_core::text::Alias;
use tandem_core::{AgentId, NetworkId, Now, TaskId};
use tandem_seal::{
    Error as Unsealed, PublicKey, check_keys, check_sealed, check_signature, verify, verify_stored,
};
use tandem_store::{Tx, agents};

use crate::tasks::{find_route, on_task};
use crate::{Error, Invalid, keys};

/// The wrapped content key of each agent, by agent id.
pub type WrappedKeys = BTreeMap<String, String>;

/// Keys and signature of encrypted content, after the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// The wrapped keys, a JSON object as text.
    pub keys: String,
    /// The sender's signature, base64.
    pub signature: String,
    /// Hash of the signature, to detect a replay.
    pub signature_hash: [u8; 32],
}

/// The field names of the request, for error messages.
#[derive(Debug, Clone, Copy)]
pub struct Fields {
    /// Name of the content field.
    pub content: &'static str,
    /// Name of the field with the wrapped keys.
    pub keys: &'static str,
}

/// The sender and the recipient, with their public keys.
#[derive(Debug, Clone)]
pub struct Parties {
    sender: (AgentId, PublicKey),
    other: (AgentId, PublicKey),
}

pub fn parties_of_new(
    tx: &mut Tx<'_>,
    by: &AgentId,
    target: &Alias,
    network: Option<&NetworkId>,
) -> Result<Parties, Error> {
    let target = find_route(tx, by, target, network)?.target;
    parties(tx, by, &target)
}

/// The parties of an existing task, or `None` if the task is not encrypted.
pub fn parties_of(tx: &mut Tx<'_>, by: &AgentId, id: &TaskId, now: &Now) -> Result<Option<Parties>, Error> {
    on_task(tx, by, id, now, |tx, task, role| {
        if task.content.encrypted { parties(tx, by, task.other(role).0).map(Some) } else { Ok(None) }
    })
}

fn parties(tx: &mut Tx<'_>, sender: &AgentId, other: &AgentId) -> Result<Parties, Error> {
    Ok(Parties { sender: (sender.clone(), key_of(tx, sender)?), other: (other.clone(), key_of(tx, other)?) })
}

fn key_of(tx: &mut Tx<'_>, agent: &AgentId) -> Result<PublicKey, Error> {
    let pem = agents::find(tx, agent)?.and_then(|agent| agent.public_key);
    let missing = || Invalid::field("encrypted", "needs both agents to have registered a public key");
    PublicKey::from_pem(&pem.ok_or_else(missing)?).map_err(|_| missing().into())
}

impl Parties {
    /// Checks the format, the recipients and the signature of encrypted content.
    pub fn check(
        &self,
        task: &TaskId,
        content: &str,
        keys: Option<&WrappedKeys>,
        signature: Option<&str>,
        fields: Fields,
    ) -> Result<Sealed, Error> {
        let (keys, signature) = self.check_shape(keys, signature, fields)?;
        let lens = [self.sender.1.modulus_len(), self.other.1.modulus_len()];
        let ids = [self.sender.0.as_str(), self.other.0.as_str()];
        check_sealed(content, keys, ids, lens).map_err(|error| refused(&error, fields))?;
        signed(verify(&self.sender.1, task.as_str(), content, signature))?;
        Ok(sealed(keys, signature))
    }

    /// The same check for a stored file.
    pub fn check_stored(
        &self,
        task: &TaskId,
        bytes: &mut impl Read,
        keys: Option<&WrappedKeys>,
        signature: Option<&str>,
        fields: Fields,
    ) -> Result<Sealed, Error> {
        let (keys, signature) = self.check_shape(keys, signature, fields)?;
        let verified = verify_stored(&self.sender.1, task.as_str(), bytes, signature);
        signed(verified.map_err(|error| refused(&error, fields))?)?;
        Ok(sealed(keys, signature))
    }

    fn check_shape<'a>(
        &self,
        keys: Option<&'a WrappedKeys>,
        signature: Option<&'a str>,
        fields: Fields,
    ) -> Result<(&'a WrappedKeys, &'a str), Error> {
        let missing = |field| Error::from(Invalid::field(field, "is required for encrypted content"));
        let keys = keys.ok_or_else(|| missing(fields.keys))?;
        let signature = signature.ok_or_else(|| missing("senderSignature"))?;
        let lens = [self.sender.1.modulus_len(), self.other.1.modulus_len()];
        check_keys(keys, [self.sender.0.as_str(), self.other.0.as_str()], lens)
            .and_then(|()| check_signature(signature, lens[0]))
            .map_err(|error| refused(&error, fields))?;
        Ok((keys, signature))
    }
}

fn sealed(keys: &WrappedKeys, signature: &str) -> Sealed {
    Sealed {
        keys: serde_json::to_string(keys).unwrap_or_default(),
        signature: signature.to_owned(),
        signature_hash: keys::sha256(signature.as_bytes()),
    }
}

fn signed(good: bool) -> Result<(), Error> {
    let why = "does not match your public key, this content and this task";
    if good { Ok(()) } else { Err(Invalid::field("senderSignature", why).into()) }
}

fn refused(error: &Unsealed, fields: Fields) -> Error {
    match error {
        Unsealed::Keys(why) => Invalid::field(fields.keys, *why),
        Unsealed::Signature(why) => Invalid::field("senderSignature", *why),
        Unsealed::Content(why) => Invalid::field(fields.content, *why),
        other => Invalid::field(fields.content, other.to_string()),
    }
    .into()
}
