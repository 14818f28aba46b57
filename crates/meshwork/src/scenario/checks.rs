//! Checks of a scenario as a whole, made when it is read and not when it runs.

use super::{Parts, Scenario};
use crate::job::Request;
use crate::network::pattern::{self, PatternEntry};
use crate::observe::metrics;
use crate::observe::recorder::OwnerAttribute;
use crate::registry::{Problem, join, with_article};
use crate::shape::shaped;
use crate::topology::Wiring;
use crate::workload::distribution::{SIZES, Sizes};
use crate::workload::{self, BuildError, NoInputs, SHAPE, SHAPES};
use crate::{network, sched, select, sizing};

impl Scenario {
    /// Checks that components and settings, each already checked by itself, are compatible.
    pub(super) fn check(&self) -> Result<(), Problem> {
        let measure = self.params.nested("measure");
        let workload = self.params.component("workload", &workload::FAMILY);
        let (jobs, time) = (measure.get_integer("jobs"), measure.get_number("time"));
        if !self.parts.workload.0.ends && jobs.is_none() && time.is_none() {
            let says = format!(
                "the workload `{}` never ends: give `measure.jobs` or `measure.time`",
                workload.name()
            );
            return Err(measure.problem("jobs", says));
        }
        let by_owner =
            OwnerAttribute::ALL.map(OwnerAttribute::key).into_iter().find(|key| measure.flag(key));
        if let Some(key) = by_owner.filter(|_| !self.parts.workload.0.knows_owners) {
            let says = format!(
                "is for logs and tables: the jobs of the workload `{}` are nobody's",
                workload.name()
            );
            return Err(measure.refusal(key, says));
        }
        self.check_fairness()?;
        let (warmup_jobs, warmup_time) =
            (measure.integer("warmup_jobs"), measure.number("warmup_time"));
        if warmup_jobs > 0 && warmup_time > 0.0 {
            let says = "`measure.warmup_jobs` and `measure.warmup_time` are both given: one of them ends \
             the warm-up";
            return Err(measure.problem("warmup_time", says));
        }
        if let Some(jobs) = jobs.filter(|&jobs| jobs <= warmup_jobs) {
            let says = format!(
                "is {warmup_jobs}, which leaves none of the {jobs} jobs of `measure.jobs` to measure"
            );
            return Err(measure.refusal("warmup_jobs", says));
        }
        if let Some(time) = time.filter(|&time| time <= warmup_time) {
            let says = format!(
                "is {warmup_time}, which leaves none of the {time} units of `measure.time` to measure"
            );
            return Err(measure.refusal("warmup_time", says));
        }
        self.check_shared_nodes()?;
        self.check_facility()?;
        self.network_memory()?;
        self.check_scheduler()?;
        self.check_failures()?;
        self.check_access()?;
        self.check_energy()?;
        self.check_pattern()?;
        // A workload is built once without its files, so that a bad study is refused before it
        // runs.
        let sites = self.shape();
        match workload::submissions(
            self.parts.workload.0,
            &workload,
            &self.setting(&sites, 0, &NoInputs),
        ) {
            Err(BuildError::Problem(problem)) => Err(problem),
            _ => Ok(()),
        }
    }

    /// Checks that the workload suits the fairness metrics: some need users, others forbid
    /// dependencies.
    fn check_fairness(&self) -> Result<(), Problem> {
        let measure = self.params.nested("measure");
        let workload = self.params.component("workload", &workload::FAMILY);
        if let Some(metric) = self.evenness().filter(|_| !self.parts.workload.0.knows_owners) {
            let says = format!(
                "the metric `{metric}` compares users, but the jobs of the workload `{}` are nobody's: it is for logs \
                 and tables",
                workload.name()
            );
            return Err(measure.problem("metrics", says));
        }
        if self.judges_starts() && workload::follow_others(&workload) {
            let says = "the metrics `unfair_jobs` and `unfairness` compare runs of jobs that arrive when they arrive, but with \
             `workload.dependencies` that depends on how others are served";
            return Err(measure.problem("metrics", says));
        }
        Ok(())
    }

