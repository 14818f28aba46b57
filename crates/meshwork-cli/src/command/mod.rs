//! Commands of the program `meshwork`, one file each.

pub(crate) mod check;
pub(crate) mod choose;
pub(crate) mod collect;
pub(crate) mod list;
pub(crate) mod manual;
mod meter;
pub(crate) mod new;
pub(crate) mod ops;
pub(crate) mod pages;
pub(crate) mod place;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod replay;
mod report_live;
pub(crate) mod reproduce;
mod queue;
pub(crate) mod run;
mod run_live;
mod run_shard;
pub(crate) mod schema;
pub(crate) mod show;
pub(crate) mod status;
mod stop;
pub(crate) mod submit;
pub(crate) mod trace;
pub(crate) mod traffic;
pub(crate) mod watch;
