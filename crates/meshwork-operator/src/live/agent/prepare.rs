//! Checks the partitions of the placement agent before its first cycle.

use super::{AgentSettings, checked};
use crate::live::SlurmCommands;
use crate::live::policy::LivePolicy;
use meshwork_slurm::hostlist;
use meshwork_slurm::live::{read_partition, state_line};

/// Checks the parking partition and the run partition, and closes the parking partition.
///
/// If the agent has failed, the watchdog (`meshwork ops agent --watchdog`) opens the parking
/// partition. In a dry run, or if the kill switch is set (`is_off`), the parking partition is not
/// closed.
///
/// # Errors
/// A partition violates a requirement, which the text names.
pub fn prepare(
    commands: &mut dyn SlurmCommands,
    settings: &AgentSettings,
    policy: &LivePolicy,
    is_off: bool,
) -> Result<(), String> {
    let own = [Some(&settings.park), Some(&settings.run), settings.pass.as_ref()];
    for (place, name) in own.iter().enumerate().filter(|(_, name)| name.is_some()) {
        if own[..place].contains(name) {
            return Err("--park, --run and --pass must be different partitions".to_owned());
        }
    }
    let mut shown = |name: &str| {
        let says = commands.control(&format!("show partition {}", checked(name)?))?;
        read_partition(&says).ok_or_else(|| format!("partition {name}: {}", says.trim()))
    };
    let (park, run) = (shown(&settings.park)?, shown(&settings.run)?);
    if let Some(pass) = &settings.pass {
        shown(pass)?;
    }
    for (name, partition) in [(&settings.park, &park), (&settings.run, &run)] {
        if !partition.is_exclusive {
            return Err(format!(
                "partition {name} shares nodes, but must have OverSubscribe=EXCLUSIVE"
            ));
        }
    }
    if park.nodes != run.nodes {
        return Err(format!(
            "partition {} has the nodes {}, and partition {} has {}: they must be the same",
            settings.park, park.nodes, settings.run, run.nodes
        ));
    }
    let names = hostlist::names(&run.nodes)?;
    if let Some(unknown) = names.iter().find(|name| !policy.numbers.contains_key(*name)) {
        return Err(format!(
            "node {unknown} of partition {} has no number in the study",
            settings.run
        ));
    }
    if run.state != "UP" {
        return Err(format!("partition {} is {}, but must be UP", settings.run, run.state));
    }
    if park.state != "DOWN" && !settings.dry_run && !is_off {
        set_state(commands, &settings.park, false)
            .map_err(|says| format!("partition {} cannot be closed: {says}", settings.park))?;
    }
    Ok(())
}

pub fn set_state(
    commands: &mut dyn SlurmCommands,
    partition: &str,
    is_open: bool,
) -> Result<(), String> {
    let says = commands.control(&state_line(partition, is_open)?)?;
    match says.trim() {
        "" => Ok(()),
        says if ["Invalid user", "ermission"].iter().any(|own| says.contains(own)) => Err(format!(
            "Slurm says `{says}`, since only root, SlurmUser or an administrator of Slurm \
             (adminlevel=Admin) may change a partition"
        )),
        says => Err(says.to_owned()),
    }
}
