//! Words that a parameter accepts as its value, each with its meaning.

use super::Kind;

/// Words that a parameter accepts as its value, each with the Rust value that it stands for.
///
/// The reader of tables admits exactly the words of this list, so every admitted word has a
/// meaning.
///
/// ```
/// use meshwork::registry::{DefaultValue, Param, Words, resolve};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// enum Direction {
///     Up,
///     Down,
/// }
///
/// static DIRECTIONS: Words<Direction, 2> =
///     Words::new([("up", Direction::Up), ("down", Direction::Down)]);
/// static PARAM: Param = Param {
///     name: "direction",
///     kind: DIRECTIONS.kind(),
///     default: DefaultValue::Is("\"up\""),
///     help: "which way the classes are gone through",
/// };
///
/// let params = resolve("scheduler", &[&PARAM], &toml::toml! { direction = "down" }, &[])?;
/// assert_eq!(params.meaning("direction", &DIRECTIONS), Direction::Down);
/// # Ok::<(), meshwork::Problem>(())
/// ```
#[derive(Debug)]
pub struct Words<T, const N: usize> {
    names: [&'static str; N],
    meanings: [(&'static str, T); N],
}

impl<T, const N: usize> Words<T, N> {
    /// Creates a list of words, each with its meaning. Help texts and pages show the words in this
    /// order.
    #[must_use]
    pub const fn new(meanings: [(&'static str, T); N]) -> Words<T, N> {
        let mut names = [""; N];
        let mut at = 0;
        while at < N {
            names[at] = meanings[at].0;
            at += 1;
        }
        Words { names, meanings }
    }

    /// All words of the list, in order.
    #[must_use]
    pub const fn names(&'static self) -> &'static [&'static str] {
        &self.names
    }

    /// Returns the kind of a parameter that accepts only these words.
    #[must_use]
    pub const fn kind(&'static self) -> Kind {
        Kind::Choice(&self.names)
    }

    /// Returns the kind of a parameter whose value is one of these words, or a value of the kind
    /// `other`.
    #[must_use]
    pub const fn or(&'static self, other: &'static Kind) -> Kind {
        Kind::Or(&self.names, other)
    }

    /// Value that a word of the list stands for; `None` if the word is not in the list.
    #[must_use]
    pub fn meaning(&self, word: &str) -> Option<&T> {
        self.meanings.iter().find(|(name, _)| *name == word).map(|(_, meaning)| meaning)
    }
}
