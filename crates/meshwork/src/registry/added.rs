//! Registry entries that a catalogue adds to those of this crate.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::{About, Family, ListedEntry, entry};

/// Registry entries, of all families, that a catalogue has in addition to those of this crate.
#[derive(Clone, Default)]
pub struct Added(Arc<[AddedEntry]>);

#[derive(Clone, Copy)]
struct AddedEntry {
    family: &'static Family,
    about: &'static About,
    entry: &'static (dyn Any + Send + Sync),
}

impl Added {
    pub(crate) fn with<E: ListedEntry + Send>(&self, entry: &'static E) -> Added {
        let added = AddedEntry { family: E::family(), about: entry.about(), entry };
        Added(self.0.iter().copied().chain([added]).collect())
    }

    pub(super) fn abouts(&self, family: &Family) -> Vec<&'static About> {
        let of_family = self.0.iter().filter(|added| std::ptr::eq(family, added.family));
        of_family.map(|added| added.about).collect()
    }

    /// The family's entries of this crate, followed by the added ones.
    pub(crate) fn list<E: ListedEntry>(&self) -> Vec<&'static E> {
        let added = self.0.iter().filter_map(|added| {
            let entry: &'static dyn Any = added.entry;
            entry.downcast_ref::<E>()
        });
        E::standard().iter().copied().chain(added).collect()
    }

    /// The entry with the given name, which must be in the list of its family.
    pub(crate) fn entry<E: ListedEntry>(&self, name: &str) -> &'static E {
        entry(&self.list::<E>(), name)
    }

    /// Whether the catalogue has added no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl PartialEq for Added {
    fn eq(&self, other: &Added) -> bool {
        let abouts =
            |added: &Added| added.0.iter().map(|a| &raw const *a.about).collect::<Vec<_>>();
        abouts(self) == abouts(other)
    }
}

impl fmt::Debug for Added {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|a| (a.family.kind, a.about.name))).finish()
    }
}
