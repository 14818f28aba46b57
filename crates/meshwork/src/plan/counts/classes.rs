//! Finds out which waiting jobs may start sooner after nodes were released.

use std::collections::BTreeMap;
use std::ops::Range;

use super::gaps::Gaps;
use super::row::Row;
use crate::cluster::Profile;
use crate::job::Time;

/// Interval in which more nodes are free than when the plan was last compressed.
pub(super) struct Freed {
    pub(super) from: Time,
    pub(super) until: Time,
    /// Maximum number of free nodes during the interval; `i64::MAX` until it is computed.
    pub(super) most: i64,
    /// Number of free nodes right before or right after the interval, whichever is larger.
    pub(super) beside: i64,
    /// If a job freed the nodes by moving in this pass, the number of its row; otherwise
    /// `u64::MAX`.
    ///
    /// A row is a group of equal waiting jobs. Rows with greater numbers are checked after the
    /// move, in the same pass.
    pub(super) by: u64,
}

impl Freed {
    pub(super) fn new(from: Time, until: Time, by: u64, profile: &Profile) -> Freed {
        let most = profile.range(from, until).1;
        let beside = profile.around(from).0.max(profile.around(until).1);
        Freed { from, until, most, beside, by }
    }

    /// Whether nodes that became free in this interval may let the jobs of `row` start earlier.
    ///
    /// If too few nodes are free right before and after the interval, it must last for the run time
    /// or reach a reserved start.
    fn may_be_of_use_to(&self, row: &Row) -> bool {
        let count = row.count as i64;
        self.most >= count
            && self.from < row.last
            && (self.beside >= count
                || row.first <= self.until
                || self.from + row.span <= self.until)
    }
}

/// Classes of rows of waiting jobs. All rows of a class need equally many nodes, so a single search
/// finds the gaps for all of them.
#[derive(Default)]
pub(super) struct Classes {
    classes: Vec<Class>,
    by_count: BTreeMap<u64, usize>,
    pass: u64,
}

#[derive(Default)]
struct Class {
    /// Number of the last compression pass in which the gaps of this class were searched.
    pass: u64,
    /// Number of freed intervals that `gaps` accounts for, counted from the start of their list.
    known: usize,
    gaps: Gaps,
}

impl Classes {
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

    /// Lower bound on the first instant at which a job of `row`, a group of equal jobs, may start.
    ///
    /// Only starts before the jobs' reserved starts count; `None` if no such start is possible.
    /// `freed` has the intervals in which nodes became free, in order; the first `seen` were taken
    /// into account at the last check of the group.
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
        let Class { pass, known, gaps } = &mut self.classes[row.class];
        if *pass != self.pass {
            if !is_of_use(seen..freed.len()) {
                return None;
            }
            (*pass, *known) = (self.pass, freed.len());
            gaps.forget(now);
            gaps.extend(row.last, row.count, profile);
            return gaps.first_for(row);
        }
        let unknown = seen.max(*known);
        let is_new = is_of_use(unknown..freed.len());
        if is_new {
            gaps.renew(&freed[*known..], now, row.count, profile);
            *known = freed.len();
        }
        gaps.extend(row.last, row.count, profile);
        // Nodes of a known gap may have been taken since. So a gap counts only if a release may be
        // of use to the row.
        let gap = gaps.first_for(row)?;
        (is_new || is_of_use(seen..unknown)).then_some(gap)
    }
}
