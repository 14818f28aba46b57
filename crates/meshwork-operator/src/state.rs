//! State of a Slurm machine at one instant: running jobs with their time limits, and the queue.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use meshwork::alloc::listed::Wait;
use meshwork::geometry::NodeSet;
use serde_json::{Value as Json, json};

use super::controller::Controller;
use super::controller::future::{ReplayState, ReplayedReasons};
use super::controller::moment::LackingParts;
use super::controller::rules::{SiteReservation, SiteRules};
use meshwork_lab::slurm::folder::{Folder, SlurmMachine, asked};
use meshwork_lab::slurm::read_text;
use meshwork_lab::text::number::plural;
use meshwork_slurm::desk::{SlurmAllocator, SlurmAnswer};
use meshwork_slurm::history::{History, JobRecord, Second};
use meshwork_slurm::hostlist;
use meshwork_slurm::sacct::{LocalClock, TimeFormat};
use meshwork_slurm::site::SlurmSite;
use meshwork_slurm::{FileProblem, sacct};

/// Past period, in seconds, whose scheduler passes determine the reasons why jobs wait.
const PAST: Second = 900;

#[derive(Clone, Debug)]
pub struct RunningJob {
    pub stay: JobRecord,
    pub nodes: NodeSet,
    pub until: Option<Second>,
}

#[derive(Clone, Debug)]
pub struct PastJobs {
    ended: Vec<JobRecord>,
    /// Cached result of replaying the time before the instant: the reasons why jobs wait. The inner
    /// value is `None` if the replay failed.
    replayed: OnceLock<Option<ReplayedReasons>>,
}

#[derive(Clone, Debug)]
pub struct MachineState {
    pub machine: SlurmMachine,
    pub now: Second,
    pub running: Vec<RunningJob>,
    pub waiting: Vec<JobRecord>,
    /// Jobs that ended shortly before the instant; `None` if the past is unknown.
    pub past: Option<PastJobs>,
    pub clock: LocalClock,
}

impl MachineState {
    /// State of a site at an instant of its history. Jobs that start in this second count as
    /// waiting.
    pub fn of_history(folder: Folder, now: Second) -> Result<MachineState, String> {
        MachineState::check_instant(&folder, now)?;
        let Folder { machine, history, .. } = folder;
        let is_running = |stay: &&JobRecord| stay.ran() && holds(stay, now);
        let is_waiting = |stay: &&JobRecord| {
            let ends =
                stay.start.is_none_or(|start| start >= now) && stay.end.is_none_or(|end| end > now);
            let submit = stay.submit.or(stay.eligible);
            submit.is_some_and(|submit| submit <= now) && ends && !stay.is_rejected()
        };
        let running: Vec<JobRecord> = history.stays.iter().filter(is_running).cloned().collect();
        let mut waiting: Vec<JobRecord> =
            history.stays.iter().filter(is_waiting).cloned().collect();
        // Accounting keeps the reason of the submission, while the limits are known at each time.
        let rules = SiteRules::of(&machine);
        for stay in waiting.iter_mut().filter(|own| rules.models_limit(&own.reason)) {
            stay.reason.clear();
        }
        let has_ended = |stay: &&JobRecord| {
            stay.end.is_some_and(|end| (now - PAST..=now).contains(&end)) && !stay.is_rejected()
        };
        let past = history.stays.iter().filter(has_ended).cloned().collect();
        let state = MachineState::of(machine, now, running, waiting, LocalClock::utc())?;
        let past = PastJobs { ended: past, replayed: OnceLock::new() };
        Ok(MachineState { past: Some(past), ..state })
    }

