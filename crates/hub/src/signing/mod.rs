//! The keys by which others know that something comes from this hub: one for A2A cards, one for A2A pushes. All nodes have
//! the same ones, because they are in the database, and a backup keeps them.

mod jcs;

use std::fmt;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};
use aws_lc_rs::{digest, hmac};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use tandem_api::a2a::{AgentCard, AgentCardSignature};
use tandem_app::admin;
use tandem_store::Store;

use crate::callers::keys::hub_secret;
use crate::start::Error;
pub(crate) use jcs::canonical;

/// The names of the keys in the database.
const CARD_KEY: &str = "a2a-card-key";
const PUSH_KEY: &str = "a2a-push-key";
const LINK_KEY: &str = "a2a-link-key";
/// The part of a P-256 key before its two coordinates: it says that neither is left out.
const POINT_PREFIX_BYTES: usize = 1;
const COORDINATE_BYTES: usize = 32;

/// A public key, and the name by which a signature refers to it.
#[derive(Debug)]
struct PublicKey {
    id: String,
    jwk: Value,
}

impl PublicKey {
    /// The name is the key's thumbprint (RFC 7638): the hash of what makes the key, and of nothing else.
    fn new(essence: Value, algorithm: &str) -> Self {
        let hash = digest::digest(&digest::SHA256, canonical(&essence).as_bytes());
        let id = URL_SAFE_NO_PAD.encode(hash);
        let mut jwk = essence;
        jwk["kid"] = json!(id);
        jwk["alg"] = json!(algorithm);
        jwk["use"] = json!("sig");
        Self { id, jwk }
    }
}

/// The keys of a hub.
pub struct SigningKeys {
    cards: EcdsaKeyPair,
    cards_public: PublicKey,
    pushes: Ed25519KeyPair,
    pushes_public: PublicKey,
    links: hmac::Key,
}

impl fmt::Debug for SigningKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKeys").field("cards", &self.cards_public.id).finish_non_exhaustive()
    }
}

impl SigningKeys {
    /// Reads the keys, or makes them.
    pub(crate) async fn load(store: &Store) -> Result<Self, Error> {
        let random = SystemRandom::new();
        let card = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
        let push = Ed25519KeyPair::generate_pkcs8(&random);
        let (Ok(card), Ok(push)) = (card, push) else { return Err(Error::SigningKeys) };
        let (card, push) = (card.as_ref().to_vec(), push.as_ref().to_vec());
        let (card, push) = store
            .write(move |tx| {
                let card = admin::hub_secret(tx, CARD_KEY, &card)?;
                Ok::<_, tandem_app::Error>((card, admin::hub_secret(tx, PUSH_KEY, &push)?))
            })
            .await?;
        let links = hub_secret(store, LINK_KEY).await?;
        let cards = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &card);
        let pushes = Ed25519KeyPair::from_pkcs8(&push);
        let (Ok(cards), Ok(pushes)) = (cards, pushes) else { return Err(Error::SigningKeys) };
        let (x, y) = cards.public_key().as_ref()[POINT_PREFIX_BYTES..].split_at(COORDINATE_BYTES);
        let encoded = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let card = json!({ "kty": "EC", "crv": "P-256", "x": encoded(x), "y": encoded(y) });
        let push = json!({ "kty": "OKP", "crv": "Ed25519", "x": encoded(pushes.public_key().as_ref()) });
        Ok(Self {
            cards,
            cards_public: PublicKey::new(card, "ES256"),
            pushes,
            pushes_public: PublicKey::new(push, "EdDSA"),
            links: hmac::Key::new(hmac::HMAC_SHA256, &links),
        })
    }

    /// The public keys, as a JWK set.
    #[must_use]
    pub fn jwks(&self) -> Value {
        json!({ "keys": [self.cards_public.jwk, self.pushes_public.jwk] })
    }

    /// Signs a card: a JWS over its canonical form. `jku` is the address of [`Self::jwks`].
    pub fn sign_card(&self, card: &mut AgentCard, jku: &str) -> Result<(), crate::Error> {
        card.signatures.clear();
        let payload = serde_json::to_value(&*card).map_err(|_| crate::Error::internal())?;
        let header = json!({ "alg": "ES256", "typ": "JOSE", "kid": self.cards_public.id, "jku": jku });
        let protected = URL_SAFE_NO_PAD.encode(header.to_string());
        let signed = format!("{protected}.{}", URL_SAFE_NO_PAD.encode(canonical(&payload)));
        let signature = self.cards.sign(&SystemRandom::new(), signed.as_bytes());
        let signature = URL_SAFE_NO_PAD.encode(signature.map_err(|_| crate::Error::internal())?);
        card.signatures.push(AgentCardSignature { protected, signature });
        Ok(())
    }

    /// Whether cards of this hub are signed with the key that has this name.
    #[must_use]
    pub(crate) fn is_card_key(&self, id: &str) -> bool {
        self.cards_public.id == id
    }

    /// A word that nobody else can find for this text.
    #[must_use]
    pub fn sign_link(&self, text: &str) -> String {
        URL_SAFE_NO_PAD.encode(hmac::sign(&self.links, text.as_bytes()))
    }

    /// Whether the word is the one for this text.
    #[must_use]
    pub fn is_link(&self, text: &str, word: &str) -> bool {
        let word = URL_SAFE_NO_PAD.decode(word);
        word.is_ok_and(|word| hmac::verify(&self.links, text.as_bytes(), &word).is_ok())
    }

    /// Signs a push.
    #[must_use]
    pub fn sign_push(&self, signed: &[u8]) -> Vec<u8> {
        self.pushes.sign(signed).as_ref().to_vec()
    }
}
