//! Intelligent selector: best fit or fastest first, by the computing capacity that jobs would use.

use super::best_fit::tightest;
use super::fastest_first::fastest;
use super::lookahead::{LOOKAHEAD, LookAhead};
use super::{SHIH, Selector, SelectorEntry};
use crate::job::Job;
use crate::offer::{Offers, Proposal, SiteFit};
use crate::registry::About;
use crate::rng::Stream;

/// Registry entry of the selector `intelligent`.
pub static ENTRY: SelectorEntry = SelectorEntry::new(
    About::new(
        "intelligent",
        "fastest first if no job waited before; else best fit or fastest first, whichever lets the \
         waiting jobs consume more computing capacity, weighed by the speeds",
    )
    .aliases(&["it"])
    .definition(
        "Best fit and fastest first both name a site. If the queue was empty when the job came, \
         the faster one is taken. Else the capacity (processors times speed) that the job and the \
         queue behind it would consume beside either choice is summed; their ratio times the ratio \
         of the speeds decides: above 1 for the fastest site.",
    )
    .complexity(
        "Where the choices differ and some job waited before, twice a walk along \
             the queue: O(q) looks at each site for q waiting jobs.",
    )
    .source(SHIH)
    .params(&[LOOKAHEAD]),
    |params| Ok(Box::new(Intelligent { lookahead: LookAhead::of(params) })),
);

/// Compares best fit and fastest first by the computing capacity that jobs would use.
#[derive(Clone)]
struct Intelligent {
    lookahead: LookAhead,
}

impl Selector for Intelligent {
    fn select(&mut self, job: &Job, offers: &mut Offers<'_>, _: &mut Stream) -> Option<Proposal> {
        let fits = offers.fits();
        let (tight, fast) = (tightest(&fits)?, fastest(&fits)?);
        let prefers_fast = if tight.site == fast.site {
            false
        } else if offers.queue().was_empty() {
            tight.speed < fast.speed // situation (a), equation 1
        } else {
            self.weigh(job, offers, &tight, &fast).score > 1.0 // situation (b), equation 6
        };
        offers.at(if prefers_fast { fast.site } else { tight.site })
    }

    fn fork(&self) -> Box<dyn Selector> {
        Box::new(self.clone())
    }
}

/// Comparison of the fastest site with the site of best fit, by equations 3 to 5 of Shih et al.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Weighed {
    /// Equation 3: capacity that the job and the jobs behind it would use if it went to the fastest
    /// site.
    fast: f64,
    /// Equation 4: capacity that the job and the jobs behind it would use if it went to the best
    /// fit.
    tight: f64,
    /// Equation 5: `fast` / `tight`, times the fastest site's speed divided by the speed of the
    /// best fit.
    score: f64,
}

impl Intelligent {
    /// Compares the best fit with the fastest site. For each, jobs that could start next are placed
    /// by best fit.
    fn weigh(
        &self,
        job: &Job,
        offers: &mut Offers<'_>,
        tight: &SiteFit,
        fast: &SiteFit,
    ) -> Weighed {
        let mut total =
            |fit: &SiteFit| fit.capacity() + self.lookahead.beside(offers, job, fit).capacity;
        let (fast_total, tight_total) = (total(fast), total(tight));
        let score = fast.speed / tight.speed * (fast_total / tight_total);
        Weighed { fast: fast_total, tight: tight_total, score }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these numbers are exact")]
mod tests {
    use super::*;
    use crate::select::tests::{ABC, Sites, job};

    /// Weighs the sites for a job of 5 processors: best fit sends it to C, and fastest first to B.
    fn weighed(lookahead: LookAhead, others: &[u32]) -> Weighed {
        let mut sites = Sites::new(&ABC, others, false);
        let head = job(5);
        let mut offers = sites.offers(&head);
        let fits = offers.fits();
        let (tight, fast) = (tightest(&fits).unwrap(), fastest(&fits).unwrap());
        assert_eq!((tight.site, tight.left(), tight.capacity()), (2, 1, 7.5));
        assert_eq!((fast.site, fast.left(), fast.capacity()), (1, 11, 10.0));
        Intelligent { lookahead }.weigh(&head, &mut offers, &tight, &fast)
    }

    fn picked(others: &[u32], was_empty: bool) -> usize {
        let mut sites = Sites::new(&ABC, others, was_empty);
        let head = job(5);
        let mut selector = Intelligent { lookahead: LookAhead::Stop };
        let mut rng = Stream::new(1, 0, "selector");
        selector.select(&head, &mut sites.offers(&head), &mut rng).unwrap().site
    }

    #[test]
    fn equations_1_to_6_by_hand() {
        // Situation (a): B is faster than C.
        assert_eq!(picked(&[16, 6, 4], true), 1);
        // Situation (b). With the head on B, 11 are left there and the job of 16 fits nowhere. With
        // it on C the job of 16 fills B (2 × 16 = 32), the job of 6 goes to A (1 × 6), and so does
        // the job of 4, which fills it (1 × 4).
        let stop = weighed(LookAhead::Stop, &[16, 6, 4]);
        assert_eq!((stop.fast, stop.tight), (10.0, 7.5 + 32.0 + 6.0 + 4.0));
        assert_eq!(stop.score, 2.0 / 1.5 * (10.0 / 49.5)); // 0.269
        assert_eq!(picked(&[16, 6, 4], false), 2);
        // Past the job of 16, the job of 6 fills C (1.5 × 6 = 9) and the job of 4 goes to A, which
        // keeps 6 where B would keep 7.
        let skip = weighed(LookAhead::Skip, &[16, 6, 4]);
        assert_eq!((skip.fast, skip.tight), (10.0 + 9.0 + 4.0, 49.5));
        // With independent jobs: if the head is on B, the jobs of 6 and 4 both go to C (9 and 6);
        // if the head is on C, the job of 16 goes to B, and the jobs of 6 and 4 to A.
        let alone = weighed(LookAhead::Independent, &[16, 6, 4]);
        assert_eq!((alone.fast, alone.tight), (10.0 + 9.0 + 6.0, 7.5 + 32.0 + 6.0 + 4.0));
    }

    #[test]
    fn shorter_queues_by_hand() {
        let stop = weighed(LookAhead::Stop, &[16, 6]);
        assert_eq!((stop.fast, stop.tight), (10.0, 45.5));
        assert!((stop.score - 0.293).abs() < 5e-4);
        let skip = weighed(LookAhead::Skip, &[16, 6]);
        assert_eq!((skip.fast, skip.tight), (19.0, 45.5));
        assert!((skip.score - 0.557).abs() < 5e-4);
        assert_eq!(picked(&[16, 6], false), 2);
        // One other job of 4: it goes to C if the head is on B (1.5 × 4 = 6), otherwise to A.
        let four = weighed(LookAhead::Stop, &[4]);
        assert_eq!((four.fast, four.tight), (16.0, 11.5));
        assert!((four.score - 1.855).abs() < 5e-4);
        assert_eq!(picked(&[4], false), 1);
        // The head alone: the square of the ratio of the speeds.
        assert_eq!(weighed(LookAhead::Stop, &[]).score, 2.0 / 1.5 * (10.0 / 7.5));
        assert_eq!(picked(&[], false), 1);
    }
}