    /// Refuses an instant outside of a site's history, or one of which the held nodes are unknown.
    pub fn check_instant(folder: &Folder, now: Second) -> Result<(), String> {
        let (shown, utc) = (folder.path.display(), LocalClock::utc());
        let span = folder.history.span();
        if !span.is_some_and(|(first, last)| (first..=last).contains(&now)) {
            let span = span.map_or("nothing".to_owned(), |(first, last)| {
                format!("{} to {}", utc.date(first), utc.date(last))
            });
            let now = utc.shown(now);
            return Err(format!("{shown}: the history says nothing of {now}: it goes from {span}"));
        }
        let is_unknown = |stay: &&JobRecord| stay.nodelist.is_empty() && holds(stay, now);
        match folder.history.stays.iter().filter(is_unknown).count() {
            0 => Ok(()),
            count => Err(format!(
                "{shown}: the history has no node list of {} at {}, so it is not known which nodes are free: \
                 import records of `sacct` with the column NodeList",
                plural(count as u64, "running job"),
                utc.shown(now)
            )),
        }
    }

    /// Time at which the last attempt of a job began to wait.
    pub fn waited_since(history: &History, job: &str) -> Option<Second> {
        history.stays.iter().rev().find(|stay| stay.id == job).and_then(JobRecord::queued)
    }

    /// Reads the state from output of `scontrol show job -o` and `scontrol show nodes -o`.
    ///
    /// Output of `squeue --json` may replace the output for jobs. Dates are in the time zone of
    /// `clock`.
    pub fn of_scontrol(
        mut machine: SlurmMachine,
        jobs: &Path,
        nodes: Option<&Path>,
        mut clock: LocalClock,
    ) -> Result<MachineState, String> {
        let file = jobs.display().to_string();
        let text = read_text(jobs).map_err(|trouble| trouble.to_string())?;
        let (mut now, mut running, mut waiting) = (Second::MIN, Vec::new(), Vec::new());
        let is_local = Cell::new(false);
        // Records of `squeue --json` have no line numbers: their positions, from 1, are used.
        let is_json = text.trim_start().starts_with('{');
        let records: Vec<Vec<(String, String)>> = match is_json {
            true => {
                let jobs = sacct::json::jobs(&file, &text).map_err(|says| says.to_string())?;
                jobs.iter().map(pairs_of_json).collect()
            }
            false => text.lines().map(pairs).collect(),
        };
        for (line, pairs) in (1..).zip(records).filter(|(_, record)| !record.is_empty()) {
            let wrong = |says: String| FileProblem::at(&file, line, says).to_string();
            let get = |key: &str| {
                let pair = pairs.iter().find(|(own, _)| own == key);
                pair.map_or("", |(_, value)| value.as_str())
            };
            if get("JobId").is_empty() {
                return Err(wrong(
                    "this is no record of `scontrol show job -o`, which begins with JobId=, nor of `squeue --json`"
                        .to_owned(),
                ));
            }
            let time = |key: &str| {
                let time = clock.time(get(key));
                let time =
                    time.map_err(|_| wrong(format!("{key} is `{}`, which is no time", get(key))))?;
                is_local
                    .set(is_local.get() || time.is_some_and(|(_, form)| form == TimeFormat::Local));
                Ok::<_, String>(time.map(|(second, _)| second))
            };
            let limit = sacct::span(get("TimeLimit"))
                .map_err(|_| wrong(format!("TimeLimit is `{}`", get("TimeLimit"))))?;
            let (start, end) = (time("StartTime")?, time("EndTime")?);
            let text = |key: &str| {
                Some(get(key))
                    .filter(|text| !text.is_empty() && *text != "(null)")
                    .unwrap_or_default()
                    .to_owned()
            };
            let number =
                |text: &str| text.split('-').next().and_then(|first| first.parse::<u32>().ok());
            let state = get("JobState");
            let id = match (get("ArrayJobId"), get("ArrayTaskId")) {
                ("", _) | (_, "") => text("JobId"),
                (array, task) => format!("{array}_{task}"),
            };
            let mut stay = JobRecord {
                id,
                attempt: 1,
                user: text("UserId").split('(').next().unwrap_or_default().to_owned(),
                partition: text("Partition").split(',').next().unwrap_or_default().to_owned(),
                partitions: Some(text("Partition"))
                    .filter(|names| names.contains(','))
                    .unwrap_or_default(),
                state: state.to_owned(),
                submit: time("SubmitTime")?,
                eligible: time("EligibleTime")?,
                limit,
                nodes: number(get("NumNodes")).unwrap_or(0),
                exclusive: matches!(get("Exclusive"), "NODE" | "TOPO"),
                whole_blocks: get("Exclusive") == "TOPO",
                segment: number(get("SegmentSize")).filter(|&size| size > 0),
                require: text("ReqNodeList"),
                exclude: text("ExcNodeList"),
                priority: get("Priority").parse().ok(),
                reason: match text("Reason").as_str() {
                    // Slurm gives this reason only after a scheduler has considered the job.
                    "None" if !text("Dependency").is_empty() => "Dependency".to_owned(),
                    reason => reason.replace('_', " "),
                },
                line,
                ..JobRecord::default()
            };
            let instants =
                [time("LastSchedEval")?, stay.submit, start.filter(|_| state == "RUNNING")];
            now = now.max(instants.into_iter().flatten().max().unwrap_or(now));
            match state {
                "RUNNING" | "CONFIGURING" | "COMPLETING" | "SUSPENDED" | "STOPPED" => {
                    (stay.start, stay.end) = (start, None);
                    stay.nodelist = text("NodeList");
                    running.push(stay);
                }
                "PENDING" => waiting.push(stay),
                _ => now = now.max(end.unwrap_or(now)),
            }
        }
        if running.is_empty() && waiting.is_empty() {
            return Err(format!("{file}: no job runs or waits in this state"));
        }
        if let Some(nodes) = nodes {
            let down = down(nodes)?;
            let mut set = NodeSet::empty(machine.reading.hosts.count());
            for (line, name) in down {
                let node = machine.reading.hosts.find(&name);
                set.insert(node.ok_or_else(|| {
                    let says = format!(
                        "the machine has no node {name}: is this the state of another machine?"
                    );
                    FileProblem::at(&nodes.display().to_string(), line, says).to_string()
                })?);
            }
            machine.take_down(&set);
        }
        if !clock.is_known() && !is_local.get() {
            clock = LocalClock::utc();
        }
        MachineState::of(machine, now, running, waiting, clock)
            .map_err(|says| format!("{file}, {says}"))
    }

