//! Findings about unknown names in `slurm.conf`.
//!
//! Slurm does not start with an unknown key, and silently ignores an unknown option of
//! `SchedulerParameters`. The lists have the names of Slurm 17.02 to 26.05. A newer version may
//! have more, so an unknown key is refused only if it is one edit away from a known one.

use std::collections::BTreeSet;

use crate::conf::{Conf, ConfLine};
use crate::finding::LintFindings;

/// Known keys of `slurm.conf` that begin a line, or stand alone on a line.
pub(super) const SETTINGS: &str = "\
    AccountingStorageBackupHost AccountingStorageEnforce AccountingStorageExternalHost \
    AccountingStorageHost AccountingStorageLoc AccountingStorageParameters AccountingStoragePass \
    AccountingStoragePort AccountingStorageTRES AccountingStorageType AccountingStorageUser \
    AccountingStoreFlags AccountingStoreJobComment AcctGatherEnergyType AcctGatherFilesystemType \
    AcctGatherInfinibandType AcctGatherInterconnectType AcctGatherNodeFreq AcctGatherProfileType \
    AllowSpecResourcesUsage AuthAltParameters AuthAltTypes AuthInfo AuthType BackupAddr \
    BackupController BatchStartTimeout BcastExclude BcastParameters BurstBufferParameters \
    BurstBufferType CacheGroups CertgenParameters CertgenType CertmgrParameters CertmgrType \
    CheckpointType ChosLoc CliFilterParameters CliFilterPlugins ClusterName \
    CommunicationParameters CompleteWait ControlAddr ControlMachine CoreSpecPlugin CpuFreqDef \
    CpuFreqGovernors CredType CryptoType DataParserParameters DebugFlags DefaultStorageHost \
    DefaultStorageLoc DefaultStoragePass DefaultStoragePort DefaultStorageType \
    DefaultStorageUser DefCPUPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode DefRuntimePlugin \
    DependencyParameters DisableRootJobs DownNodes EioTimeout EnforcePartLimits Epilog \
    EpilogMsgTime EpilogSlurmctld EpilogTimeout ExtSensorsFreq ExtSensorsType \
    FairShareDampeningFactor FastSchedule FederationParameters FirstJobId FrontendName \
    GetEnvTimeout GpuFreqDef GresTypes GroupUpdateForce GroupUpdateTime HashPlugin \
    HealthCheckInterval HealthCheckNodeState HealthCheckProgram HealthCheckTimeout \
    HttpParserType InactiveLimit Include InteractiveStepOptions JobAcctGatherFrequency \
    JobAcctGatherParams JobAcctGatherType JobCheckpointDir JobCompHost JobCompLoc JobCompParams \
    JobCompPass JobCompPassScript JobCompPort JobCompType JobCompUser JobContainerType \
    JobCredentialPrivateKey JobCredentialPublicCertificate JobFileAppend JobRequeue \
    JobSubmitPlugins KeepAliveTime KillOnBadExit KillWait LaunchParameters LaunchType Layouts \
    LicenseParameters Licenses LogTimeFormat MailDomain MailProg MaxArraySize MaxBatchRequeue \
    MaxDBDMsgs MaxJobCount MaxJobId MaxMemPerCPU MaxMemPerNode MaxNodeCount MaxStepCount \
    MaxTasksPerNode MCSParameters MCSPlugin MemLimitEnforce MessageTimeout MetricsAuthUsers \
    MetricsParameters MetricsType MinJobAge MpiDefault MpiParams MsgAggregationParams \
    NamespaceType NodeFeaturesPlugins NodeName NodeSet OverTimeLimit PartitionName PluginDir \
    PlugStackConfig PowerAction PowerParameters PowerPlugin PreemptExemptTime PreemptMode \
    PreemptParameters PreemptType PrEpParameters PrEpPlugins PriorityCalcPeriod \
    PriorityDecayHalfLife PriorityFavorSmall PriorityFlags PriorityMaxAge PriorityParameters \
    PrioritySiteFactorParameters PrioritySiteFactorPlugin PriorityType PriorityUsageResetPeriod \
    PriorityWeightAge PriorityWeightAssoc PriorityWeightFairshare PriorityWeightJobSize \
    PriorityWeightPartition PriorityWeightQOS PriorityWeightTRES PrivateData ProctrackType \
    Prolog PrologEpilogTimeout PrologFlags PrologSlurmctld PrologTimeout PropagatePrioProcess \
    PropagateResourceLimits PropagateResourceLimitsExcept RebootProgram ReconfigFlags \
    RequeueExit RequeueExitHold ResumeFailProgram ResumeProgram ResumeRate ResumeTimeout \
    ResvEpilog ResvOverRun ResvProlog ReturnToService RoutePlugin SallocDefaultCommand \
    SbcastParameters SchedulerAuth SchedulerParameters SchedulerPort SchedulerRootFilter \
    SchedulerTimeSlice SchedulerType ScronParameters SelectType SelectTypeParameters \
    SerializerParameters SerializerPlugins SlurmctldAddr SlurmctldDebug SlurmctldHost \
    SlurmctldHttpAuthParameters SlurmctldLogFile SlurmctldParameters SlurmctldPidFile \
    SlurmctldPlugstack SlurmctldPort SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg \
    SlurmctldSyslogDebug SlurmctldTimeout SlurmdDebug SlurmdHttpAuthParameters SlurmdLogFile \
    SlurmdParameters SlurmdPidFile SlurmdPlugstack SlurmdPort SlurmdSpoolDir SlurmdSyslogDebug \
    SlurmdTimeout SlurmdUser SlurmrestdHttpAuthParameters SlurmrestdParameters SlurmSchedLogFile \
    SlurmSchedLogLevel SlurmstepdParameters SlurmUser SrunEpilog SrunPortRange SrunProlog \
    StateSaveLocation SuspendExcNodes SuspendExcParts SuspendExcStates SuspendProgram \
    SuspendRate SuspendTime SuspendTimeout SwitchParameters SwitchType TaskEpilog TaskPlugin \
    TaskPluginParam TaskProlog TCPTimeout TLSParameters TLSType TmpFS TopologyParam \
    TopologyPlugin TrackWCKey TreeWidth UnkillableStepProgram UnkillableStepTimeout \
    UrlParserType UsePAM VSizeFactor WaitTime X11Parameters";

