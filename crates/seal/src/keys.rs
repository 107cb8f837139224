//! The key pair of an agent: generated, read from PEM, and used. The private key leaves this module only as PEM, on
//! request. Does not know tasks or files.

use std::fmt;

use aws_lc_rs::digest::Digest;
use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::{
    KeyPair, KeySize, OAEP_SHA256_MGF1SHA256, OaepPrivateDecryptingKey, OaepPublicEncryptingKey,
    PrivateDecryptingKey, PublicEncryptingKey,
};
use aws_lc_rs::signature::{ParsedPublicKey, RSA_PSS_2048_8192_SHA256, RSA_PSS_SHA256};

use crate::fingerprint::Fingerprint;
use crate::{Error, pem};

const PUBLIC_LABEL: &str = "PUBLIC KEY";
const PRIVATE_LABEL: &str = "PRIVATE KEY";

/// Length of the AES-256 key that encrypts the content.
pub(crate) const CONTENT_KEY_BYTES: usize = 32;

fn unfit(kind: &'static str, why: &'static str) -> Error {
    Error::Key { kind, why }
}

/// The public key of an agent: others wrap content keys with it and verify the agent's signatures.
#[derive(Clone)]
pub struct PublicKey {
    der: Vec<u8>,
    wrapping: PublicEncryptingKey,
    verifying: ParsedPublicKey,
}

impl PublicKey {
    /// Reads an RSA public key of 2048 to 8192 bits from SPKI PEM.
    pub fn from_pem(text: &str) -> Result<Self, Error> {
        if text.contains(PRIVATE_LABEL) {
            return Err(unfit(
                "public",
                "is a private one: keep it to yourself, and give away its public half",
            ));
        }
        let der = pem::decode(PUBLIC_LABEL, text)
            .ok_or(unfit("public", "must be one block of SPKI PEM (BEGIN PUBLIC KEY)"))?;
        Self::from_der(&der)
    }

    /// Reads an RSA public key of 2048 to 8192 bits from SPKI DER.
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let refuse = || unfit("public", "must be an RSA key of 2048 to 8192 bits in SPKI form");
        let wrapping = PublicEncryptingKey::from_der(der).map_err(|_| refuse())?;
        let verifying = ParsedPublicKey::new(&RSA_PSS_2048_8192_SHA256, der).map_err(|_| refuse())?;
        let canonical: PublicKeyX509Der<'_> = wrapping.as_der()?;
        // Accept one encoding only. Otherwise a key would have more than one fingerprint.
        if canonical.as_ref() != der {
            return Err(refuse());
        }
        Ok(Self { der: der.to_vec(), wrapping, verifying })
    }

    /// The key as SPKI PEM.
    #[must_use]
    pub fn to_pem(&self) -> String {
        pem::encode(PUBLIC_LABEL, &self.der)
    }

    /// The key as SPKI DER.
    #[must_use]
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// The length of the modulus in bytes, which is also that of a signature and of a wrapped key.
    #[must_use]
    pub fn modulus_len(&self) -> usize {
        self.wrapping.key_size_bytes()
    }

    /// The hash that two people compare to make sure that they have the same key.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.der)
    }

    pub(crate) fn wrap(&self, content_key: &[u8; CONTENT_KEY_BYTES]) -> Result<Vec<u8>, Error> {
        let oaep = OaepPublicEncryptingKey::new(self.wrapping.clone())?;
        let mut wrapped = vec![0; oaep.ciphertext_size()];
        let length = oaep.encrypt(&OAEP_SHA256_MGF1SHA256, content_key, &mut wrapped, None)?.len();
        wrapped.truncate(length);
        Ok(wrapped)
    }

    pub(crate) fn has_signed(&self, digest: &Digest, signature: &[u8]) -> bool {
        self.verifying.verify_digest_sig(digest, signature).is_ok()
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.der == other.der
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PublicKey").field(&self.fingerprint()).finish()
    }
}

/// The private key of an agent, with its public key: opens and signs.
#[derive(Clone)]
pub struct PrivateKey {
    signing: KeyPair,
    unwrapping: PrivateDecryptingKey,
    public: PublicKey,
}

impl PrivateKey {
    /// Generates an RSA-4096 key. This can take several seconds.
    pub fn generate() -> Result<Self, Error> {
        let key = PrivateDecryptingKey::generate(KeySize::Rsa4096)?;
        let der: Pkcs8V1Der<'_> = key.as_der()?;
        Self::from_der(der.as_ref())
    }

    /// Reads an RSA private key of 2048 to 8192 bits from unencrypted PKCS#8 PEM.
    pub fn from_pem(text: &str) -> Result<Self, Error> {
        let der = pem::decode(PRIVATE_LABEL, text)
            .ok_or(unfit("private", "must be one block of unencrypted PKCS#8 PEM (BEGIN PRIVATE KEY)"))?;
        Self::from_der(&der)
    }

    fn from_der(der: &[u8]) -> Result<Self, Error> {
        let refuse = || unfit("private", "must be an RSA key of 2048 to 8192 bits in PKCS#8 form");
        let signing = KeyPair::from_pkcs8(der).map_err(|_| refuse())?;
        let unwrapping = PrivateDecryptingKey::from_pkcs8(der).map_err(|_| refuse())?;
        let spki: PublicKeyX509Der<'_> = unwrapping.public_key().as_der()?;
        let public = PublicKey::from_der(spki.as_ref())?;
        Ok(Self { signing, unwrapping, public })
    }

    /// The private key as unencrypted PKCS#8 PEM.
    pub fn to_pem(&self) -> Result<String, Error> {
        let der: Pkcs8V1Der<'_> = self.unwrapping.as_der()?;
        Ok(pem::encode(PRIVATE_LABEL, der.as_ref()))
    }

    /// The public key.
    #[must_use]
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    pub(crate) fn sign(&self, digest: &Digest) -> Result<Vec<u8>, Error> {
        let mut signature = vec![0; self.signing.public_modulus_len()];
        self.signing.sign_digest(&RSA_PSS_SHA256, digest, &mut signature)?;
        Ok(signature)
    }

    pub(crate) fn unwrap(&self, wrapped: &[u8]) -> Result<[u8; CONTENT_KEY_BYTES], Error> {
        let oaep = OaepPrivateDecryptingKey::new(self.unwrapping.clone())?;
        let mut room = vec![0; oaep.min_output_size()];
        let content_key =
            oaep.decrypt(&OAEP_SHA256_MGF1SHA256, wrapped, &mut room, None).map_err(|_| Error::Closed)?;
        <[u8; CONTENT_KEY_BYTES]>::try_from(&*content_key).map_err(|_| Error::Closed)
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateKey").field("public", &self.public).finish_non_exhaustive()
    }
}