    /// Reads the last answer of `meshwork place --slurm` to `show`. The state has no waiting jobs
    /// and no times.
    pub fn of_place(machine: SlurmMachine, answers: &Path) -> Result<MachineState, String> {
        let file = answers.display().to_string();
        let text = read_text(answers).map_err(|trouble| trouble.to_string())?;
        let shown = (1..).zip(text.lines()).filter_map(|(line, answer)| {
            let answer: Json = serde_json::from_str(answer).ok()?;
            Some((line, answer.get("held")?.as_array()?.clone()))
        });
        let (line, held) = shown.last().ok_or_else(|| {
            format!(
                "{file}: no line is an answer of `meshwork place --slurm` to {{\"op\":\"show\"}}"
            )
        })?;
        let stay = |own: &Json| {
            let id = own.get("id").map(|id| match id {
                Json::String(name) => name.clone(),
                other => other.to_string(),
            });
            let (id, nodelist) = id.zip(own.get("nodes").and_then(Json::as_str))?;
            let nodes = hostlist::names(nodelist).map_or(0, |names| names.len() as u32);
            Some(JobRecord {
                id,
                attempt: 1,
                nodes,
                nodelist: nodelist.to_owned(),
                exclusive: true,
                line,
                ..JobRecord::default()
            })
        };
        let running: Option<Vec<JobRecord>> = held.iter().map(stay).collect();
        let running = running.ok_or_else(|| {
            let says = "somebody in `held` has no `id` or no `nodes`";
            FileProblem::at(&file, line, says).to_string()
        })?;
        MachineState::of(machine, 0, running, Vec::new(), LocalClock::utc())
            .map_err(|says| format!("{file}, {says}"))
    }

