//! Warnings about misspelt names in `slurm.conf`.
//!
//! Slurm 22.05.8 does not start with an unknown key, and silently ignores an unknown option of
//! `SchedulerParameters`. Newer versions have more names than this list, so a name is reported only
//! if it is very similar to a known one.

use std::collections::BTreeSet;

use crate::conf::{Conf, ConfLine};
use crate::finding::LintFindings;

/// Keys with which a line may begin that defines neither nodes nor a partition.
const SETTINGS: &str = "AccountingStorageEnforce AccountingStorageHost AccountingStorageTRES \
    AccountingStorageType AuthInfo AuthType BatchStartTimeout BurstBufferType ClusterName \
    CommunicationParameters CompleteWait ControlAddr ControlMachine CoreSpecPlugin CredType \
    DebugFlags DefCpuPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode DependencyParameters \
    DisableRootJobs DownNodes EnforcePartLimits Epilog EpilogSlurmctld FairShareDampeningFactor \
    FederationParameters FirstJobId FrontendName GresTypes GroupUpdateForce GroupUpdateTime \
    HealthCheckInterval HealthCheckProgram InactiveLimit Include InteractiveStepOptions \
    JobAcctGatherFrequency JobAcctGatherType JobCompHost JobCompLoc JobCompType JobRequeue \
    JobSubmitPlugins KillOnBadExit KillWait LaunchParameters Licenses MailProg MaxArraySize \
    MaxBatchRequeue MaxDBDMsgs MaxJobCount MaxJobId MaxMemPerCPU MaxMemPerNode MaxNodeCount \
    MaxStepCount MaxTasksPerNode MessageTimeout MinJobAge MpiDefault NodeFeaturesPlugins NodeName \
    NodeSet OverTimeLimit PartitionName PluginDir PreemptExemptTime PreemptMode PreemptParameters \
    PreemptType PrepPlugins PriorityCalcPeriod PriorityDecayHalfLife PriorityFavorSmall \
    PriorityFlags PriorityMaxAge PriorityParameters PrioritySiteFactorParameters \
    PrioritySiteFactorPlugin PriorityType PriorityUsageResetPeriod PriorityWeightAge \
    PriorityWeightAssoc PriorityWeightFairshare PriorityWeightJobSize PriorityWeightPartition \
    PriorityWeightQOS PriorityWeightTRES PrivateData ProctrackType Prolog PrologEpilogTimeout \
    PrologFlags PrologSlurmctld RebootProgram ReconfigFlags RequeueExit RequeueExitHold ResumeFailProgram \
    ResumeProgram ResumeRate ResumeTimeout ResvEpilog ResvOverRun ResvProlog ReturnToService \
    RoutePlugin SchedulerParameters SchedulerTimeSlice SchedulerType ScronParameters SelectType \
    SelectTypeParameters SlurmSchedLogFile SlurmSchedLogLevel SlurmUser SlurmctldAddr SlurmctldDebug \
    SlurmctldHost SlurmctldLogFile SlurmctldParameters SlurmctldPidFile SlurmctldPort \
    SlurmctldTimeout SlurmdDebug SlurmdLogFile SlurmdParameters SlurmdPidFile SlurmdPort \
    SlurmdSpoolDir SlurmdTimeout SlurmdUser SrunEpilog SrunPortRange SrunProlog StateSaveLocation \
    SuspendExcNodes SuspendExcParts SuspendExcStates SuspendProgram SuspendRate SuspendTime SuspendTimeout SwitchParameters \
    SwitchType TaskEpilog TaskPlugin TaskPluginParam TaskProlog TCPTimeout TmpFS TopologyParam \
    TopologyPlugin TrackWCKey TreeWidth UnkillableStepProgram UnkillableStepTimeout UsePAM \
    VSizeFactor WaitTime X11Parameters";

/// Keys of a line that defines nodes.
const NODES: &str = "NodeName NodeHostname NodeAddr BcastAddr Boards CoreSpecCount CoresPerSocket \
    CpuBind CPUs CpuSpecList Features Feature Gres MemSpecLimit Parameters Port Procs RealMemory Reason RestrictedCoresPerGPU \
    Sockets SocketsPerBoard State ThreadsPerCore TmpDisk Topology TRESWeights Weight";

/// Keys of a line that defines a partition.
const PARTITIONS: &str = "PartitionName AllocNodes AllowAccounts AllowGroups AllowQos AllowQOS Alternate \
    CpuBind Default DefaultTime DefCpuPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode DenyAccounts \
    DenyQos DenyQOS DisableRootJobs ExclusiveTopo ExclusiveUser GraceTime Hidden JobDefaults LLN MaxCPUsPerNode \
    MaxCPUsPerSocket MaxMemPerCPU MaxMemPerNode MaxNodes MaxTime MinNodes Nodes OverSubscribe \
    OverTimeLimit PowerDownOnIdle PreemptMode Priority PriorityJobFactor PriorityTier QOS ReqResv \
    ResumeTimeout RootOnly SelectTypeParameters Shared State SuspendTime SuspendTimeout Topology \
    TRESBillingWeights";

