//! Marks text of other owners in views for models, based on the types of the fields.
//!
//! Every field that a model reads has a type that knows whether it can hold a peer's text. `String` and
//! `serde_json::Value` do not implement [`Fence`], and `#[derive(Fence)]` requires it of every field. A new field with
//! unmarked peer text does not compile.

use std::borrow::Cow;
use std::ops::Deref;

use serde::Serialize;
use tandem_core::agents::{A2aAccess, Reach};
use tandem_core::credits::Usd;
use tandem_core::ids::Id;
use tandem_core::messages::{ContentType, Kind};
use tandem_core::remotes::{AuthType, Binding, OnUnclear, PauseReason, Signature};
use tandem_core::tasks::{OnStall, Priority};
use tandem_core::wake::Rung;
use tandem_core::webhooks::{SecretFormat, State};
use tandem_core::{Approval, Rule, Status, Timestamp, Verdict, Way};
pub use tandem_fence::Fence;

/// How a peer's text is shown to a model. Each method returns harmless text unchanged.
pub trait Fencer {
    /// Free text.
    fn text<'a>(&self, text: &'a str) -> Cow<'a, str>;
    /// The name of an agent or a network.
    fn name<'a>(&self, name: &'a str) -> Cow<'a, str>;
    /// Machine-readable text: ciphertext, a signature, a key, a file id.
    fn token<'a>(&self, token: &'a str) -> Cow<'a, str>;
    /// An id, which a client may have chosen.
    fn id<'a>(&self, id: &'a str) -> Cow<'a, str>;
    /// The cursor of a list, which may end with an id.
    fn cursor<'a>(&self, cursor: &'a str) -> Cow<'a, str> {
        self.id(cursor)
    }
    /// Tags, which together may read like a sentence.
    fn tags(&self, tags: &mut [String]);
}

/// A value in which peer text can be marked.
pub trait Fence {
    /// Marks peer text. Text of the reader and of the hub stays unchanged.
    fn fence(&mut self, with: &dyn Fencer);
}

/// A view with marked peer text. It can only be read and serialised.
#[derive(Debug, Clone)]
pub struct Fenced<T>(T);

impl<T: Fence> Fenced<T> {
    /// Marks the peer text in a view.
    #[must_use]
    pub fn new(mut view: T, with: &dyn Fencer) -> Self {
        view.fence(with);
        Self(view)
    }
}

impl<T> Deref for Fenced<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Serialize> Serialize for Fenced<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Types without text.
macro_rules! no_text {
    ($($name:ty),+ $(,)?) => {
        $(impl $crate::fence::Fence for $name {
            fn fence(&mut self, _: &dyn $crate::fence::Fencer) {}
        })+
    };
}
pub(crate) use no_text;

no_text!(bool, u32, u64, i64, f64, Timestamp, Usd);
no_text!(
    A2aAccess,
    Approval,
    AuthType,
    Binding,
    ContentType,
    Kind,
    OnStall,
    OnUnclear,
    PauseReason,
    Priority,
    Reach,
    Rule,
    Rung,
    SecretFormat,
    Signature,
    State,
    Status,
    Verdict,
    Way
);

impl<T> Fence for Id<T> {
    fn fence(&mut self, with: &dyn Fencer) {
        if let Cow::Owned(shown) = with.id(self.as_str()) {
            *self = Self::shown_as(&shown);
        }
    }
}

impl<T: Fence> Fence for Option<T> {
    fn fence(&mut self, with: &dyn Fencer) {
        if let Some(value) = self {
            value.fence(with);
        }
    }
}

impl<T: Fence> Fence for Vec<T> {
    fn fence(&mut self, with: &dyn Fencer) {
        for item in self {
            item.fence(with);
        }
    }
}

impl<T: Fence> Fence for Box<T> {
    fn fence(&mut self, with: &dyn Fencer) {
        (**self).fence(with);
    }
}
