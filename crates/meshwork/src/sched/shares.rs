//! Users' shares of a machine.

use std::collections::BTreeMap;

use crate::registry::{Kind, Param, Params, Problem, Range};

pub(super) const HALF_LIFE: Param =
    Param::new("half_life", Kind::Or(&["none"], &Kind::Number(Range::Positive))).is("604800").help(
        "after how long half of what a user has had is forgotten: a week of a log's seconds; \
         \"none\" never forgets",
    );

pub(super) const SHARES: Param = Param::new(
    "shares",
    Kind::Tables(&[
        Param::new("user", Kind::Text).help("the user, as the log or the table has it"),
        Param::new("share", Kind::Number(Range::Positive))
            .help("that user's share; of those who are not named each has 1"),
    ]),
)
.absent("all users have the same share")
.help("what users are to have of the machine, beside each other");

/// Value of the parameter `half_life`; infinite if use never decays.
pub(super) fn half_life(params: &Params) -> f64 {
    params.get_number(HALF_LIFE.name).unwrap_or(f64::INFINITY)
}

#[derive(Default)]
pub(super) struct Shares {
    named: BTreeMap<String, f64>,
}

impl Shares {
    pub(super) fn read(params: &Params) -> Result<Shares, Problem> {
        let mut named = BTreeMap::new();
        for given in params.get_tables(SHARES.name).unwrap_or_default() {
            let user = given.text("user");
            if named.insert(user.to_owned(), given.number("share")).is_some() {
                return Err(given.problem("user", format!("the user \"{user}\" has two shares")));
            }
        }
        Ok(Shares { named })
    }

    pub(super) fn users(&self) -> impl Iterator<Item = &str> {
        self.named.keys().map(String::as_str)
    }

    pub(super) fn of(&self, user: &str) -> f64 {
        self.named.get(user).copied().unwrap_or(1.0)
    }
}
