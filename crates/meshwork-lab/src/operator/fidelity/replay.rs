//! Comparison of every recorded decision with the rule, in the recorded state of the machine.

use std::collections::{BTreeMap, HashMap};

use meshwork::geometry::NodeSet;

use crate::operator::desks::SlurmAllocators;
use crate::operator::folder::{Folder, SlurmMachine};
use crate::operator::history::{JobRecord, Second, StartedBy};
use crate::operator::order::PriorityOrder;
use crate::operator::plan::{BackfillPlan, ResolvedRequest};
use crate::slurm::desk::SlurmAnswer;

/// The number of states tried per event, to find the order of events within one second.
const STATES_FOR_EACH: usize = 8;

/// The minimum and maximum number of states tried.
const STATES: (usize, usize) = (20, 160);

/// The maximum number of waiting jobs with reservations before the job under test.
const MOST_PLANNED: usize = 100;

/// The number of decisions between two progress reports.
const REPORT_EVERY: usize = 500;

/// A recorded decision with that of the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedDecision {
    /// The index of the record in the history.
    pub stay: usize,
    /// The scheduler assumed to have made it.
    pub by: StartedBy,
    /// The differing decision of the rule; `None` if it is the same.
    pub instead: Option<RuleDecision>,
}

/// A decision of the rule that differs from the recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleDecision {
    /// Other nodes.
    Nodes(NodeSet),
    /// The job waits.
    Wait,
    /// The job never starts.
    Never,
}

/// A history prepared for the replay: the parts that do not depend on the clean-up time.
pub(super) struct Replay<'a> {
    pub(super) machine: &'a SlurmMachine,
    pub(super) stays: &'a [JobRecord],
    pub(super) order: PriorityOrder,
    pub(super) nodes: Vec<Option<NodeSet>>,
    requests: Vec<ResolvedRequest>,
    /// The records that start, by second.
    starts: BTreeMap<Second, Vec<usize>>,
    /// The records that end, by time.
    ends: Vec<(Second, usize)>,
    /// The records that wait, by begin of the wait.
    queued: Vec<(Second, usize)>,
}

impl<'a> Replay<'a> {
    pub(super) fn new(folder: &'a Folder) -> Replay<'a> {
        let (machine, stays) = (&folder.machine, &folder.history.stays[..]);
        let mut sets: HashMap<&str, Option<NodeSet>> = HashMap::new();
        let nodes: Vec<Option<NodeSet>> = stays
            .iter()
            .map(|stay| {
                let list = stay.nodelist.as_str();
                let set = sets.entry(list).or_insert_with(|| machine.nodes(list).ok());
                set.clone().filter(|set| stay.ran() && !set.is_empty())
            })
            .collect();
        let mut starts: BTreeMap<Second, Vec<usize>> = BTreeMap::new();
        let (mut ends, mut queued) = (Vec::new(), Vec::new());
        for (place, stay) in stays.iter().enumerate() {
            if let Some(start) = stay.start.filter(|_| nodes[place].is_some()) {
                starts.entry(start).or_default().push(place);
                ends.extend(stay.end.map(|end| (end, place)));
            }
            queued.extend(stay.queued().map(|since| (since, place)));
        }
        ends.sort_unstable();
        queued.sort_unstable();
        let requests = ResolvedRequest::all(machine, stays);
        Replay {
            machine,
            stays,
            order: PriorityOrder::of(machine),
            nodes,
            requests,
            starts,
            ends,
            queued,
        }
    }

    /// Compares all decisions, if nodes can be allocated again `cleanup` seconds after the end of a
    /// job. `report` is called from time to time with the number of decisions so far.
    pub(super) fn run(&self, cleanup: f64, report: &dyn Fn(usize)) -> Vec<ComparedDecision> {
        let desks = SlurmAllocators::new(self.machine, self.stays);
        let mut now = Now { replay: self, desks, at: 0, waiting: Vec::new(), running: Vec::new() };
        let (mut ended, mut queued) = (0, 0);
        let mut unclear: Vec<usize> = Vec::new();
        let mut decisions = Vec::new();
        for (&at, starts) in &self.starts {
            now.at = at;
            // Ends are known to the second only, and so are the ends of clean-ups.
            let reached = |(end, _): &&(Second, usize)| (*end as f64) + cleanup < (at + 1) as f64;
            while let Some(&(_, place)) = self.ends.get(ended).filter(reached) {
                unclear.push(place);
                ended += 1;
            }
            unclear.retain(|&place| {
                let end = self.stays[place].end.unwrap_or(at) as f64;
                let is_free = end + cleanup <= (at - 1) as f64;
                if is_free {
                    now.release(place);
                }
                !is_free
            });
            while let Some(&(_, place)) = self.queued.get(queued).filter(|(since, _)| *since <= at)
            {
                now.waiting.push(place);
                queued += 1;
            }
            now.waiting.retain(|&place| {
                let stay = &self.stays[place];
                match (stay.start, stay.end) {
                    (Some(start), _) => start >= at,
                    (None, Some(end)) => end > at,
                    (None, None) => !stay.is_rejected(),
                }
            });
            let held: Vec<usize> =
                unclear.iter().copied().filter(|place| now.running.contains(place)).collect();
            let before = decisions.len();
            decisions.extend(now.second(starts, &held));
            if decisions.len() / REPORT_EVERY > before / REPORT_EVERY {
                report(decisions.len());
            }
            now.waiting.retain(|place| !starts.contains(place));
            unclear
                .retain(|place| now.running.contains(place) || self.stays[*place].end == Some(at));
        }
        decisions
    }
}

/// The machine at one second.
struct Now<'r, 'a> {
    replay: &'r Replay<'a>,
    desks: SlurmAllocators<'a>,
    at: Second,
    waiting: Vec<usize>,
    running: Vec<usize>,
}

/// A partial order of the events within one second.
#[derive(Clone, Debug, Default)]
struct Partial {
    /// Starts that are not ordered yet.
    left: Vec<usize>,
    /// Ended jobs that still hold their nodes.
    held: Vec<usize>,
    /// Ended jobs that have released their nodes.
    released: Vec<usize>,
    /// The starts so far.
    made: Vec<ComparedDecision>,
}

impl Partial {
    /// The number of starts so far that agree with the rule.
    fn matched(&self) -> usize {
        self.made.iter().filter(|decision| decision.instead.is_none()).count()
    }
}

/// The state of the search for the best order of events within one second.
#[derive(Clone, Debug, Default)]
struct Search {
    most: usize,
    states: usize,
    seen: HashMap<(Vec<usize>, Vec<usize>), usize>,
    best: Option<(usize, Vec<ComparedDecision>, Vec<usize>)>,
}

impl Search {
    /// Whether the limit of tried states is reached.
    fn is_over(&self) -> bool {
        self.states > self.most && self.best.is_some()
    }