    /// Checks that allocators, sizing and selector can be built, one at a time to limit the memory.
    fn check_facility(&self) -> Result<(), Problem> {
        let workload = self.params.component("workload", &workload::FAMILY);
        let rule = workload.meaning(SHAPE.name, &SHAPES);
        for (index, spec) in self.machine.iter().enumerate() {
            spec.managed(index, 0, 0, rule, &[])?;
        }
        let sizing = self.params.component("sizing", &sizing::FAMILY);
        let selector = self.params.component("selector", &select::FAMILY);
        (self.parts.sizing.0.build)(&sizing, &self.topologies())?;
        (self.parts.selector.0.build)(&selector).map(drop)
    }

    fn check_shared_nodes(&self) -> Result<(), Problem> {
        if self.machine.iter().all(|site| site.choice.is_none()) {
            return Ok(());
        }
        let Parts { scheduler, sizing, network, .. } = &self.parts;
        let sizing_params = self.params.component("sizing", &sizing::FAMILY);
        let is_fixed = (sizing.0.build)(&sizing_params, &self.topologies())?.is_fixed();
        let unsupported = [
            (
                !scheduler.0.shares,
                "scheduler",
                format!("the scheduler `{}`", scheduler.0.about.name),
            ),
            (!is_fixed, "sizing", format!("the sizing `{}`", sizing.0.about.name)),
            (
                network.0.sends && !network.0.shares,
                "network",
                format!("the network `{}`", network.0.about.name),
            ),
        ];
        match unsupported.into_iter().find(|(is_given, ..)| *is_given) {
            Some((_, key, what)) => Err(Problem::new(
                key,
                format!(
                    "{what} cannot be combined with types of `nodes` yet, whose cores, memory and GPUs jobs share"
                ),
            )),
            None => Ok(()),
        }
    }

    fn check_failures(&self) -> Result<(), Problem> {
        let Some(failures) = &self.failures else { return Ok(()) };
        let scheduler = self.parts.scheduler.0;
        if scheduler.malleable {
            let says = format!(
                "`failures` is given, but the scheduler `{}` moves and resizes running jobs, and does not know of nodes \
                 that fail",
                scheduler.about.name
            );
            return Err(Problem::new("failures", says));
        }
        let network = self.parts.network.0;
        if failures.has_checkpoints() && network.sends {
            let says = format!(
                "`failures.checkpoint` counts the work of jobs, but in the network `{}` they take as long as their messages \
                 do: the network `ideal` has work",
                network.about.name
            );
            return Err(Problem::new("failures.checkpoint", says));
        }
        Ok(())
    }

    /// Checks that the scheduler supports access rules, and that jobs give their partition.
    fn check_access(&self) -> Result<(), Problem> {
        let Some(access) = &self.access else { return Ok(()) };
        let Parts { scheduler, workload, .. } = &self.parts;
        let key = if access.partitions.is_empty() { "reservations" } else { "partitions" };
        if scheduler.0.malleable {
            let says = format!(
                "`machine.{key}` are given, but the scheduler `{}` divides the whole machine among all jobs",
                scheduler.0.about.name
            );
            return Err(Problem::new(join("machine", key), says));
        }
        if access.goes_by_owners() && !workload.0.knows_owners {
            let says = format!(
                "no partition of `machine.partitions` has `default = true`, and the jobs of the workload `{}` name none: \
                 all would go anywhere",
                workload.0.about.name
            );
            return Err(Problem::new("machine.partitions", says));
        }
        Ok(())
    }