/// Known keys of a line of `slurm.conf` that defines nodes.
const NODES: &str = "\
    BcastAddr Boards CoreSpecCount CoresPerSocket CpuBind CPUs CPUSpecList Feature Features Gres \
    GresConf MemSpecLimit NodeAddr NodeHostname NodeName Parameters Port Procs RealMemory Reason \
    RestrictedCoresPerGPU Sockets SocketsPerBoard State SuspendTime ThreadsPerCore TmpDisk \
    Topology TRESWeights Weight";

const PARTITIONS: &str = "\
    AllocNodes AllowAccounts AllowGroups AllowQos Alternate CpuBind Default DefaultTime \
    DefCPUPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode DenyAccounts DenyQos DisableRootJobs \
    Exclusive ExclusiveTopo ExclusiveUser GraceTime Hidden JobDefaults LLN MaxCPUsPerNode \
    MaxCPUsPerSocket MaxMemPerCPU MaxMemPerNode MaxNodes MaxTime MinNodes Nodes OverSubscribe \
    OverTimeLimit PartitionName PowerDownOnIdle PreemptMode Priority PriorityJobFactor \
    PriorityTier QOS ReqResv ResumeTimeout RootOnly SelectTypeParameters Shared State \
    SuspendTime SuspendTimeout Topology TRESBillingWeights";

const OPTIONS: &str = "\
    allow_zero_lic assoc_limit_stop batch_sched_delay bb_array_stage_cnt bf_allow_magnetic_slot \
    bf_busy_nodes bf_continue bf_hetjob_immediate bf_hetjob_prio bf_ignore_newly_avail_nodes \
    bf_interval bf_job_part_count_reserve bf_licenses bf_max_job_array_resv bf_max_job_assoc \
    bf_max_job_part bf_max_job_start bf_max_job_test bf_max_job_user bf_max_job_user_part \
    bf_max_time bf_min_age_reserve bf_min_prio_reserve bf_node_space_size bf_one_resv_per_job \
    bf_resolution bf_running_job_reserve bf_topopt_enable bf_topopt_iterations bf_window \
    bf_window_linear bf_yield_interval bf_yield_rpc_cnt bf_yield_rpc_count bf_yield_sleep \
    build_queue_timeout correspond_after_task_cnt default_gbytes default_queue_depth defer \
    defer_batch delay_boot disable_hetero_steps disable_hetjob_steps disable_job_shrink \
    disable_user_top enable_hetero_steps enable_hetjob_steps enable_job_state_cache \
    enable_user_top extra_constraints ignore_constraint_validation ignore_numa \
    ignore_prefer_validation inventory_interval kill_invalid_depend max_array_tasks \
    max_depend_depth max_job_bf max_rpc_cnt max_rpc_count max_sched_time max_script_size \
    max_submit_line_size max_switch_wait no_backup_scheduling no_env_cache nohold_on_prolog_fail \
    pack_serial_at_end partition_job_depth permit_job_expansion preempt_reorder_count \
    preempt_strict_order preempt_youngest_first reduce_completing_frag requeue_delay \
    requeue_on_resume_failure requeue_setup_env_fail salloc_wait_nodes sbatch_wait_nodes \
    sched_interval sched_max_job_start sched_min_interval spec_cores_first step_retry_count \
    step_retry_time time_min_as_soft_limit whole_hetjob whole_pack";

