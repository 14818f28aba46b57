//! Reservations of nodes over time, in the form in which Slurm's backfill scheduler keeps them.

use crate::geometry::NodeSet;

/// Time span, with the nodes that no reservation covers during this span.
#[derive(Clone, Debug)]
struct Span {
    begin: i64,
    end: i64,
    free: NodeSet,
    count: u32,
    /// Whether nodes that are reserved in this span are unreserved in the next one.
    adds: bool,
}

/// Reservations of nodes over time, as consecutive time spans with the unreserved nodes of each.
///
/// Times are whole seconds. After the last span, no node is reserved.
#[derive(Clone, Debug)]
pub struct NodeSpans {
    spans: Vec<Span>,
}

/// Search for the start of one job in [`NodeSpans`], one instant after another.
#[derive(Clone, Debug, Default)]
pub struct SpanSearch {
    /// Index of the span that contains the instant currently examined as a start.
    first: usize,
    /// Index of the first span whose number of unreserved nodes has not been examined yet.
    next: usize,
    /// Whether the last examined time span has too few unreserved nodes.
    is_lacking: bool,
}

impl NodeSpans {
    /// Creates one span from `begin` to `end`. Nodes in `free` are unreserved, all others reserved.
    #[must_use]
    pub fn new(begin: i64, end: i64, free: NodeSet) -> NodeSpans {
        let count = free.count();
        NodeSpans { spans: vec![Span { begin, end, free, count, adds: false }] }
    }

    /// Reserves nodes from the time `begin` to the time `end`.
    ///
    /// **O(s)** for *s* spans, and one set operation for each of them.
    pub fn reserve(&mut self, begin: i64, end: i64, nodes: &NodeSet) {
        self.cut(begin);
        self.cut(end);
        let first = self.spans.partition_point(|span| span.begin < begin);
        for span in self.spans[first..].iter_mut().take_while(|span| span.end <= end) {
            span.free.subtract(nodes);
            span.count = span.free.count();
        }
        let changed = self.spans[first..].iter().take_while(|span| span.end <= end).count();
        for place in first.saturating_sub(1)..first + changed {
            let next = self.spans.get(place + 1);
            let adds = next.is_some_and(|next| !next.free.is_within(&self.spans[place].free));
            self.spans[place].adds = adds;
        }
    }

    fn cut(&mut self, time: i64) {
        let place = self.spans.partition_point(|span| span.end <= time);
        if self.spans.get(place).is_some_and(|span| span.begin < time) {
            let behind = Span { begin: time, ..self.spans[place].clone() };
            (self.spans[place].end, self.spans[place].adds) = (time, false);
            self.spans.insert(place + 1, behind);
        }
    }

    /// Removes from `nodes` all nodes that are reserved at any time from `from` to `until`,
    /// inclusive.
    pub fn keep_unreserved(&self, from: i64, until: i64, nodes: &mut NodeSet) {
        let first = self.spans.partition_point(|span| span.end <= from);
        self.keep_from(first, until, nodes);
    }

    fn keep_from(&self, first: usize, until: i64, nodes: &mut NodeSet) {
        for span in self.spans[first..].iter().take_while(|span| span.begin <= until) {
            nodes.intersect(&span.free);
        }
    }

    /// Whether all nodes in `nodes` are unreserved from the time `begin` to the time `end`.
    ///
    /// The span that contains `begin`, and all later spans that begin before `end`, are examined.
    #[must_use]
    pub fn are_unreserved(&self, nodes: &NodeSet, begin: i64, end: i64) -> bool {
        let first = self.spans.partition_point(|span| span.end <= begin);
        let mut within = self.spans[first..].iter().take_while(|span| span.begin < end);
        within.all(|span| nodes.is_within(&span.free))
    }
}

impl SpanSearch {
    /// Moves the search on to the instant `from`, which must not be earlier than the one examined
    /// before.
    pub fn advance(&mut self, spans: &NodeSpans, from: i64) {
        while spans.spans.get(self.first).is_some_and(|span| span.end <= from) {
            self.first += 1;
        }
        if self.next <= self.first {
            (self.next, self.is_lacking) = (self.first, false);
        }
    }

    /// Nodes that are unreserved at the examined instant; `None` if all spans end before this
    /// instant.
    #[must_use]
    pub fn first<'a>(&self, spans: &'a NodeSpans) -> Option<&'a NodeSet> {
        spans.spans.get(self.first).map(|span| &span.free)
    }

    /// Removes from `nodes` all nodes that are reserved at any time from the examined instant to
    /// `until`.
    ///
    /// The time `until` itself is included.
    pub fn keep_unreserved(&self, spans: &NodeSpans, until: i64, nodes: &mut NodeSet) {
        spans.keep_from(self.first, until, nodes);
    }

    /// First end of a span, after the examined instant, at which reserved nodes of `among` become
    /// free.
    ///
    /// The search ends after the first span that begins after `until`.
    #[must_use]
    pub fn next_addition(&self, spans: &NodeSpans, until: i64, among: &NodeSet) -> Option<i64> {
        for pair in spans.spans.get(self.first..)?.windows(2) {
            if pair[0].adds && pair[1].free.meets_outside(among, &pair[0].free) {
                return Some(pair[0].end);
            }
            if pair[0].begin > until {
                break;
            }
        }
        None
    }

    /// Begin of the last span with enough unreserved nodes right after a span with too few.
    ///
    /// At least `least` nodes are enough. Only spans from the examined instant on that begin by
    /// `until` are considered. A job that started before the returned time would run into the span
    /// with too few nodes.
    ///
    /// `None` if there is no such span, or if no further nodes of `among` become unreserved when it
    /// begins. During one search, no span is examined twice.
    pub fn after_lack(
        &mut self,
        spans: &NodeSpans,
        until: i64,
        least: u32,
        among: &NodeSet,
    ) -> Option<i64> {
        let mut step = None;
        while let Some(span) = spans.spans.get(self.next).filter(|span| span.begin <= until) {
            let lacks = span.count < least;
            if self.is_lacking && !lacks && self.next > self.first {
                step = Some(self.next);
            }
            (self.next, self.is_lacking) = (self.next + 1, lacks);
        }
        let (before, after) = (&spans.spans[step? - 1], &spans.spans[step?]);
        after.free.meets_outside(among, &before.free).then_some(after.begin)
    }
}