    fn check_energy(&self) -> Result<(), Problem> {
        let Some(energy) = &self.energy else {
            let of_energy =
                self.parts.metrics.iter().find(|(found, _)| metrics::is_of_energy(found.0));
            let Some(metric) = of_energy else { return Ok(()) };
            let says = format!(
                "the metric `{}` is of what processors take, which nothing says: give `energy`, such as \
                 {{ idle = 120, busy = 350 }}",
                metric.0.0.about.name
            );
            return Err(self.params.nested("measure").problem("metrics", says));
        };
        let Parts { scheduler, sizing, network, .. } = &self.parts;
        let (sleeps, is_capped) = (energy.sleep.is_some(), energy.is_capped());
        let key = if sleeps { "energy.sleep" } else { "energy.cap" };
        if scheduler.0.malleable && (sleeps || is_capped) {
            let says = format!(
                "`{key}` is given, but the scheduler `{}` moves and resizes running jobs, and knows of no processors that \
                 sleep and of no cap",
                scheduler.0.about.name
            );
            return Err(Problem::new(key, says));
        }
        let params = self.params.component("sizing", &sizing::FAMILY);
        let is_fixed = (sizing.0.build)(&params, &self.topologies())?.is_fixed();
        if is_capped && !is_fixed {
            let says = format!(
                "`energy.cap` goes by how many processors a job will hold, which the sizing `{}` decides only as it starts: \
                 the sizing `exact` leaves it as it was asked for",
                sizing.0.about.name
            );
            return Err(Problem::new("energy.cap", says));
        }
        if network.0.sends && energy.takes_time_to_wake() {
            let says = format!(
                "`energy.wake` comes before the work of a job, but in the network `{}` jobs take as long as their messages \
                 do: the network `ideal` has work",
                network.0.about.name
            );
            return Err(Problem::new("energy.wake", says));
        }
        Ok(())
    }

    fn check_scheduler(&self) -> Result<(), Problem> {
        let params = self.params.component("scheduler", &sched::FAMILY);
        let scheduler = self.parts.scheduler.0;
        let topologies = self.topologies();
        let unserved = topologies.iter().find(|site| !scheduler.serves.contains(&site.wiring()));
        if let Some(topology) = unserved {
            let wirings: Vec<&str> = scheduler.serves.iter().map(|w| Wiring::name(*w)).collect();
            let says = format!(
                "the scheduler `{}` serves {}, but the machine is {}",
                scheduler.about.name,
                wirings.join(", "),
                with_article(topology)
            );
            return Err(Problem::new(params.path(), says));
        }
        if scheduler.malleable && topologies.len() > 1 {
            let says = format!(
                "the scheduler `{}` divides one machine among all jobs, but there are {} sites",
                scheduler.about.name,
                topologies.len()
            );
            return Err(Problem::new(params.path(), says));
        }
        let suspends = (scheduler.build)(&params, &topologies)?.suspends();
        if suspends { self.check_suspension() } else { Ok(()) }
    }

    fn check_suspension(&self) -> Result<(), Problem> {
        let (scheduler, network) = (self.parts.scheduler.0, self.parts.network.0);
        let beside = if network.sends {
            format!(
                "in the network `{}` they take as long as their messages do: the network `ideal` has work",
                network.about.name
            )
        } else if self.failures.is_some() {
            "with `failures` the nodes on which they would go on may not come back".to_owned()
        } else {
            return Ok(());
        };
        let name = scheduler.about.name;
        let says = format!(
            "the scheduler `{name}` suspends jobs to go on with the work that is left, but {beside}"
        );
        Err(Problem::new("scheduler", says))
    }

    /// Checks that the communication pattern serves the number of nodes of every drawn job size.
    ///
    /// Sizes are first converted to requests that the allocators accept. Sizes from logs, and of
    /// parts of split jobs, are known only when these jobs start.
    fn check_pattern(&self) -> Result<(), Problem> {
        let network = self.params.component("network", &network::FAMILY);
        let workload = self.params.component("workload", &workload::FAMILY);
        let Some(pattern) = network.get_component("pattern", &pattern::FAMILY) else {
            return Ok(());
        };
        let pattern: &PatternEntry = pattern.entry();
        let sizes =
            workload.get_component("sizes", &SIZES).filter(|_| !workload.has("split_above"));
        let (true, Some(sizes)) = (pattern.in_powers_of_two, sizes) else { return Ok(()) };
        let shape = self.shape();
        let largest = self.setting(&shape, 0, &NoInputs).largest().clone();
        let sizes = Sizes::on_sites(&sizes, &largest, &self.topologies())?;
        let rule = workload.meaning(SHAPE.name, &SHAPES);
        for site in &self.machine {
            let asks = site.entry.0.asks;
            let shaped = |request: Request| shaped(&request, asks, &site.topology, rule);
            for request in sizes.samples().filter_map(shaped) {
                pattern.serves(request.nodes()).map_err(|error| {
                    Problem::new(join(network.path(), "pattern"), error.to_string())
                })?;
            }
        }
        Ok(())
    }
}