    fn of(
        machine: SlurmMachine,
        now: Second,
        running: Vec<JobRecord>,
        waiting: Vec<JobRecord>,
        clock: LocalClock,
    ) -> Result<MachineState, String> {
        let holder = |stay: JobRecord| {
            let nodes = machine.nodes(&stay.nodelist);
            let nodes = nodes.map_err(|says| {
                format!("line {}: {says}: is this the state of another machine?", stay.line)
            })?;
            let until = stay
                .start
                .zip(stay.limit)
                .map(|(start, limit)| start.saturating_add(limit).max(now));
            Ok::<_, String>(RunningJob { stay, nodes, until })
        };
        let running =
            running.into_iter().map(holder).collect::<Result<Vec<RunningJob>, String>>()?;
        let mut state = MachineState { machine, now, running, waiting, past: None, clock };
        let first = state.running.len();
        let order = state.controller(&state.rules(), &state.waiting).order();
        state.waiting = order.into_iter().map(|job| state.waiting[job - first].clone()).collect();
        Ok(state)
    }

    /// Rules by which Slurm schedules the site's jobs, as known at this instant. If waiting jobs
    /// have recorded priorities, these replace computed priorities.
    fn rules(&self) -> SiteRules {
        let lacks_priorities = self.waiting.iter().any(|stay| stay.priority.is_some());
        SiteRules { lacks_priorities, ..SiteRules::of(&self.machine).known_at(self.now) }
    }

    /// Controller model with all running jobs, followed by the waiting jobs `waiting`.
    fn controller<'s>(&'s self, rules: &'s SiteRules, waiting: &[JobRecord]) -> Controller<'s> {
        let running = self.running.iter().map(|own| {
            let limit = own.until.map(|until| until - own.stay.start.unwrap_or(self.now));
            (JobRecord { limit, ..own.stay.clone() }, own.nodes.clone())
        });
        let running: Vec<(JobRecord, NodeSet)> = running.collect();
        Controller::at(&self.machine, rules, &running, waiting, self.now)
    }

    pub(super) fn lacks(&self, place: usize) -> Option<LackingParts> {
        let rules = self.rules();
        let controller = self.controller(&rules, std::slice::from_ref(&self.waiting[place]));
        controller.lacks(self.running.len(), self.now, true)
    }

    /// Partition of the machine, without the nodes that are down, drained or reserved now.
    pub fn site(&self, partition: &str) -> SlurmSite {
        let (rules, mut site) = (self.rules(), self.machine.site(partition).clone());
        let is_now = |own: &&SiteReservation| (own.span.0..own.span.1).contains(&self.now);
        let reserved =
            rules.reservations.iter().filter(is_now).filter_map(|own| own.nodes.as_ref());
        rules.closed(self.now).chain(reserved).for_each(|nodes| site.up.subtract(nodes));
        site
    }

    /// Partition of a waiting job, without the nodes that outages or reservations withhold from it.
    pub(super) fn site_of(&self, place: usize) -> SlurmSite {
        let rules = self.rules();
        let controller = self.controller(&rules, std::slice::from_ref(&self.waiting[place]));
        let mut site = self.machine.site(&self.waiting[place].partition).clone();
        site.up.subtract(&controller.withheld(self.running.len(), self.now));
        site
    }

    /// Creates the allocator of a partition, in which the running jobs hold their nodes. A holder
    /// is the index of a running job.
    pub fn desk(&self, site: SlurmSite) -> SlurmAllocator<usize> {
        let mut desk = SlurmAllocator::new(site);
        for (place, holder) in self.running.iter().enumerate() {
            desk.hold(&place, &asked(&holder.stay), holder.nodes.clone());
        }
        desk
    }

    /// Reason why Slurm holds a waiting job back at the instant of this state; `None` if it does
    /// not.
    ///
    /// See [`reason_at`](Self::reason_at).
    pub fn held_back(&self, stay: &JobRecord) -> Option<HeldBack> {
        MachineState::reason_at(stay, self.now)
    }

