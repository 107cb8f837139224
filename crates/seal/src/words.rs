//! The word list for fingerprints.

/// One word for each value of a byte, in alphabetical order. The list must never change, or two versions would show
/// different words for one key. No two words share their first four letters.
pub const WORDS: [&str; 256] = [
    "acorn", "alarm", "album", "alley", "amber", "anchor", "angle", "ankle", "apple", "apron", "arctic",
    "armor", "arrow", "atlas", "attic", "autumn", "bacon", "badge", "bagel", "bamboo", "banjo", "barrel",
    "basket", "beacon", "beaver", "bench", "berry", "bishop", "bonnet", "bottle", "branch", "bread", "brick",
    "bridge", "bronze", "brush", "bucket", "buffet", "bugle", "butter", "cabin", "cactus", "camel", "candle",
    "canoe", "canyon", "carpet", "carrot", "castle", "cedar", "cello", "chalk", "cherry", "chess", "church",
    "cider", "circus", "clock", "clover", "cobra", "coffee", "comet", "copper", "coral", "cotton", "cradle",
    "crayon", "crown", "cymbal", "daisy", "dancer", "delta", "denim", "desert", "dinner", "doctor", "donkey",
    "dragon", "drum", "eagle", "easel", "echo", "elbow", "engine", "falcon", "farmer", "father", "fiddle",
    "finger", "flame", "flute", "forest", "fossil", "fox", "frost", "galaxy", "garden", "garlic", "gecko",
    "ginger", "glove", "goose", "grape", "guitar", "hammer", "harbor", "hazel", "helmet", "hinge", "honey",
    "hornet", "hotel", "husky", "igloo", "indigo", "island", "ivory", "jacket", "jaguar", "jelly", "jigsaw",
    "jockey", "jungle", "kayak", "kennel", "kettle", "kitten", "koala", "ladder", "lagoon", "lemon",
    "lentil", "lilac", "linen", "lizard", "locket", "lumber", "magnet", "mango", "maple", "marble", "meadow",
    "melon", "mirror", "mitten", "monkey", "mosaic", "moth", "muffin", "museum", "napkin", "needle",
    "nickel", "noodle", "nugget", "nutmeg", "oasis", "ocean", "olive", "onion", "opera", "orbit", "orchid",
    "otter", "oven", "oyster", "paddle", "palace", "panda", "parrot", "pasta", "peanut", "pebble", "pencil",
    "pepper", "piano", "pillow", "pirate", "planet", "plum", "pocket", "pony", "poppy", "potato", "puddle",
    "puppet", "quail", "quartz", "quill", "rabbit", "radar", "radish", "raven", "ribbon", "river", "robin",
    "rocket", "rodeo", "saddle", "salmon", "satin", "scarf", "school", "shadow", "shark", "shovel", "silver",
    "sketch", "sleigh", "snail", "soccer", "spider", "spoon", "spruce", "square", "stable", "statue",
    "sugar", "summit", "sunset", "tablet", "temple", "thumb", "ticket", "tiger", "timber", "toast", "tomato",
    "topaz", "torch", "tower", "trout", "tulip", "tunnel", "turtle", "tuxedo", "uncle", "urchin", "valley",
    "velvet", "violin", "waffle", "wagon", "walnut", "walrus", "whale", "wheat", "willow", "window",
    "winter", "wizard", "wombat", "yacht", "yogurt", "zebra", "zipper",
];
