//! Which waiting jobs may start sooner, now that more is free.

use std::collections::BTreeMap;

use super::row::Row;
use crate::cluster::Profile;
use crate::job::Time;

/// More is free from an instant up to another.
pub(super) struct Freed {
    pub(super) from: Time,
    pub(super) until: Time,
    /// No more than so many are free then.
    pub(super) most: i64,
    /// The number of the row of which one has moved: those after it have seen it in the same pass.
    pub(super) by: u64,
}

/// Rows by how many processors their jobs want.
///
/// Whoever could not start sooner when it was looked at last needs some of what has become free since, and
/// room around that: up to its promised start, or for as long as it runs. The room for all who want as many
/// processors is looked for once.
#[derive(Default)]
pub(super) struct Classes {
    classes: Vec<Class>,
    by_count: BTreeMap<u64, usize>,
    pass: u64,
    /// How much had become free before this pass.
    before: usize,
}

struct Class {
    count: u64,
    /// No promised start is later.
    last: Time,
    /// The pass for which the following holds.
    pass: u64,
    /// How much of what has become free has been looked at.
    seen: usize,
    /// When as many are free without a break, as far as it begins before the last start; more may have been
    /// taken since.
    rooms: Vec<(Time, Option<Time>)>,
}

impl Classes {
    /// That of a number of processors.
    pub(super) fn of(&mut self, count: u64) -> usize {
        let Classes { classes, by_count, .. } = self;
        *by_count.entry(count).or_insert_with(|| {
            let last = Time::new(f64::NEG_INFINITY);
            classes.push(Class { count, last, pass: 0, seen: 0, rooms: Vec::new() });
            classes.len() - 1
        })
    }

    /// A job of a class is promised this start.
    pub(super) fn note_start(&mut self, class: usize, at: Time) {
        let last = &mut self.classes[class].last;
        *last = at.max(*last);
    }

    /// So much has become free before a pass.
    pub(super) fn begin_pass(&mut self, before: usize) {
        self.pass += 1;
        self.before = before;
    }

    /// Whether some of a row may start sooner. If not, none can.
    pub(super) fn may_move(
        &mut self,
        row: &Row,
        now: Time,
        freed: &[Freed],
        profile: &Profile,
    ) -> bool {
        let class = &mut self.classes[row.class];
        if class.pass != self.pass {
            (class.pass, class.seen) = (self.pass, 0);
            class.rooms.clear();
        }
        if class.seen < freed.len() {
            let is_new = |(i, freed): (usize, &Freed)| {
                freed.most >= class.count as i64
                    && freed.from < class.last
                    && (i + class.seen >= self.before || row.number <= freed.by)
            };
            if freed[class.seen..].iter().enumerate().any(is_new) {
                class.rooms.clear();
                class.rooms.extend(profile.rooms(now, class.last, class.count));
            }
            class.seen = freed.len();
        }
        let mut ahead = class.rooms.iter().take_while(|(from, _)| *from < row.last);
        ahead.any(|&(from, until)| {
            until.is_none_or(|until| {
                row.until(from) <= until
                    || row.first <= until && row.start_after(from).is_some_and(|s| s <= until)
            })
        })
    }
}