    /// Reason why a job is held back at an instant; `None` if it waits only for nodes or other
    /// jobs.
    ///
    /// If the job started later, its recorded reason applies only until the job became eligible.
    pub fn reason_at(stay: &JobRecord, now: Second) -> Option<HeldBack> {
        let reason = stay.reason.as_str();
        let is_later = stay.eligible.is_some_and(|eligible| {
            eligible > now || eligible == now && stay.submit < stay.eligible
        });
        let counts = |_: &&str| stay.start.is_none() || is_later;
        let told = Some(reason).filter(counts).and_then(HeldBack::of);
        told.or_else(|| {
            is_later.then(|| HeldBack { kind: "begin_time", says: "BeginTime".to_owned() })
        })
    }

    /// Reason why each waiting job waits, in queue order.
    ///
    /// # Complexity
    /// The time of the plan for all waiting jobs, a query to the placement rule for each waiting
    /// job, and the time of [`starts`](MachineState::starts) for each job that could start.
    pub fn reasons(&self) -> Vec<QueueReason> {
        let (rules, queue) = (self.rules(), self.queue());
        let parts = self.controller(&rules, &self.waiting);
        let mut desks: BTreeMap<&str, SlurmAllocator<usize>> = BTreeMap::new();
        let words = self.words(&queue).into_iter();
        let one = |own: SlurmWord| {
            let stay = &self.waiting[own.job];
            let site = || self.machine.site(&stay.partition).clone();
            let desk = desks.entry(&stay.partition).or_insert_with(|| self.desk(site()));
            let job = self.running.len() + own.job;
            let told = match &parts.lacks(job, self.now, false) {
                Some(lacks) => lacks.answer(),
                None => desk.ask_without(&asked(stay), Some(&parts.withheld(job, self.now))),
            };
            let starts = || self.starts_in(&queue, &rules, own.job);
            let kind = self.classified(stay, told, own.held, starts).word();
            let SlurmWord { says, predicted, .. } = own;
            QueueReason { id: stay.id.clone(), nodes: stay.nodes, kind, says, predicted }
        };
        words.map(one).collect()
    }

    /// Most important reason why a waiting job waits.
    ///
    /// Its earliest [`starts`](MachineState::starts) are computed only if they are needed.
    pub(super) fn classified(
        &self,
        stay: &JobRecord,
        told: SlurmAnswer,
        held: Option<HeldBack>,
        starts: impl Fn() -> [Option<(Second, NodeSet)>; 2],
    ) -> WaitReason {
        let is_now = |start: &Option<(Second, NodeSet)>| {
            start.as_ref().is_some_and(|(start, _)| *start <= self.now)
        };
        match (told, held) {
            (SlurmAnswer::Never(says), _) => WaitReason::Never(says),
            (_, Some(held)) => WaitReason::HeldBack(held),
            // The placement rule was asked for the first of the partitions only.
            (SlurmAnswer::Wait(wait, message), None)
                if stay.partitions.is_empty() || !is_now(&starts()[0]) =>
            {
                match wait {
                    Wait::Nodes => WaitReason::Nodes(message.to_string()),
                    Wait::Shape => WaitReason::Shape(message.to_string()),
                }
            }
            _ if is_now(&starts()[1]) => WaitReason::Turn,
            _ => WaitReason::Reserved,
        }
    }

