//! Moving and resizing running jobs.

use super::Cluster;
use super::ends::End;
use crate::alloc::{Claim, Holder};
use crate::machine::{ClaimError, Placement};
use crate::network::RunKey;
use crate::observe::Event;

/// Errors of moving or resizing running jobs.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReshapeError {
    /// A job is listed twice among the changes.
    #[error("a job cannot be moved to two places")]
    Twice,
    /// Error: the rate of work or the additional work of a job is out of range.
    ///
    /// The rate must be positive, the additional work must not be negative, and both must be
    /// finite.
    #[error("a job cannot go on at rate {rate} with {more} more to do")]
    Numbers {
        /// Rate of work that was requested for the job.
        rate: f64,
        /// Additional work that was requested for the job, in units of time at rate 1.
        more: f64,
    },
    /// The job to be moved or resized is not running.
    #[error("a job that does not run cannot be moved")]
    NotRunning,
    /// Some of the nodes on which a job is to continue are not free.
    #[error(transparent)]
    Claim(#[from] ClaimError),
}

/// A change of the nodes, the rate or the remaining work of a running job.
#[derive(Clone, Debug, PartialEq)]
pub struct Reshape {
    /// Key of the running job.
    pub key: RunKey,
    /// The nodes on which the job continues, on its present site. They may be the nodes that it
    /// holds now.
    pub placement: Placement,
    /// The job's new rate of work, above 0. At rate 1, the work takes as long as the job's run
    /// time.
    pub rate: f64,
    /// Work added to the remaining work of the job, in units of time at rate 1.
    pub more: f64,
}

impl Cluster<'_> {
    /// Moves or resizes one running job: see [`reshape_all`](Cluster::reshape_all).
    pub fn reshape(
        &mut self,
        key: RunKey,
        placement: Placement,
        rate: f64,
        more: f64,
    ) -> Result<(), ReshapeError> {
        self.reshape_all(vec![Reshape { key, placement, rate, more }])
    }

    /// Moves and resizes running jobs simultaneously. So one job may take nodes that another job
    /// leaves.
    ///
    /// Observers receive the changes in the order of `changes`.
    ///
    /// # Errors
    /// If a job does not run or is named twice, if nodes are held by other jobs, or if a number is
    /// out of range. In these cases nothing is changed.
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
            if let Err(error) = self.facility.site_mut(site).claim(placement, claim) {
                for Reshape { key, placement, .. } in &changes[..claimed] {
                    self.facility.release(self.running[key.slot as usize].site, placement);
                }
                for Reshape { key, .. } in &changes {
                    let running = &self.running[key.slot as usize];
                    let claim = Claim::new(self.now, Holder::Job(key.id));
                    self.facility.site_mut(running.site).claim(&running.placement, claim)?;
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
        // The remaining part of the estimate is done at the new rate, like the remaining work. Of a
        // job past its estimate, only the added work is expected to remain.
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
