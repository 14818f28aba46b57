//! Average limit allocation: jobs get at most an average number of processors.
//!
//! Larger jobs are folded (halved) until they are no larger than the average: the site's processors
//! divided by the number of jobs, or the mean dimension (base-2 logarithm) of recent requests.

use std::collections::VecDeque;

use smallvec::{SmallVec, smallvec};

use super::folding::{Stretch, within};
use super::{Demand, Size, Sizing, SizingEntry, YU};
use crate::alloc::{RecallError, nothing_to_recall};
use crate::job::Request;
use crate::registry::{About, Param, Words};

/// Registry entry of the sizing `average_limit`.
pub static ENTRY: SizingEntry = SizingEntry::new(
    About::new(
        "average_limit",
        "every job that asks for more than an average is folded down to it",
    )
    .aliases(&["average"])
    .definition(
        "A limit as in `limit` that follows the load: the processors of the site divided by the \
         number of jobs, rounded down to a power of two; or, with `average = \"requests\"`, the \
         mean dimension of the last 100 requests, to the nearest. A job alone has no limit.",
    )
    .complexity("One question to the allocator for each attempt.")
    .source(YU)
    .params(&[
        Param::new("average", AVERAGES.kind()).is("\"all_jobs\"").help(
            "of what: the site's processors over all jobs that run or wait, or over those that \
                 run, rounded down to a power of two; or the dimension that the last 100 jobs \
                 asked for",
        ),
        Stretch::PARAM,
    ]),
    |params, _| {
        let average = params.meaning("average", &AVERAGES);
        Ok(Box::new(AverageLimit { average, stretch: Stretch::read(params) }))
    },
);

const REMEMBERED: usize = 100;

#[derive(Clone)]
struct AverageLimit {
    average: Average,
    stretch: Stretch,
}

#[derive(Clone)]
enum Average {
    AllJobs,
    RunningJobs,
    /// Base-2 logarithms of the processors that the most recent jobs requested.
    Requests(VecDeque<u32>),
}

static AVERAGES: Words<Average, 3> = Words::new([
    ("all_jobs", Average::AllJobs),
    ("running_jobs", Average::RunningJobs),
    ("requests", Average::Requests(VecDeque::new())),
]);

impl AverageLimit {
    /// Base-2 logarithm of the largest permitted size; `u32::MAX` without a limit.
    fn limit(&self, demand: &Demand<'_>) -> u32 {
        let counts = demand.counts;
        // A single job gets the whole machine, even if its size is no power of two.
        let share = |jobs: u64| match jobs {
            0 | 1 => u32::MAX,
            _ => (u64::from(demand.nodes) / jobs).checked_ilog2().unwrap_or(0),
        };
        match &self.average {
            Average::AllJobs => share(counts.running + counts.waiting),
            Average::RunningJobs => share(counts.running),
            Average::Requests(last) => {
                let (sum, count) = (last.iter().sum::<u32>(), last.len() as u32);
                (2 * sum + count).checked_div(2 * count).unwrap_or(u32::MAX)
            }
        }
    }
}

impl Sizing for AverageLimit {
    fn sizes(&self, demand: &Demand<'_>) -> SmallVec<[Size; 1]> {
        smallvec![within(demand, self.limit(demand), self.stretch)]
    }

    fn fewest(&self, _demand: &Demand<'_>) -> u64 {
        1
    }

    fn arrived(&mut self, request: &Request) {
        if let Average::Requests(last) = &mut self.average {
            last.push_back(request.size_class());
            if last.len() > REMEMBERED {
                last.pop_front();
            }
        }
    }

    fn memory(&self) -> Vec<u64> {
        match &self.average {
            Average::Requests(last) => last.iter().map(|&class| u64::from(class)).collect(),
            Average::AllJobs | Average::RunningJobs => Vec::new(),
        }
    }

    fn recall(&mut self, memory: &[u64]) -> Result<(), RecallError> {
        let Average::Requests(last) = &mut self.average else { return nothing_to_recall(memory) };
        if memory.len() > REMEMBERED || memory.iter().any(|&class| class > 64) {
            return Err(RecallError::Other("they are not the sizes of requests".to_owned()));
        }
        *last = memory.iter().map(|&class| class as u32).collect();
        Ok(())
    }

    fn fork(&self) -> Box<dyn Sizing> {
        Box::new(self.clone())
    }
}