    /// Slurm's words for the reasons why queued jobs wait.
    ///
    /// A recorded reason comes first. Otherwise, the reason comes from the last modelled pass that
    /// reached the job, because Slurm keeps a reason until a pass changes it. If the past is
    /// unknown, a pass over the current queue gives the reason.
    fn words(&self, queue: &[usize]) -> Vec<SlurmWord> {
        let rules = self.rules();
        let (eligible, running) = (self.eligible(), self.running.len());
        let mut found: Vec<Option<&'static str>> = vec![None; self.waiting.len()];
        let replayed = self.replayed();
        if let Some(replayed) = replayed {
            let reasons = replayed.reasons.iter().skip(running);
            eligible.iter().zip(reasons).for_each(|(job, own)| found[*job] = Some(own));
        } else {
            let waiting: Vec<JobRecord> =
                eligible.iter().map(|job| self.waiting[*job].clone()).collect();
            let reasons = self.controller(&rules, &waiting).reasons(self.now);
            let of = |number: usize| reasons.get(&(running + number)).copied().unwrap_or("None");
            eligible.iter().enumerate().for_each(|(number, job)| found[*job] = Some(of(number)));
        }
        let last_pass = replayed.and_then(|own| own.last_pass);
        // A job that is not yet eligible gets this reason in the first pass after its submission.
        let delay = rules.parameters.main_delay;
        let is_new = |stay: &JobRecord| {
            let known = last_pass.zip(stay.submit).filter(|_| stay.attempt == 1);
            known.is_some_and(|(last, submit)| {
                submit as f64 >= last && ((self.now - submit) as f64) < delay
            })
        };
        let word = |&job: &usize| {
            let (stay, predicted) = (&self.waiting[job], found[job]);
            let held = self.held_in_queue(stay);
            let told = held.as_ref().filter(|own| own.kind != "begin_time" || !is_new(stay));
            let is_recorded =
                stay.start.is_none() && !matches!(&*stay.reason, "" | "None" | "PartitionConfig");
            let says = match told {
                Some(told) => told.says.clone(),
                None if is_recorded => stay.reason.clone(),
                None => predicted.unwrap_or("None").to_owned(),
            };
            let held = HeldBack::of(&says).or(held).or_else(|| self.held_back(stay));
            SlurmWord { job, says, predicted, held }
        };
        queue.iter().map(word).collect()
    }

    pub(super) fn held_word(&self, job: usize) -> Option<HeldBack> {
        self.words(&[job]).pop().and_then(|own| own.held)
    }

    /// Reasons why Slurm holds waiting jobs back, by job id.
    pub fn held_words(&self) -> BTreeMap<&str, HeldBack> {
        let all: Vec<usize> = (0..self.waiting.len()).collect();
        let words = self.words(&all).into_iter();
        words.filter_map(|own| Some((self.waiting[own.job].id.as_str(), own.held?))).collect()
    }

    /// Reason why Slurm holds a job back, if Slurm's queue has a word for it.
    fn held_in_queue(&self, stay: &JobRecord) -> Option<HeldBack> {
        self.held_back(stay).filter(|own| own.says != "PartitionConfig")
    }

    fn eligible(&self) -> Vec<usize> {
        let is_eligible = |job: &usize| self.held_in_queue(&self.waiting[*job]).is_none();
        (0..self.waiting.len()).filter(is_eligible).collect()
    }

    /// Indices of the waiting jobs in queue order. If the past was replayed, held jobs come last.
    fn queue(&self) -> Vec<usize> {
        let (eligible, running) = (self.eligible(), self.running.len());
        let Some(replayed) = self.replayed() else { return (0..self.waiting.len()).collect() };
        let of = |job: &usize| eligible.get(job.checked_sub(running)?).copied();
        let mut queue: Vec<usize> = replayed.order.iter().filter_map(of).collect();
        let mut is_left = vec![true; self.waiting.len()];
        queue.iter().for_each(|job| is_left[*job] = false);
        queue.extend((0..self.waiting.len()).filter(|job| is_left[*job]));
        queue
    }

    /// Wait reasons and queue order from a replay of the past; `None` if unknown or if the replay
    /// fails. Job indices in the result count the running jobs, then the eligible waiting jobs,
    /// then the ended jobs. Priorities are computed from the site's tables, if there are any. The
    /// recorded priority of a job is its last one, not the one at the instant.
    fn replayed(&self) -> Option<&ReplayedReasons> {
        let past = self.past.as_ref()?;
        let replay = || {
            let running = self.running.iter().map(|own| &own.stay);
            let eligible = self.eligible();
            let waiting = eligible.iter().map(|job| &self.waiting[*job]);
            let known = running.chain(waiting).chain(&past.ended).cloned().collect();
            let rules = SiteRules::of(&self.machine).known_at(self.now);
            ReplayState::reasons(&self.machine, &rules, known, self.now).ok()
        };
        past.replayed.get_or_init(replay).as_ref()
    }

