//! Checks of registry entries that are added to a catalogue.

use super::read::literal;
use super::{About, DefaultValue, EntrySource, Family, Kind, Param};

/// Words that cannot be names, because TOML reads them as booleans or numbers.
const RESERVED: [&str; 4] = ["true", "false", "inf", "nan"];

impl About {
    /// Checks a registry entry. The error text continues a sentence that begins with "cannot be
    /// added".
    pub fn check(&self, lists: &dyn EntrySource, family: &Family) -> Result<(), String> {
        for name in self.aliases.iter().copied().chain([self.name]) {
            if RESERVED.contains(&name) {
                return Err(format!("`{name}` is a word of TOML, and no name"));
            }
            if !is_word(name) {
                return Err(format!(
                    "`{name}` is no name: names are letters, digits and `_`, a letter first"
                ));
            }
        }
        if self.summary.trim().is_empty() || self.summary.contains('\n') {
            return Err("its summary is not one line".to_owned());
        }
        let others = || family.common.iter().map(|param| param.name).chain([family.key]);
        if let Some(param) = self.params.iter().find(|p| others().any(|name| name == p.name)) {
            let (name, kind) = (param.name, family.kind);
            return Err(format!(
                "its parameter `{name}` has a name that is reserved: every {kind} has it"
            ));
        }
        check_params(lists, self.params)
    }
}

fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn check_params(lists: &dyn EntrySource, params: &[Param]) -> Result<(), String> {
    for (i, param) in params.iter().enumerate() {
        let name = param.name;
        if !is_word(name) {
            return Err(format!(
                "its parameter `{name}` can have no such name: letters, digits and `_`, a letter first"
            ));
        }
        if params[..i].iter().any(|other| other.name == name) {
            return Err(format!("it has two parameters `{name}`"));
        }
        param.kind.check(lists).map_err(|what| format!("its parameter `{name}` {what}"))?;
        if let DefaultValue::Is(text) = &param.default {
            let Some(value) = literal(text) else {
                return Err(format!(
                    "the default of its parameter `{name}` is {text}, which is no value of TOML (a text has quotes of its own: \
                     \"\\\"text\\\"\")"
                ));
            };
            param.kind.read(lists, name, &value).map_err(|problem| {
                format!("the default of its parameter is refused: {}", problem.message)
            })?;
        }
    }
    Ok(())
}

impl Kind {
    fn check(&self, lists: &dyn EntrySource) -> Result<(), String> {
        match self {
            Kind::Integer(least, most) | Kind::Integers(least, most) => {
                if least > most || i64::try_from(*most).is_err() {
                    return Err(format!(
                        "is a whole number from {least} to {most}, but there is none, or none that can be written: 2^63 - 1 is \
                         the largest"
                    ));
                }
                Ok(())
            }
            Kind::Choice([]) => Err("is one of no words".to_owned()),
            Kind::Or(_, kind) => kind.check(lists),
            Kind::Table(params) | Kind::Tables(params) => {
                check_params(lists, params).map_err(|what| format!("is a table: {what}"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Range, Standard};

    static SCHEDULER: Family = Family {
        kind: "scheduler",
        key: "name",
        entries: Vec::new,
        common: &[Param {
            name: "kill_at_estimate",
            kind: Kind::Flag,
            default: DefaultValue::Is("false"),
            help: "",
        }],
    };

    fn about(name: &'static str, params: &'static [Param]) -> About {
        let (summary, definition, complexity, source) = ("a line", "", "", "");
        About { name, aliases: &[], summary, definition, complexity, source, params }
    }

    fn wrong(about: &About) -> String {
        about.check(&Standard, &SCHEDULER).expect_err("something is wrong")
    }

    macro_rules! with {
        ($name:literal, $kind:expr, $default:expr) => {{
            const PARAM: Param = Param { name: $name, kind: $kind, default: $default, help: "" };
            about("mine", &[PARAM])
        }};
    }

    #[test]
    fn names_can_be_written_in_a_study() {
        assert_eq!(about("mine", &[]).check(&Standard, &SCHEDULER), Ok(()));
        for name in ["", "a b", "2d", "mine.two", "größte", "-x", "a-b", "a\nb", "a`"] {
            assert!(wrong(&about(name, &[])).ends_with("a letter first"), "{name}");
        }
        assert_eq!(wrong(&about("true", &[])), "`true` is a word of TOML, and no name");
        let alias = About { aliases: &["M", "m n"], ..about("mine", &[]) };
        assert!(wrong(&alias).starts_with("`m n` is no name"));
        let summary = About { summary: " ", ..about("mine", &[]) };
        assert_eq!(wrong(&summary), "its summary is not one line");
    }

    #[test]
    fn parameters_have_defaults_that_can_be_read_and_names_of_their_own() {
        use DefaultValue::{Is, Required};
        let depth = with!("depth", Kind::Integer(1, 9), Is("10"));
        let expected = "the default of its parameter is refused: `depth` is 10, but must be a whole number from 1 to 9";
        assert_eq!(wrong(&depth), expected);
        let share = with!("share", Kind::Number(Range::Share), Is("1.5"));
        assert!(wrong(&share).contains("`share` is 1.5, but must be a number from 0 to 1"));
        let word = with!("order", Kind::Choice(&["up", "down"]), Is("up"));
        let expected = "the default of its parameter `order` is up, which is no value of TOML";
        assert!(wrong(&word).starts_with(expected), "{}", wrong(&word));
        let injected = with!("depth", Kind::Integer(1, 9), Is("3\nother = 4"));
        assert!(wrong(&injected).contains("no value of TOML"), "{}", wrong(&injected));
        let none = with!("depth", Kind::Integer(9, 1), Required);
        assert!(
            wrong(&none).starts_with("its parameter `depth` is a whole number from 9 to 1, but")
        );
        let large = with!("depth", Kind::Integer(1, u64::MAX), Required);
        assert!(wrong(&large).contains("none that can be written"));
        for reserved in [
            with!("name", Kind::Flag, Is("false")),
            with!("kill_at_estimate", Kind::Flag, Is("false")),
        ] {
            assert!(wrong(&reserved).ends_with("is reserved: every scheduler has it"));
        }
        const TWICE: Param = Param { name: "depth", kind: Kind::Flag, default: Required, help: "" };
        assert_eq!(wrong(&about("mine", &[TWICE, TWICE])), "it has two parameters `depth`");
        let spaced = with!("two words", Kind::Flag, Required);
        assert!(wrong(&spaced).starts_with("its parameter `two words` can have no such name"));
        let nested = with!("cut", Kind::Table(&[TWICE, TWICE]), Required);
        assert_eq!(wrong(&nested), "its parameter `cut` is a table: it has two parameters `depth`");
    }
}
