//! Encrypted content, as far as the hub can know it: for whom its keys are wrapped, and that its sender signed
//! it. It can never be read here, and nothing here is done inside a transaction.

use std::collections::BTreeMap;
use std::io::Read;

use tandem_core::text::Alias;
use tandem_core::{AgentId, NetworkId, Now, TaskId};
use tandem_seal::{
    Error as Unsealed, PublicKey, check_keys, check_sealed, check_signature, verify, verify_stored,
};
use tandem_store::{Tx, agents};

use crate::tasks::{on_task, way};
use crate::{Error, Invalid, keys};

/// By agent: the content's key, wrapped for it.
pub type WrappedKeys = BTreeMap<String, String>;

/// The keys and the signature that came with encrypted content, and were found good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// Each party's wrapped key, a JSON object as text.
    pub keys: String,
    /// The sender's signature.
    pub signature: String,
    /// What the signature is known by.
    pub signature_hash: [u8; 32],
}

/// What the fields of encrypted content are called where it comes from.
#[derive(Debug, Clone, Copy)]
pub struct Fields {
    /// The content itself.
    pub content: &'static str,
    /// Its wrapped keys.
    pub keys: &'static str,
}

/// The sender of something, and who it is for, with their public keys.
#[derive(Debug, Clone)]
pub struct Parties {
    sender: (AgentId, PublicKey),
    other: (AgentId, PublicKey),
}

/// The parties of a task that is about to be made.
pub fn parties_of_new(
    tx: &mut Tx<'_>,
    by: &AgentId,
    target: &Alias,
    network: Option<&NetworkId>,
) -> Result<Parties, Error> {
    let target = way(tx, by, target, network)?.target;
    parties(tx, by, &target)
}

/// The parties of a task that the caller takes part in, if its content is encrypted.
pub fn parties_of(tx: &mut Tx<'_>, by: &AgentId, id: &TaskId, now: &Now) -> Result<Option<Parties>, Error> {
    on_task(tx, by, id, now, |tx, task, role| {
        if task.encrypted { parties(tx, by, task.other(role).0).map(Some) } else { Ok(None) }
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
    /// Checks everything that can be checked of encrypted content: its shape, for whom it is, who signed it.
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

    /// The same for the bytes of a file, read from where they are stored.
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
        let missing = |field| Error::from(Invalid::field(field, "is needed for encrypted content"));
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
    let why = "is not yours, or not for this content in this task";
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
