//! What a run is measured by besides its metrics, and what comes out of it.

use crate::job::Owner;

/// What of the owners of jobs these are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum By {
    /// Whose they are.
    User,
    /// The group of whoever they belong to.
    Group,
    /// The program that they run.
    Application,
    /// The queue that they were submitted to.
    Queue,
    /// The partition that they were submitted to.
    Partition,
}

impl By {
    /// All of them, in the order in which they are shown.
    pub const ALL: [By; 5] = [By::User, By::Group, By::Application, By::Queue, By::Partition];

    /// Its name, that of a column of results.
    ///
    /// ```
    /// use meshwork::observe::recorder::By;
    /// assert_eq!((By::User.name(), By::User.key()), ("user", "by_user"));
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        self.key().trim_start_matches("by_")
    }

    /// The key of `measure` that asks for it.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            By::User => "by_user",
            By::Group => "by_group",
            By::Application => "by_application",
            By::Queue => "by_queue",
            By::Partition => "by_partition",
        }
    }

    /// What the workload calls that of an owner; `None` where it does not say.
    #[must_use]
    pub fn of(self, owner: &Owner) -> Option<&str> {
        let name = match self {
            By::User => &owner.user,
            By::Group => &owner.group,
            By::Application => &owner.application,
            By::Queue => &owner.queue,
            By::Partition => &owner.partition,
        };
        name.as_deref()
    }
}

/// How jobs are grouped by the processors they asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeClasses {
    /// Each size by itself.
    Exact,
    /// By the next power of two.
    PowerOfTwo,
}

/// One metric of one run.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Measured {
    /// Its name.
    pub name: &'static str,
    /// Its value; `None` where there was nothing to measure.
    pub value: Option<f64>,
    /// Its value in each batch of the run, in order; empty where it has none.
    pub batches: Vec<f64>,
}

/// How a run was cut into batches. Jobs are counted in order of arrival, those that were refused included.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Cut {
    /// Jobs in a batch.
    pub jobs: u64,
    /// Which batch of the run is the first of those that metrics have: it begins with the job
    /// `first · jobs`, counted from 0.
    pub first: u64,
    /// Jobs that waited as those of a batch arrived, mean over its jobs: all batches but the last, those of
    /// the warm-up included. Nothing where all jobs arrive at one instant.
    pub queue: Vec<f64>,
}

/// The jobs of one size.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SizeClass {
    /// Processors asked for; the largest of its class.
    pub size: u64,
    /// How many of them finished.
    pub jobs: u64,
    /// Each metric that is a mean or a quantile over jobs.
    pub metrics: Vec<Measured>,
}

/// The jobs of one owner, as [`By`] tells them apart: of one user, say, or of one queue.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct OwnerClass {
    /// What the workload calls them; `None` for the jobs of which it does not say.
    pub name: Option<String>,
    /// How many of their jobs finished.
    pub jobs: u64,
    /// Each metric that is a mean or a quantile over jobs.
    pub metrics: Vec<Measured>,
}