    /// Registers a partial order; returns `false` if it is dominated or already explored.
    fn enter(&mut self, partial: &Partial, matched: usize) -> bool {
        if self.best.as_ref().is_some_and(|(best, ..)| matched + partial.left.len() <= *best) {
            return false;
        }
        let mut key = (partial.left.clone(), partial.held.clone());
        key.0.sort_unstable();
        key.1.sort_unstable();
        if self.seen.get(&key).is_some_and(|&before| before >= matched) {
            return false;
        }
        self.seen.insert(key, matched);
        self.states += 1;
        true
    }
}

impl Now<'_, '_> {
    fn release(&mut self, place: usize) {
        self.desks.release(place);
        self.running.retain(|&own| own != place);
    }

    fn hold(&mut self, place: usize) {
        let replay = self.replay;
        if let Some(nodes) = &replay.nodes[place] {
            self.desks.hold(place, &replay.requests[place].asked, nodes);
            self.running.push(place);
        }
    }

    /// The decisions of a second, in the order in which most of them agree with the rule.
    fn second(&mut self, starts: &[usize], held: &[usize]) -> Vec<ComparedDecision> {
        let states = STATES_FOR_EACH * (starts.len() + held.len());
        let mut search = Search { most: states.clamp(STATES.0, STATES.1), ..Search::default() };
        let mut partial =
            Partial { left: starts.to_vec(), held: held.to_vec(), ..Partial::default() };
        partial.left.sort_by_key(|&place| (self.replay.stays[place].by != StartedBy::Main, place));
        self.search(&mut search, &mut partial);
        let Some((_, decisions, released)) = search.best else { return Vec::new() };
        // All ended jobs release their nodes in the end, whatever the order.
        released.iter().for_each(|&place| self.release(place));
        for decision in &decisions {
            self.hold(decision.stay);
        }
        decisions
    }

    /// Extends a partial order in all promising ways; returns `true` if the search is done.
    fn search(&mut self, search: &mut Search, partial: &mut Partial) -> bool {
        let matched = partial.matched();
        if partial.left.is_empty() {
            if search.best.as_ref().is_none_or(|(best, ..)| matched > *best) {
                search.best = Some((matched, partial.made.clone(), partial.released.clone()));
            }
            return matched == partial.made.len();
        }
        if !search.enter(partial, matched) {
            return false;
        }
        if search.is_over() {
            return true;
        }
        let told = self.ask(&partial.left);
        // First the starts that agree with the rule, in the order of the pass.
        for (place, by, instead) in told.iter().filter(|(.., instead)| instead.is_none()) {
            if self.blocked(*place, &partial.held) {
                continue;
            }
            let decision = ComparedDecision { stay: *place, by: *by, instead: instead.clone() };
            if self.start(search, partial, decision) || search.is_over() {
                return true;
            }
        }
        // Then the release of one of the ended jobs, those first whose nodes a start needs.
        let mut ends = partial.held.clone();
        ends.sort_by_key(|&place| !partial.left.iter().any(|&start| self.shares(place, start)));
        for place in ends {
            if self.give_back(search, partial, place) {
                return true;
            }
        }
        // Last a recorded start with which the rule disagrees.
        let (left, held) = (&partial.left, &partial.held);
        let free: Vec<_> = told.iter().filter(|(place, ..)| !self.blocked(*place, held)).collect();
        let none_fits = !held.iter().any(|&end| left.iter().any(|&start| self.shares(end, start)));
        if let Some((place, by, instead)) =
            free.iter().find(|(.., instead)| instead.is_some()).copied()
            && (none_fits || free.len() == left.len())
        {
            let decision = ComparedDecision { stay: *place, by: *by, instead: instead.clone() };
            return self.start(search, partial, decision);
        }
        false
    }

