//! Table of the keys of `energy` in a scenario: names, kinds and help texts.

use crate::registry::{DefaultValue, Kind, Param, Range};

/// The keys of the table `energy` of a scenario.
pub static PARAMS: &[Param] = &[
    Param {
        name: "idle",
        kind: Kind::Number(Range::NonNegative),
        default: DefaultValue::Required,
        help: "what a processor takes that no job holds, in watts",
    },
    Param {
        name: "busy",
        kind: Kind::Number(Range::NonNegative),
        default: DefaultValue::Required,
        help: "what a processor takes that a job holds, in watts",
    },
    Param {
        name: "gpu_idle",
        kind: Kind::Number(Range::NonNegative),
        default: DefaultValue::Absent("0, where jobs share nodes"),
        help: "what a GPU takes that no job holds, in watts; a processor is a core there",
    },
    Param {
        name: "gpu_busy",
        kind: Kind::Number(Range::NonNegative),
        default: DefaultValue::Absent("that of `gpu_idle`"),
        help: "what a GPU takes that a job holds, in watts; of a part of one that part more",
    },
    Param {
        name: "sleep",
        kind: Kind::Number(Range::NonNegative),
        default: DefaultValue::Absent("processors never sleep"),
        help: "what a processor takes that sleeps, in watts",
    },
    Param {
        name: "sleep_after",
        kind: Kind::Number(Range::NonNegative),
        default: DefaultValue::Absent("needed with `sleep`"),
        help: "how long a processor is idle before it falls asleep",
    },
    Param {
        name: "wake",
        kind: Kind::Number(Range::NonNegative),
        default: DefaultValue::Is("0.0"),
        help: "how long it takes to wake: so much later does a job begin to work that is started on one that sleeps",
    },
    Param {
        name: "wake_energy",
        kind: Kind::Number(Range::NonNegative),
        default: DefaultValue::Is("0.0"),
        help: "what waking one takes besides, in joules",
    },
    Param {
        name: "cap",
        kind: Kind::Number(Range::Positive),
        default: DefaultValue::Absent("no cap"),
        help: "what the machine may take, in watts: no job starts that would lift it above, all other processors idle",
    },
];