    /// Earliest starts of a waiting job, with its nodes, if jobs end at their time limits.
    ///
    /// The first start is the start of the job if it were the first of the queue. The second start
    /// is after all eligible jobs ahead of it.
    pub fn starts(&self, place: usize) -> [Option<(Second, NodeSet)>; 2] {
        self.starts_in(&self.queue(), &self.rules(), place)
    }

    fn starts_in(
        &self,
        queue: &[usize],
        rules: &SiteRules,
        place: usize,
    ) -> [Option<(Second, NodeSet)>; 2] {
        let ahead = queue.iter().take_while(|job| **job != place).map(|job| &self.waiting[*job]);
        let eligible = ahead.filter(|stay| self.held_back(stay).is_none());
        let waiting: Vec<JobRecord> = eligible.chain([&self.waiting[place]]).cloned().collect();
        let controller = self.controller(rules, &waiting);
        let job = self.running.len() + waiting.len() - 1;
        [true, false].map(|is_first| controller.planned(job, is_first, self.now))
    }
}

struct SlurmWord {
    job: usize,
    says: String,
    predicted: Option<&'static str>,
    held: Option<HeldBack>,
}

/// Reason why a job in the queue waits: in Slurm's words, and as predicted by the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueReason {
    pub id: String,
    pub nodes: u32,
    /// Key of the current [`WaitReason`].
    ///
    /// The reason that Slurm reports may be outdated until Slurm's next scheduling pass.
    pub kind: &'static str,
    pub says: String,
    pub predicted: Option<&'static str>,
}

impl QueueReason {
    pub fn json(&self) -> Json {
        json!({
            "job": self.id, "nodes": self.nodes, "reason": self.kind, "slurm": self.says,
            "predicted": self.predicted,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// The job can never start. The text is Slurm's reason.
    Never(String),
    /// Too few nodes are free, or a node that the job requires is not free.
    Nodes(String),
    /// Enough nodes are free, but the topology allows no set of them for a job of this size.
    Shape(String),
    /// Slurm holds the job back for a reason other than a lack of nodes or other jobs.
    HeldBack(HeldBack),
    /// The job could start, but nodes are reserved for jobs before it.
    Reserved,
    /// The job could start without delaying another job, but no scheduler has considered it yet.
    Turn,
}

impl WaitReason {
    /// Key of the reason in JSON output.
    ///
    /// The metrics of a replay have other keys for two reasons: `reserved` for `priority`, and
    /// `priority` for `turn`.
    pub fn word(&self) -> &'static str {
        match self {
            WaitReason::Never(_) => "never",
            WaitReason::Nodes(_) => "nodes",
            WaitReason::Shape(_) => "shape",
            WaitReason::HeldBack(own) => own.kind,
            WaitReason::Reserved => "priority",
            WaitReason::Turn => "turn",
        }
    }
}

/// Reason to wait other than a lack of nodes or other jobs, for example a dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldBack {
    /// Kind of the reason: `held`, `dependency`, `begin_time`, `limit`, `reservation` or `other`.
    pub kind: &'static str,
    pub says: String,
}

impl HeldBack {
    /// Parses a wait reason of Slurm; `None` if the job waits only for nodes or other jobs.
    ///
    /// Slurm states the reason of such a job by one of a few known words, or by a sentence. Any
    /// other word, or a sentence about a held job, means that the job is held back.
    fn of(reason: &str) -> Option<HeldBack> {
        const OF_THE_MACHINE: [&str; 7] =
            ["None", "Priority", "Resources", "ReqNodeNotAvail", "NodeDown", "Prolog", "Cleaning"];
        let has = |word: &str| reason.contains(word);
        let begins = |word: &str| reason.starts_with(word);
        let is_one_word = !reason.is_empty() && !reason.contains([' ', ',']);
        let kind = if has("Held") || has("in held state") || begins("JobHoldMaxRequeue") {
            "held"
        } else if begins("Dependency") {
            "dependency"
        } else if begins("BeginTime") {
            "begin_time"
        } else if reason == "Reservation" {
            "reservation"
        } else if !is_one_word || OF_THE_MACHINE.iter().any(|own| begins(own)) {
            return None;
        } else if has("Limit") || begins("QOS") || begins("Assoc") || begins("Max") {
            "limit"
        } else {
            "other"
        };
        Some(HeldBack { kind, says: reason.to_owned() })
    }
}

/// Whether a job runs at the second `now`: it started before, and ends later or has no end.
fn holds(stay: &JobRecord, now: Second) -> bool {
    stay.start.is_some_and(|start| start < now) && stay.end.is_none_or(|end| end > now)
}

/// Keys and values in a record of `scontrol`. A word without a key continues the value before it.
fn pairs(record: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for word in record.split_whitespace() {
        let key = word.split_once('=').filter(|(key, _)| {
            key.starts_with(|letter: char| letter.is_ascii_uppercase())
                && key
                    .chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || "/:_".contains(letter))
        });
        match (key, pairs.last_mut()) {
            (Some((key, value)), _) => pairs.push((key.to_owned(), value.to_owned())),
            (None, Some((_, value))) => {
                value.push(' ');
                value.push_str(word);
            }
            (None, None) => {}
        }
    }
    pairs
}

