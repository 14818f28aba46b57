//! Parameters as data: their admissible values and defaults.

use std::fmt;

use super::{Family, LARGEST, SMALLEST, with_article};

/// Parameter of a registry entry: its name, admissible values, default and meaning.
#[derive(Debug)]
pub struct Param {
    /// Key of the parameter in a table of a study.
    pub name: &'static str,
    /// Values that the parameter admits.
    pub kind: Kind,
    /// Value of the parameter if a study omits it.
    pub default: DefaultValue,
    /// Meaning of the parameter in one line.
    pub help: &'static str,
}

impl Param {
    /// Creates a required parameter that has no help text yet.
    pub(crate) const fn new(name: &'static str, kind: Kind) -> Param {
        Param { name, kind, default: DefaultValue::Required, help: "" }
    }

    pub(crate) const fn is(mut self, value: &'static str) -> Param {
        self.default = DefaultValue::Is(value);
        self
    }

    pub(crate) const fn absent(mut self, effect: &'static str) -> Param {
        self.default = DefaultValue::Absent(effect);
        self
    }

    pub(crate) const fn help(mut self, help: &'static str) -> Param {
        self.help = help;
        self
    }
}

/// Default of a parameter: its value, or the effect of omitting it.
#[derive(Debug)]
pub enum DefaultValue {
    /// There is no default, and the parameter must be given.
    Required,
    /// The default is this value, written as TOML.
    Is(&'static str),
    /// There is no default value; the text describes the effect of omitting the parameter.
    Absent(&'static str),
}

/// Values that a parameter admits.
#[derive(Debug)]
pub enum Kind {
    /// The value must be a number in the given range.
    Number(Range),
    /// The value must be an integer between the two bounds, inclusive.
    Integer(u64, u64),
    /// The value must be `true` or `false`.
    Flag,
    /// The value must be one of the given words.
    Choice(&'static [&'static str]),
    /// The value must be one of the words, or a value of the kind that follows.
    Or(&'static [&'static str], &'static Kind),
    /// The value is free text, such as a path.
    Text,
    /// The value must be a list of texts.
    Texts,
    /// The value must be one integer between the two bounds, inclusive, or a list of such integers.
    Integers(u64, u64),
    /// The value must be a list of numbers in the given range.
    Numbers(Range),
    /// The value must be one boolean or a list of booleans.
    Flags,
    /// The value must name a component of the given family, alone or in a table with parameters.
    Component(&'static Family),
    /// The value must be a list of components of the given family.
    Components(&'static Family),
    /// The value must be a list of names of the given family, or tables of names and parameters.
    Names(&'static Family),
    /// The value must be a table whose keys are the given parameters.
    Table(&'static [Param]),
    /// The value must be a list of tables whose keys are the given parameters.
    Tables(&'static [Param]),
}

/// Range of the numbers that a parameter admits.
#[derive(Clone, Copy, Debug)]
pub enum Range {
    /// Positive numbers, but none below [`SMALLEST`].
    Positive,
    /// Numbers of at least 0.
    NonNegative,
    /// Numbers from 0 to 1, inclusive.
    Share,
    /// Numbers above 0 and below 1.
    Inside,
    /// Numbers of at least 1.
    AtLeastOne,
}

impl Range {
    pub(super) fn holds(self, number: f64) -> bool {
        match self {
            Range::Positive => (SMALLEST..=LARGEST).contains(&number),
            Range::NonNegative => (0.0..=LARGEST).contains(&number),
            Range::Share => (0.0..=1.0).contains(&number),
            Range::Inside => number > 0.0 && number < 1.0,
            Range::AtLeastOne => (1.0..=LARGEST).contains(&number),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Range::Positive => "a number above 0, from 1e-15 to 1e15",
            Range::NonNegative => "a number from 0 to 1e15",
            Range::Share => "a number from 0 to 1",
            Range::Inside => "a number above 0 and below 1",
            Range::AtLeastOne => "a number from 1 to 1e15",
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Number(range) => range.fmt(f),
            Kind::Integer(least, most) => write!(f, "a whole number from {least} to {most}"),
            Kind::Flag => f.write_str("true or false"),
            Kind::Choice(words) => write!(f, "one of {}", words.join(", ")),
            Kind::Or(words, kind) => write!(f, "{}, or {kind}", words.join(", ")),
            Kind::Text => f.write_str("a text in quotes"),
            Kind::Texts => f.write_str("a list of texts in quotes"),
            Kind::Integers(least, most) => {
                write!(f, "a list of whole numbers from {least} to {most}")
            }
            Kind::Numbers(range) => write!(f, "a list, each {range}"),
            Kind::Flags => f.write_str("a list, each true or false"),
            Kind::Component(family) => {
                write!(
                    f,
                    "the name of {}, or a table with `{}` and its parameters",
                    with_article(family.kind),
                    family.key
                )
            }
            Kind::Components(family) => write!(f, "a list of {}s", family.kind),
            Kind::Names(family) => write!(f, "a list of names of {}s", family.kind),
            Kind::Table(_) => f.write_str("a table"),
            Kind::Tables(params) => {
                let names: Vec<&str> = params.iter().map(|param| param.name).collect();
                write!(f, "a list of tables with {}", names.join(", "))
            }
        }
    }
}
