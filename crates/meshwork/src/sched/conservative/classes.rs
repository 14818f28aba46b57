//! Which waiting jobs may start sooner, now that more is free.

use std::collections::BTreeMap;

use super::row::Row;
use crate::cluster::Profile;
use crate::job::Time;

/// More is free from an instant up to another.
pub(super) struct Freed {
    pub(super) from: Time,
    pub(super) until: Time,
    /// No more than so many are free then, and right before or right after it.
    pub(super) most: i64,
    pub(super) beside: i64,
    /// The number of the row of which one has moved: those after it have seen it in the same pass.
    pub(super) by: u64,
}

impl Freed {
    pub(super) fn new(from: Time, until: Time, by: u64, profile: &Profile) -> Freed {
        let most = profile.range(from, until).1;
        let beside = profile.around(from).0.max(profile.around(until).1);
        Freed { from, until, most, beside, by }
    }

    /// Whether there may be room for one of a row in it, or in it and beside it. If neither before nor after
    /// it there are as many as one wants, all of the room would be in it, and has to do as it is or reach up
    /// to where one of them is promised to start.
    fn may_be_of_use_to(&self, row: &Row) -> bool {
        let count = row.count as i64;
        self.most >= count
            && self.from < row.last
            && (self.beside >= count
                || row.first <= self.until
                || self.from + row.span <= self.until)
    }
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

#[derive(Default)]
struct Class {
    /// The pass for which the following holds.
    pass: u64,
    /// How much of what has become free has been looked at.
    seen: usize,
    /// When as many are free without a break, as far as it begins before `end`; more may have been taken
    /// since.
    rooms: Vec<(Time, Option<Time>)>,
    end: Time,
}

impl Classes {
    /// That of a number of processors.
    pub(super) fn of(&mut self, count: u64) -> usize {
        let Classes { classes, by_count, .. } = self;
        *by_count.entry(count).or_insert_with(|| {
            classes.push(Class::default());
            classes.len() - 1
        })
    }

    /// So much has become free before a pass.
    pub(super) fn begin_pass(&mut self, before: usize) {
        self.pass += 1;
        self.before = before;
    }

    /// No later than the first instant at which one of a row may start sooner; `None` if none can.
    pub(super) fn may_start(
        &mut self,
        row: &Row,
        now: Time,
        freed: &[Freed],
        profile: &Profile,
    ) -> Option<Time> {
        let is_new = |i: usize| i >= self.before || row.number <= freed[i].by;
        let of_use = |&i: &usize| freed[i].may_be_of_use_to(row) && is_new(i);
        let newest = (0..freed.len()).rev().find(of_use)?;
        let class = &mut self.classes[row.class];
        if class.pass != self.pass || class.seen <= newest {
            (class.pass, class.seen, class.end) = (self.pass, freed.len(), now);
            class.rooms.clear();
        }
        if class.end < row.last {
            class.rooms.extend(profile.rooms(class.end, row.last, row.count));
            class.end = row.last;
        }
        let mut ahead = class.rooms.iter().take_while(|(from, _)| *from < row.last);
        let room = ahead.find(|&&(from, until)| {
            until.is_none_or(|until| {
                from + row.span <= until
                    || row.first <= until && row.start_after(from).is_some_and(|s| s <= until)
            })
        });
        room.map(|&(from, _)| from)
    }
}
