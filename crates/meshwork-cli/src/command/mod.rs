//! The commands, one file each.

pub(crate) mod check;
pub(crate) mod list;
pub(crate) mod manual;
mod meter;
pub(crate) mod ops;
pub(crate) mod pages;
pub(crate) mod place;
pub(crate) mod report;
pub(crate) mod reproduce;
mod run_live;
pub(crate) mod run;
pub(crate) mod show;
pub(crate) mod trace;
pub(crate) mod traffic;
pub(crate) mod watch;
