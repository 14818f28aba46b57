//! Which waiting jobs may start sooner, now that more is free.

use std::collections::BTreeMap;
use std::ops::Range;

use super::rooms::Rooms;
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
}

#[derive(Default)]
struct Class {
    /// The pass for which the following holds.
    pass: u64,
    /// With so much of what has become free are its rooms known.
    known: usize,
    rooms: Rooms,
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

    pub(super) fn begin_pass(&mut self) {
        self.pass += 1;
    }

    /// No later than the first instant at which one of a row may start sooner; `None` if none can. So much of what
    /// has become free, `seen`, was there already when the row was looked at last.
    pub(super) fn may_start(
        &mut self,
        row: &Row,
        now: Time,
        freed: &[Freed],
        seen: usize,
        profile: &Profile,
    ) -> Option<Time> {
        let of_use = |freed: &Freed| freed.may_be_of_use_to(row);
        let is_of_use = |range: Range<usize>| freed[range].iter().rev().any(of_use);
        let Class { pass, known, rooms } = &mut self.classes[row.class];
        if *pass != self.pass {
            if !is_of_use(seen..freed.len()) {
                return None;
            }
            (*pass, *known) = (self.pass, freed.len());
            rooms.forget(now);
            rooms.extend(row.last, row.count, profile);
            return rooms.first_for(row);
        }
        let unknown = seen.max(*known);
        let is_new = is_of_use(unknown..freed.len());
        if is_new {
            rooms.renew(&freed[*known..], now, row.count, profile);
            *known = freed.len();
        }
        rooms.extend(row.last, row.count, profile);
        // What is known may have been taken since, and where nothing is new it has been.
        let room = rooms.first_for(row)?;
        (is_new || is_of_use(seen..unknown)).then_some(room)
    }
}
