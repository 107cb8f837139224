//! Pairing codes: a colour or mood, an animal and four digits, easy to say on the phone.
//!
//! 64 words, 128 animals and 10,000 numbers are 26.3 bits. Guessing is limited by the pairing route.

use std::fmt;

use crate::text::Unfit;

/// How long a code is valid.
pub const CODE_LIFETIME_SECONDS: i64 = 600;

/// A code in its one spelling: capital letters, parts joined by hyphens.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(try_from = "String")]
pub struct PairingCode(String);

impl PairingCode {
    /// The code that encodes these random bits.
    #[must_use]
    pub fn from_random(bits: u64) -> Self {
        let word = WORDS[(bits % 64) as usize];
        let animal = ANIMALS[(bits / 64 % 128) as usize];
        let number = bits / 64 / 128 % 10_000;
        Self(format!("{word}-{animal}-{number:04}"))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What was probably meant, if a word of this code is in no code but differs little from one that is.
    #[must_use]
    pub fn correction(&self) -> Option<Self> {
        let parts: Vec<&str> = self.0.split('-').collect();
        let [word, animal, number] = parts[..] else { return None };
        let meant = format!("{}-{}-{number}", nearest(word, &WORDS)?, nearest(animal, &ANIMALS)?);
        (meant != self.0).then_some(Self(meant))
    }
}

/// The one word of a list that is this word, or differs from it in a letter, or in two letters that changed places.
fn nearest<'w>(typed: &str, words: &[&'w str]) -> Option<&'w str> {
    let exact = words.iter().find(|word| **word == typed);
    let mut near = words.iter().filter(|word| is_near(typed.as_bytes(), word.as_bytes()));
    let only = near.next().filter(|_| near.next().is_none());
    exact.or(only).copied()
}

/// Whether two words differ in one letter: replaced, missing, added or swapped with its neighbour.
fn is_near(one: &[u8], other: &[u8]) -> bool {
    let start = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[start..], &other[start..]);
    match (one, other) {
        ([_, rest @ ..], _) if rest == other => true,
        (_, [_, rest @ ..]) if rest == one => true,
        ([a, b, rest @ ..], [c, d, others @ ..]) if (a, b) == (d, c) && rest == others => true,
        ([_, rest @ ..], [_, others @ ..]) => rest == others,
        _ => false,
    }
}

impl TryFrom<String> for PairingCode {
    type Error = Unfit;

    /// Accepts any case, and spaces instead of hyphens. Does not check whether the code exists.
    fn try_from(text: String) -> Result<Self, Unfit> {
        let parts: Vec<String> = text
            .split(|c: char| c == '-' || c.is_whitespace())
            .filter(|part| !part.is_empty())
            .map(str::to_ascii_uppercase)
            .collect();
        let code = parts.join("-");
        if code.is_empty() || code.len() > 64 || !code.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        {
            return Err(Unfit("must be a pairing code such as BLUE-TIGER-4231".into()));
        }
        Ok(Self(code))
    }
}

impl fmt::Display for PairingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[rustfmt::skip]
const WORDS: [&str; 64] = [
    "AMBER", "AQUA", "AZURE", "BEIGE", "BLACK", "BLUE", "BOLD", "BRASS", "BRAVE", "BRIGHT", "BRONZE",
    "BROWN", "CALM", "CHERRY", "CLEAR", "CLEVER", "COBALT", "COPPER", "CORAL", "CREAM", "CRIMSON", "CYAN",
    "DEEP", "EAGER", "EBONY", "EMERALD", "FAIR", "GENTLE", "GOLD", "GRAND", "GRAY", "GREEN", "HAPPY",
    "HAZEL", "INDIGO", "IVORY", "JADE", "JOLLY", "KHAKI", "LEMON", "LILAC", "LIME", "LUCKY", "MAGENTA",
    "MAROON", "MELLOW", "MINT", "NAVY", "NOBLE", "OLIVE", "ORANGE", "PEACH", "PINK", "PLUM", "PROUD",
    "PURPLE", "QUICK", "QUIET", "RED", "ROSE", "RUBY", "SILVER", "TEAL", "WHITE",
];

#[rustfmt::skip]
const ANIMALS: [&str; 128] = [
    "BADGER", "BAT", "BEAR", "BEAVER", "BEE", "BEETLE", "BISON", "BOAR", "BUFFALO", "CAMEL", "CANARY",
    "CARP", "CHEETAH", "CHICKEN", "CICADA", "COBRA", "COUGAR", "COW", "COYOTE", "CRAB", "CRANE", "CRICKET",
    "CROW", "CUCKOO", "DEER", "DINGO", "DOG", "DOLPHIN", "DONKEY", "DOVE", "DRAGON", "DUCK", "EAGLE",
    "EEL", "ELK", "EMU", "FALCON", "FERRET", "FINCH", "FOX", "FROG", "GAZELLE", "GECKO", "GIBBON",
    "GIRAFFE", "GOAT", "GOOSE", "GORILLA", "GULL", "HAMSTER", "HARE", "HAWK", "HEDGEHOG", "HERON", "HIPPO",
    "HORSE", "IBEX", "IBIS", "IGUANA", "JACKAL", "JAGUAR", "JAY", "KANGAROO", "KIWI", "KOALA", "LARK",
    "LEMUR", "LEOPARD", "LION", "LIZARD", "LLAMA", "LOBSTER", "LYNX", "MACAW", "MAGPIE", "MANTIS",
    "MARTEN", "MOLE", "MONKEY", "MOOSE", "MOTH", "MOUSE", "NEWT", "OCELOT", "OCTOPUS", "ORCA", "OSPREY",
    "OSTRICH", "OTTER", "OWL", "OYSTER", "PANDA", "PANTHER", "PARROT", "PEACOCK", "PELICAN", "PENGUIN",
    "PIGEON", "PONY", "PUFFIN", "PUMA", "QUAIL", "RABBIT", "RACCOON", "RAVEN", "ROBIN", "SALMON", "SEAL",
    "SHARK", "SHEEP", "SPIDER", "SQUID", "STORK", "SWAN", "TIGER", "TOAD", "TROUT", "TURTLE", "VIPER",
    "WALRUS", "WASP", "WEASEL", "WHALE", "WOLF", "WOMBAT", "WREN", "YAK", "ZEBRA",
];
