//! Results of a run: metrics, batches, and classes of jobs.

use crate::job::Owner;

/// Attribute of a job's owner by which jobs can be grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum OwnerAttribute {
    /// User who owns the job.
    User,
    /// Group of the user.
    Group,
    /// Program that the job runs.
    Application,
    /// Queue to which the job was submitted.
    Queue,
    /// Partition to which the job was submitted.
    Partition,
}

impl OwnerAttribute {
    /// All attributes of a job's owner, in the order in which results show them.
    pub const ALL: [OwnerAttribute; 5] = [
        OwnerAttribute::User,
        OwnerAttribute::Group,
        OwnerAttribute::Application,
        OwnerAttribute::Queue,
        OwnerAttribute::Partition,
    ];

    /// Name of the attribute and of its column in results.
    ///
    /// ```
    /// use meshwork::observe::recorder::OwnerAttribute;
    /// assert_eq!((OwnerAttribute::User.name(), OwnerAttribute::User.key()), ("user", "by_user"));
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        self.key().trim_start_matches("by_")
    }

    /// Key in a study's table `measure` that requests a grouping by this attribute.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            OwnerAttribute::User => "by_user",
            OwnerAttribute::Group => "by_group",
            OwnerAttribute::Application => "by_application",
            OwnerAttribute::Queue => "by_queue",
            OwnerAttribute::Partition => "by_partition",
        }
    }

    /// Value of the attribute for an owner; `None` if the workload does not give it.
    #[must_use]
    pub fn of(self, owner: &Owner) -> Option<&str> {
        let name = match self {
            OwnerAttribute::User => &owner.user,
            OwnerAttribute::Group => &owner.group,
            OwnerAttribute::Application => &owner.application,
            OwnerAttribute::Queue => &owner.queue,
            OwnerAttribute::Partition => &owner.partition,
        };
        name.as_deref()
    }
}

/// How jobs are grouped by the number of processors that they request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeClasses {
    /// One class for each number of requested processors that occurs.
    Exact,
    /// One class for each power of two. The class of a job is its number of requested processors,
    /// rounded up to a power of two.
    PowerOfTwo,
}

/// Value of one metric in a run.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Measured {
    /// Name of the metric in the catalogue.
    pub name: &'static str,
    /// Value of the metric over the run without its warm-up; `None` if nothing was measured.
    pub value: Option<f64>,
    /// Value of the metric in each batch of the run, in order; empty if there are no batches.
    pub batches: Vec<f64>,
}

/// Division of a run into batches of consecutively arriving jobs. Refused jobs are counted too.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Batching {
    /// Number of jobs in a batch.
    pub jobs: u64,
    /// Index of the first batch for which metrics have values. This batch lies after the warm-up.
    /// Its first job has the index `first · jobs`, counted from 0.
    pub first: u64,
    /// For each batch, the mean number of waiting jobs that the jobs of the batch found on arrival.
    ///
    /// Batches of the warm-up are included, the last batch is not. Empty if all jobs arrive at one
    /// instant.
    pub queue: Vec<f64>,
}

/// Metrics of the jobs of one size class: jobs that request similar numbers of processors.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SizeClass {
    /// Largest number of requested processors that belongs to the class.
    pub size: u64,
    /// Number of finished jobs of the class.
    pub jobs: u64,
    /// Values of all metrics that are means or quantiles over jobs, for the jobs of this class.
    pub metrics: Vec<Measured>,
}

/// Metrics of the jobs of one owner, such as a user or a queue. [`OwnerAttribute`] lists the kinds
/// of owners.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct OwnerClass {
    /// Name of the owner in the workload; `None` for the class of all jobs without such an owner.
    pub name: Option<String>,
    /// Number of finished jobs of the owner.
    pub jobs: u64,
    /// Values, for the jobs of this owner, of all metrics that are means or quantiles over jobs.
    pub metrics: Vec<Measured>,
}
