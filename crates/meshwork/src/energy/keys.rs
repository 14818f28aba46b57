//! Table of the keys of `energy` in a scenario: names, kinds and help texts.

use crate::registry::{Kind, Param, Range};

/// The keys of the table `energy` of a scenario.
pub static PARAMS: &[Param] = &[
    Param::new("idle", Kind::Number(Range::NonNegative))
        .help("what a processor takes that no job holds, in watts"),
    Param::new("busy", Kind::Number(Range::NonNegative))
        .help("what a processor takes that a job holds, in watts"),
    Param::new("gpu_idle", Kind::Number(Range::NonNegative))
        .absent("0, where jobs share nodes")
        .help("what a GPU takes that no job holds, in watts; a processor is a core there"),
    Param::new("gpu_busy", Kind::Number(Range::NonNegative))
        .absent("that of `gpu_idle`")
        .help("what a GPU takes that a job holds, in watts; of a part of one that part more"),
    Param::new("sleep", Kind::Number(Range::NonNegative))
        .absent("processors never sleep")
        .help("what a processor takes that sleeps, in watts"),
    Param::new("sleep_after", Kind::Number(Range::NonNegative))
        .absent("needed with `sleep`")
        .help("how long a processor is idle before it falls asleep"),
    Param::new("wake", Kind::Number(Range::NonNegative)).is("0.0").help(
        "how long it takes to wake: so much later does a job begin to work that is started on \
             one that sleeps",
    ),
    Param::new("wake_energy", Kind::Number(Range::NonNegative))
        .is("0.0")
        .help("what waking one takes besides, in joules"),
    Param::new("cap", Kind::Number(Range::Positive)).absent("no cap").help(
        "what the machine may take, in watts: no job starts that would lift it above, all \
             other processors idle",
    ),
];
