//! Integration tests of the `meshwork` command, linked into one program.

#[path = "../../../../tests/skip.rs"]
mod skip;

mod bad_input;
mod browser;
mod browser_axe;
mod browser_live;
mod browser_map;
mod chromium;
mod columns;
mod commands;
mod common;
mod examples;
mod fgd;
mod files;
mod hostile;
mod manual;
mod ops_agent;
mod ops_backlog;
mod ops_compare;
mod ops_fidelity;
mod ops_import;
mod ops_instant;
mod ops_kueue;
mod ops_propose;
mod ops_sacct;
mod ops_state;
mod ops_when;
mod own_strategy;
mod parameters;
mod place;
mod place_parts;
mod place_slurm;
mod place_state;
mod plan;
mod reproduce;
mod resume;
mod serve;
mod shards;
mod slurm;
mod start;
mod submit;
mod traffic;
mod watch;