/// Maximum number of edits between a misspelt name and the known name that is suggested.
const MOST_EDITS: usize = 2;

/// Adds a finding for each unknown key or option of a `slurm.conf`.
pub(super) fn look(conf: &Conf, findings: &mut LintFindings) {
    let mut seen = BTreeSet::new();
    let mut keys = |line: &ConfLine, known: &str, of: &str| {
        for (key, _) in &line.pairs {
            let Some(meant) = unknown(key, known) else { continue };
            // Keys of a `DEFAULT` line occur in each line that follows.
            if !seen.insert((key.clone(), of.to_owned())) {
                continue;
            }
            let hint = hint(meant);
            if let Some((1, _)) = meant {
                let of_line = if known == SETTINGS { "_parse_next_key: " } else { "" };
                let logged = format!("error: {of_line}Parsing error at unrecognized key: {key}");
                let says = format!("`{key}` is no key of {of}{hint}");
                let _ = findings.fatal_conf(Some(line.number), says, &[&logged]);
            } else {
                let says = format!(
                    "`{key}` is no key of {of} that Meshwork knows{hint}; Slurm ends at a key that it \
                     does not know"
                );
                findings.warn_conf(Some(line.number), says);
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
        for name in names.filter(|name| !name.is_empty()) {
            if let Some(meant) = unknown(name, OPTIONS) {
                let hint = hint(meant);
                let says = format!(
                    "`{name}` is no option of SchedulerParameters that Meshwork knows{hint}; Slurm \
                     ignores an unknown option silently"
                );
                findings.warn_conf(Some(line.number), says);
            }
        }
    }
}

/// Looks for the known name that is most similar to `name`; `None` if `name` itself is known.
///
/// The inner value has the number of edits and the similar name. It is `None` if no known name is
/// similar.
#[allow(clippy::option_option)]
pub(super) fn unknown<'a>(name: &str, known: &'a str) -> Option<Option<(usize, &'a str)>> {
    let distance =
        |own: &str| strsim::osa_distance(&own.to_ascii_lowercase(), &name.to_ascii_lowercase());
    let nearest = known.split_whitespace().map(|own| (distance(own), own)).min();
    let most = MOST_EDITS.min(name.len() / 4);
    match nearest {
        Some((0, _)) => None,
        other => Some(other.filter(|(edits, _)| *edits <= most)),
    }
}

/// Question such as `did you mean ...?` for a misspelt name; empty without a similar name.
pub(super) fn hint(meant: Option<(usize, &str)>) -> String {
    meant.map(|(_, right)| format!(" (did you mean `{right}`?)")).unwrap_or_default()
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
                    "`bf_windw` is no option of SchedulerParameters that Meshwork knows (did you mean \
                     `bf_window`?); Slurm ignores an unknown option silently"
                        .to_owned()
                ),
            ]
        );
    }

    #[test]
    fn names_that_a_newer_slurm_may_have_are_warned_about() {
        let warned = |says: &str| (1, false, says.to_owned());
        assert_eq!(
            found("AccountingStoragePool=1\n"),
            [warned(
                "`AccountingStoragePool` is no key of slurm.conf that Meshwork knows (did you mean \
                 `AccountingStoragePort`?); Slurm ends at a key that it does not know"
            )]
        );
        assert_eq!(
            found("SomethingNewer=1\n"),
            [warned(
                "`SomethingNewer` is no key of slurm.conf that Meshwork knows; Slurm ends at a key that \
                 it does not know"
            )]
        );
        assert_eq!(
            found("SchedulerParameters=bf_something_newer=1,\n"),
            [warned(
                "`bf_something_newer` is no option of SchedulerParameters that Meshwork knows; Slurm \
                 ignores an unknown option silently"
            )]
        );
    }

    #[test]
    fn known_names_are_left_alone() {
        for known in [SETTINGS, NODES, PARTITIONS, OPTIONS] {
            assert!(known.split_whitespace().all(|name| unknown(name, known).is_none()));
        }
        assert_eq!(found("nodename=n[0-3] cpus=2\nPartitionName=p nodes=ALL default=yes\n"), []);
        let ran = "AccountingStorageEnforce AccountingStorageHost AccountingStoragePass AccountingStoragePort \
                   AccountingStorageTRES AuthAltParameters AuthAltTypes CredType FirstJobId HashPlugin \
                   InactiveLimit JobAcctGatherType JobCompLoc JobCompPort KillWait Licenses MpiDefault \
                   OverTimeLimit PriorityFavorSmall SlurmctldParameters SlurmdParameters SwitchType \
                   TreeWidth";
        let text: String = ran.split_whitespace().map(|key| format!("{key}=1\n")).collect();
        assert_eq!(found(&text), []);
        let options = "bf_continue,bf_interval=5,bf_max_job_user=6,partition_job_depth=6,sched_min_interval=0";
        assert_eq!(found(&format!("SchedulerParameters={options}\n")), []);
    }
}