    /// Continues with this decision as the next event.
    fn start(
        &mut self,
        search: &mut Search,
        partial: &mut Partial,
        decision: ComparedDecision,
    ) -> bool {
        let place = decision.stay;
        let at = partial.left.iter().position(|&own| own == place).unwrap_or(0);
        partial.left.remove(at);
        self.hold(place);
        partial.made.push(decision);
        let is_done = self.search(search, partial);
        partial.made.pop();
        self.release(place);
        partial.left.insert(at, place);
        is_done
    }

    /// Continues with the release of an ended job as the next event.
    fn give_back(&mut self, search: &mut Search, partial: &mut Partial, place: usize) -> bool {
        let at = partial.held.iter().position(|&own| own == place).unwrap_or(0);
        partial.held.remove(at);
        partial.released.push(place);
        self.release(place);
        let is_done = self.search(search, partial);
        self.hold(place);
        partial.released.pop();
        partial.held.insert(at, place);
        is_done
    }

    fn shares(&self, one: usize, other: usize) -> bool {
        let nodes = &self.replay.nodes;
        matches!((&nodes[one], &nodes[other]), (Some(a), Some(b)) if a.meets(b))
    }

    /// Whether a start needs nodes of an ended job that has not released them.
    fn blocked(&self, place: usize, held: &[usize]) -> bool {
        held.iter().any(|&end| self.shares(end, place))
    }

    /// The decisions of the rule on each remaining start, as if it were next.
    fn ask(&self, left: &[usize]) -> Vec<(usize, StartedBy, Option<RuleDecision>)> {
        let replay = self.replay;
        let mut answers: Vec<(usize, StartedBy, Option<RuleDecision>)> = Vec::new();
        let by_plan = |place: &&usize| replay.stays[**place].by != StartedBy::Main;
        for &place in left {
            let stay = &replay.stays[place];
            if stay.by == StartedBy::Backfill {
                continue;
            }
            let told = self.desks.desk(stay).ask(&replay.requests[place].asked);
            let instead = self.instead(place, told);
            answers.push((place, StartedBy::Main, instead));
        }
        let mut partitions: Vec<&str> = left
            .iter()
            .filter(by_plan)
            .map(|&place| replay.stays[place].partition.as_str())
            .collect();
        partitions.sort_unstable();
        partitions.dedup();
        for partition in partitions {
            let site = replay.machine.site(partition);
            let running = self.running.iter().filter_map(|&place| {
                let stay = &replay.stays[place];
                let nodes = replay.nodes[place].as_ref()?;
                let end = stay.start?.saturating_add(replay.requests[place].limit);
                Some((end, nodes, stay.whole_blocks))
            });
            let mut plan = BackfillPlan::new(site, self.at, running);
            let of_this = |place: &usize| replay.stays[*place].partition == partition;
            let mut queue: Vec<usize> = self
                .waiting
                .iter()
                .copied()
                .filter(of_this)
                .filter(|place| left.contains(place) || replay.stays[*place].start != Some(self.at))
                .collect();
            for place in left.iter().copied().filter(of_this) {
                if !queue.contains(&place) {
                    queue.push(place);
                }
            }
            replay.order.sort(replay.stays, &mut queue, self.at);
            let mut wanted = left.iter().filter(by_plan).filter(|place| of_this(place)).count();
            for (rank, place) in queue.into_iter().enumerate() {
                if wanted == 0 {
                    break;
                }
                let (stay, request) = (&replay.stays[place], &replay.requests[place]);
                if left.contains(&place) && stay.by != StartedBy::Main {
                    let kept = plan.kept_over(request.limit);
                    let told = self.desks.desk(stay).ask_without(&request.asked, Some(&kept));
                    let instead = self.instead(place, told);
                    match answers.iter_mut().find(|(own, ..)| *own == place) {
                        // The scheduler is unknown: either may have started it.
                        Some(answer) if answer.2.is_some() && instead.is_none() => {
                            *answer = (place, StartedBy::Backfill, None);
                        }
                        Some(_) => {}
                        None => answers.push((place, StartedBy::Backfill, instead)),
                    }
                    wanted -= 1;
                }
                if rank < MOST_PLANNED {
                    plan.book(request);
                }
            }
        }
        answers
    }

    fn instead(&self, place: usize, told: SlurmAnswer) -> Option<RuleDecision> {
        match told {
            SlurmAnswer::Nodes(nodes) if self.replay.nodes[place].as_ref() == Some(&nodes) => None,
            SlurmAnswer::Nodes(nodes) => Some(RuleDecision::Nodes(nodes)),
            SlurmAnswer::Wait(..) => Some(RuleDecision::Wait),
            SlurmAnswer::Never(_) => Some(RuleDecision::Never),
        }
    }
}
