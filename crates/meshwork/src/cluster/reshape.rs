//! Running jobs that are moved and resized.

use super::Cluster;
use super::ends::End;
use crate::alloc::{Claim, Holder};
use crate::machine::{ClaimError, Placement};
use crate::network::RunKey;
use crate::observe::Event;

/// Why running jobs cannot be moved or resized as they were to be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReshapeError {
    /// One job is named twice.
    #[error("a job cannot be moved to two places")]
    Twice,
    /// A rate that is not above 0, or more work that is below it; or one that is not finite.
    #[error("a job cannot go on at rate {rate} with {more} more to do")]
    Numbers {
        /// The rate.
        rate: f64,
        /// The work that was to be added.
        more: f64,
    },
    /// A job that does not run.
    #[error("a job that does not run cannot be moved")]
    NotRunning,
    /// Processors that are not free.
    #[error(transparent)]
    Claim(#[from] ClaimError),
}

/// How a running job goes on from here.
#[derive(Clone, Debug, PartialEq)]
pub struct Reshape {
    /// The job.
    pub key: RunKey,
    /// The processors on which it goes on, on the site on which it runs: others, or the same.
    pub placement: Placement,
    /// How fast it then works; above 0. At rate 1 it does in one unit of time what its run time counts.
    pub rate: f64,
    /// Work that is added to what it has left, in units of time at rate 1.
    pub more: f64,
}

impl Cluster<'_> {
    /// Moves or resizes a running job: it goes on from here on other processors (or the same),
    /// at another rate, with `more` work added to what it has left.
    ///
    /// # Errors
    /// As for [`reshape_all`](Cluster::reshape_all).
    pub fn reshape(
        &mut self,
        key: RunKey,
        placement: Placement,
        rate: f64,
        more: f64,
    ) -> Result<(), ReshapeError> {
        self.reshape_all(vec![Reshape { key, placement, rate, more }])
    }

    /// Moves and resizes several running jobs at once, so that one may take what another leaves.
    /// Observers are told of them in this order.
    ///
    /// # Errors
    /// If a job does not run or is named twice, if processors are not free (those that these
    /// jobs hold count as free), or if the numbers are not positive and finite; nothing is changed then.
    pub fn reshape_all(&mut self, changes: Vec<Reshape>) -> Result<(), ReshapeError> {
        let mut keys: Vec<RunKey> = changes.iter().map(|change| change.key).collect();
        keys.sort_unstable();
        if keys.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(ReshapeError::Twice);
        }
        for Reshape { key, rate, more, .. } in &changes {
            if !(*rate > 0.0 && rate.is_finite() && *more >= 0.0 && more.is_finite()) {
                return Err(ReshapeError::Numbers { rate: *rate, more: *more });
            }
            if self.run(*key).is_none() {
                return Err(ReshapeError::NotRunning);
            }
        }
        for Reshape { key, .. } in &changes {
            let running = &self.running[key.slot as usize];
            self.facility.release(running.site, &running.placement);
        }
        for (claimed, Reshape { key, placement, .. }) in changes.iter().enumerate() {
            let site = self.running[key.slot as usize].site;
            let claim = Claim::new(self.now, Holder::Job(key.id));
            if let Err(error) = self.facility.claim_for(site, placement, claim) {
                for Reshape { key, placement, .. } in &changes[..claimed] {
                    self.facility.release(self.running[key.slot as usize].site, placement);
                }
                for Reshape { key, .. } in &changes {
                    let running = &self.running[key.slot as usize];
                    let claim = Claim::new(self.now, Holder::Job(key.id));
                    self.facility.claim_for(running.site, &running.placement, claim)?;
                }
                return Err(error.into());
            }
        }
        self.count_free();
        self.changes += 1;
        self.releases += 1;
        for change in changes {
            self.go_on(change);
        }
        Ok(())
    }

    /// A job goes on as it was told; the machine is so already.
    fn go_on(&mut self, change: Reshape) {
        let Reshape { key, placement, rate, more } = change;
        let running = &mut self.running[key.slot as usize];
        let end_before = End::of(key.slot as usize, running);
        let from = std::mem::replace(&mut running.placement, placement);
        let grid = self.facility.sites()[running.site].site().grid();
        running.dispersal = running.placement.dispersal(grid);
        let held = running.placement.len();
        let surplus = |held: u32| u64::from(held).saturating_sub(running.asked);
        self.state.held = self.state.held - u64::from(running.held) + u64::from(held);
        self.state.surplus = self.state.surplus - surplus(running.held) + surplus(held);
        running.held = held;
        // What is left by the estimate goes on at the new rate, like what is left in fact; a job past
        // its estimate has nothing left by it but what is added.
        let expected_left = (running.expected_end - self.now).max(0.0) * running.rate + more;
        running.expected_end = self.now + expected_left / rate;
        if let Some(ends) = self.ends.get_mut() {
            ends.remove(&end_before);
            ends.insert(End::of(key.slot as usize, running));
        }
        running.rate = rate;
        self.network.change(self.now, key, more, rate, running.site, &running.placement);
        self.observer.observe(self.now, &Event::Moved { running, from: &from });
    }
}