/// Options of `SchedulerParameters`.
const OPTIONS: &str = "allow_zero_lic assoc_limit_stop batch_sched_delay bb_array_stage_cnt \
    bf_allow_magnetic_slot bf_busy_nodes bf_continue bf_hetjob_immediate bf_hetjob_prio bf_interval \
    bf_job_part_count_reserve bf_licenses bf_max_job_array_resv bf_max_job_assoc bf_max_job_part \
    bf_max_job_start bf_max_job_test bf_max_job_user bf_max_job_user_part bf_max_time \
    bf_min_age_reserve bf_min_prio_reserve bf_node_space_size bf_one_resv_per_job bf_resolution \
    bf_running_job_reserve bf_topopt_enable bf_topopt_iterations bf_window bf_window_linear \
    bf_yield_interval bf_yield_sleep build_queue_timeout correspond_after_task_cnt default_gbytes \
    default_queue_depth defer defer_batch delay_boot disable_hetjob_steps disable_job_shrink \
    enable_hetjob_steps enable_job_state_cache enable_user_top extra_constraints ignore_numa \
    ignore_prefer_validation max_array_tasks max_depend_depth max_rpc_cnt max_sched_time \
    max_script_size max_submit_line_size max_switch_wait no_backup_scheduling no_env_cache \
    nohold_on_prolog_fail pack_serial_at_end partition_job_depth preempt_reorder_count \
    preempt_strict_order preempt_youngest_first reduce_completing_frag requeue_delay \
    requeue_setup_env_fail salloc_wait_nodes sbatch_wait_nodes sched_interval sched_max_job_start \
    sched_min_interval spec_cores_first step_retry_count step_retry_time time_min_as_soft_limit \
    whole_hetjob whole_pack";

/// Largest number of edits by which a misspelt name differs from the known one.
const MOST_EDITS: usize = 2;

/// Adds a finding for each misspelt key or option of a `slurm.conf`.
pub(super) fn look(conf: &Conf, findings: &mut LintFindings) {
    let mut seen = BTreeSet::new();
    let mut keys = |line: &ConfLine, known: &str, of: &str| {
        for (key, _) in &line.pairs {
            let Some(meant) = meant(key, known) else { continue };
            // A `DEFAULT` line gives its keys to each line that follows, so a misspelt key is seen
            // often.
            if seen.insert((key.clone(), of.to_owned())) {
                let of_line = if known == SETTINGS { "_parse_next_key: " } else { "" };
                let logged = format!("error: {of_line}Parsing error at unrecognized key: {key}");
                let says = format!("`{key}` is no key of {of} (did you mean `{meant}`?)");
                let _ = findings.fatal_conf(Some(line.number), says, &[&logged]);
            }
        }
    };
    for line in &conf.settings {
        let first = ConfLine { number: line.number, pairs: line.pairs[..1].to_vec() };
        keys(&first, SETTINGS, "slurm.conf");
    }
    conf.node_lines.iter().for_each(|line| keys(line, NODES, "a line of nodes"));
    conf.partitions.iter().for_each(|own| keys(&own.given, PARTITIONS, "a partition"));
    for line in &conf.settings {
        let options = line.get("SchedulerParameters").unwrap_or_default().split(',');
        let names = options.map(|option| option.split('=').next().unwrap_or_default().trim());
        for name in names {
            if let Some(meant) = meant(name, OPTIONS) {
                let says = format!(
                    "`{name}` is no option of SchedulerParameters, and Slurm ignores it silently (did you \
                     mean `{meant}`?)"
                );
                findings.warn_conf(Some(line.number), says);
            }
        }
    }
}

/// The known name that a misspelt name most probably stands for.
///
/// The result is `None` if the name is known itself, or similar to no known name.
fn meant<'a>(name: &str, known: &'a str) -> Option<&'a str> {
    let distance =
        |own: &str| strsim::osa_distance(&own.to_ascii_lowercase(), &name.to_ascii_lowercase());
    let (edits, nearest) = known.split_whitespace().map(|own| (distance(own), own)).min()?;
    let most = MOST_EDITS.min(name.len() / 4);
    (1..=most).contains(&edits).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, bool, String)> {
        let mut findings = LintFindings::default();
        let conf = Conf::read(text, &mut |_| Err(String::new()), &mut findings).unwrap();
        look(&conf, &mut findings);
        let of = findings.first_fatal().cloned();
        let is_fatal = |own: &crate::finding::LintFinding| {
            of.is_some() && own.level == crate::finding::Level::Fatal
        };
        findings.0.iter().map(|own| (own.line.unwrap(), is_fatal(own), own.says.clone())).collect()
    }

    #[test]
    fn misspelt_names_are_reported_with_the_right_ones() {
        let text = "SchedulerParameters=bf_windw=1440,bf_interval=30,defer\nPriorityWeightAeg=5\n\
                    NodeName=n[0-3] CPUs=2 Wieght=3\nPartitonName=q Nodes=ALL\n\
                    PartitionName=DEFAULT MaxTme=60\nPartitionName=p Nodes=ALL\nPartitionName=r Nodes=ALL\n";
        let key = |line: usize, key: &str, of: &str, right: &str| {
            (line, true, format!("`{key}` is no key of {of} (did you mean `{right}`?)"))
        };
        assert_eq!(
            found(text),
            [
                key(2, "PriorityWeightAeg", "slurm.conf", "PriorityWeightAge"),
                key(4, "PartitonName", "slurm.conf", "PartitionName"),
                key(3, "Wieght", "a line of nodes", "Weight"),
                key(6, "MaxTme", "a partition", "MaxTime"),
                (
                    1,
                    false,
                    "`bf_windw` is no option of SchedulerParameters, and Slurm ignores it silently (did \
                     you mean `bf_window`?)"
                        .to_owned()
                ),
            ]
        );
    }

    #[test]
    fn known_names_and_names_like_no_other_are_left_alone() {
        for known in [SETTINGS, NODES, PARTITIONS, OPTIONS] {
            assert!(known.split_whitespace().all(|name| meant(name, known).is_none()));
            assert_eq!(meant("SomethingNewer", known), None);
        }
        assert_eq!(found("nodename=n[0-3] cpus=2\nPartitionName=p nodes=ALL default=yes\n"), []);
    }
}
