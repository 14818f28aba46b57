//! Selectors: which site a job goes to.

pub mod first_fit;

use crate::job::Job;
use crate::offer::{Offers, Proposal};
use crate::registry::{About, Family, Named, Params, Problem, abouts};

/// Decides which site a job goes to.
pub trait Selector {
    /// A proposal that one of the sites made, or `None` if the job is to wait.
    fn select(&mut self, job: &Job, offers: &mut Offers<'_>) -> Option<Proposal>;

    /// An independent copy, for look-ahead.
    fn fork(&self) -> Box<dyn Selector>;
}

/// A selector in the list.
pub struct SelectorEntry {
    /// What it says of itself.
    pub about: About,
    /// The strategy.
    pub build: fn(&Params) -> Result<Box<dyn Selector>, Problem>,
}

impl Named for SelectorEntry {
    fn about(&self) -> &About {
        &self.about
    }
}

/// Every selector.
pub static SELECTORS: &[&SelectorEntry] = &[&first_fit::ENTRY];

/// Selectors, as a family of names.
pub static FAMILY: Family =
    Family { kind: "selector", key: "name", entries: || abouts(SELECTORS), common: &[] };