/// Keys and values of a job in `squeue --json`, in the form of `scontrol show job -o`.
fn pairs_of_json(job: &Json) -> Vec<(String, String)> {
    let get = |key: &str| sacct::json::field(job, &[key]);
    let set = |key: &str| Some(get(key)).filter(|text| text != "0").unwrap_or_default();
    let first = |text: String| text.split(',').next().unwrap_or_default().to_owned();
    let array = set("array_job_id");
    let task = if array.is_empty() { String::new() } else { get("array_task_id") };
    let limit = get("time_limit");
    let whole = get("shared") == "none" || get("exclusive") == "true";
    let exclusive = match get("exclusive").as_str() {
        "topo" => "TOPO",
        _ if whole => "NODE",
        _ => "NO",
    };
    let values = [
        ("JobId", get("job_id")),
        ("ArrayJobId", array),
        ("ArrayTaskId", task),
        ("UserId", get("user_name")),
        ("Partition", get("partition")),
        ("JobState", first(get("job_state"))),
        ("SubmitTime", set("submit_time")),
        ("EligibleTime", set("eligible_time")),
        ("StartTime", set("start_time")),
        ("EndTime", set("end_time")),
        ("LastSchedEval", set("last_sched_evaluation")),
        // The limit is in minutes; Slurm prints seconds after the colon.
        ("TimeLimit", if limit.is_empty() { limit } else { format!("{limit}:00") }),
        ("NumNodes", get("node_count")),
        ("NodeList", get("nodes")),
        ("Exclusive", exclusive.to_owned()),
        ("SegmentSize", set("segment_size")),
        ("ReqNodeList", get("required_nodes")),
        ("ExcNodeList", get("excluded_nodes")),
        ("Priority", get("priority")),
        ("Reason", get("state_reason")),
        ("Dependency", get("dependency")),
    ];
    values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Nodes on which no job may start, each with the number of its line in the file.
fn down(path: &Path) -> Result<Vec<(usize, String)>, String> {
    let text = read_text(path).map_err(|trouble| trouble.to_string())?;
    let mut down = Vec::new();
    for (line, record) in (1..).zip(text.lines()) {
        let pairs = pairs(record);
        let get = |key: &str| {
            pairs.iter().find(|(own, _)| own == key).map_or("", |(_, value)| value.as_str())
        };
        let state = get("State");
        // Nodes with a star do not respond.
        if ["DOWN", "DRAIN", "FAIL", "MAINT", "NOT_RESPONDING", "RESERVED", "FUTURE", "*"]
            .iter()
            .any(|word| state.contains(word))
        {
            let names = hostlist::names(get("NodeName"));
            let names = names.map_err(|says| {
                FileProblem::at(&path.display().to_string(), line, says).to_string()
            })?;
            down.extend(names.into_iter().map(|name| (line, name)));
        }
    }
    Ok(down)
}
