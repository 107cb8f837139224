//! The skills of an agent, which its A2A card shows.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::a2a::AgentSkill;

/// Maximum number of skills.
const SKILLS_MAX: usize = 20;
/// Maximum size of all of them, as compact JSON.
const SKILLS_BYTES_MAX: usize = 16_384;
/// Maximum length of an id or a name.
const NAME_CHARS_MAX: usize = 128;

/// Skills of an agent, as JSON: at most 20, of at most 16 KiB in all. No text in them is empty.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Vec<AgentSkill>")]
pub struct Skills(String);

impl Serialize for Skills {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let list: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        list.serialize(serializer)
    }
}

impl TryFrom<Vec<AgentSkill>> for Skills {
    type Error = String;
    fn try_from(skills: Vec<AgentSkill>) -> Result<Self, String> {
        if skills.len() > SKILLS_MAX {
            return Err(format!("must be at most {SKILLS_MAX} skills"));
        }
        for (at, skill) in skills.iter().enumerate() {
            check(skill)?;
            if skills[..at].iter().any(|other| other.id == skill.id) {
                return Err(format!("has two skills with the id {}", skill.id));
            }
        }
        let text = serde_json::to_string(&skills).map_err(|error| error.to_string())?;
        if text.len() > SKILLS_BYTES_MAX {
            return Err(format!("must be at most {SKILLS_BYTES_MAX} bytes as JSON"));
        }
        Ok(Self(text))
    }
}

fn check(skill: &AgentSkill) -> Result<(), String> {
    for (field, text) in [("id", &skill.id), ("name", &skill.name)] {
        if text.chars().count() > NAME_CHARS_MAX || text.chars().any(char::is_control) {
            return Err(format!(
                "has a skill whose {field} is no line of at most {NAME_CHARS_MAX} characters"
            ));
        }
    }
    let lists = [&skill.tags, &skill.examples, &skill.input_modes, &skill.output_modes];
    let mut texts =
        [&skill.id, &skill.name, &skill.description].into_iter().chain(lists.into_iter().flatten());
    // An empty text would be left out of what the card's signature covers.
    match texts.any(|text| text.trim().is_empty() || text.contains('\0')) {
        true => Err("has a skill with an empty text".into()),
        false => Ok(()),
    }
}

/// The stored form: nothing for no skills.
impl From<Skills> for Option<String> {
    fn from(skills: Skills) -> Self {
        Some(skills.0).filter(|text| text != "[]")
    }
}
