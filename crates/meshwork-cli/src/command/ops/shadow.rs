//! `meshwork ops shadow`: observes a running Slurm, and prints what a policy would do instead.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use meshwork::catalogue::Catalogue;
use meshwork_lab::files::write_whole;
use meshwork_lab::slurm::folder::{Folder, SlurmMachine};
use meshwork_operator::live::process::ProcessCommands;
use meshwork_operator::live::shadow::{ShadowedStart, SiteShadow};
use meshwork_operator::quality;
use meshwork_slurm::sacct;

use super::live::{EndsFile, MetricsServer, Pause, machine, policy};
use crate::args::ops;
use crate::command::stop::Stopper;
use crate::output::{Ended, Output, Stop, Verdict, say};

/// File with the recorded starts of jobs, in the folder of `--out`.
const STARTS: &str = "starts.jsonl";
const PAGE: &str = "shadow.html";
/// Time between two writes of the history.
const WRITES: Duration = Duration::from_secs(60);

pub(super) fn run(out: &mut Output, catalogue: &Catalogue, asked: &ops::Shadow) -> Ended {
    let machine = machine(&asked.live.site)?;
    let partition = match &asked.partition {
        Some(name) => name.clone(),
        None => {
            let partitions = machine.reading.conf.iter().flat_map(|conf| &conf.partitions);
            let all: Vec<_> = partitions.collect();
            let own = all.iter().rfind(|own| own.is_default).or(all.first());
            own.map(|own| own.name.clone()).ok_or_else(|| {
                Stop::Wrong(format!("{}: there is no partition", asked.live.site.display()))
            })?
        }
    };
    let policy = policy(catalogue, &asked.live, &machine, &partition)?;
    let mut shadow = SiteShadow::new(&policy, &partition, machine.site(&partition).is_exclusive);
    let mut ends = EndsFile::new(&asked.live);
    shadow.ends = ends.renewed().map_err(Stop::Wrong)?.unwrap_or_default();
    let mut commands = ProcessCommands::new(asked.live.commands.clone());
    let server = MetricsServer::begin(asked.live.metrics)?;
    let pause = Pause::new(asked.live.poll, None)?;
    let stopper = Stopper::of_user(None);
    if let Some(folder) = &asked.out {
        if folder.join("jobs.csv").exists() {
            let shown = folder.display();
            let says = format!("{shown}: this folder has a history already: give another one");
            return Err(Stop::Wrong(says));
        }
        // Test at once whether the folder can be written, and not only after a day.
        write(folder, &machine, &shadow)?;
    }
    let (mut looks, mut was_away, mut written) = (0, false, Instant::now());
    while !stopper.is_time() && asked.live.looks.is_none_or(|most| looks < most) {
        let began = Instant::now();
        looks += 1;
        ends.renew(&mut shadow.ends);
        match shadow.look(&mut commands) {
            Ok(starts) => {
                was_away = false;
                for start in &starts {
                    if asked.json {
                        out.json(&start.json())?;
                    } else {
                        out.line(&start.sentence())?;
                    }
                    if let Some(folder) = &asked.out {
                        append(&folder.join(STARTS), start)?;
                    }
                }
                if !starts.is_empty() && !asked.json {
                    out.line(&shadow.summary.line())?;
                }
            }
            Err(says) => {
                shadow.metrics.missed();
                if !was_away {
                    say("warning", &format!("{says}: nothing is seen until Slurm answers"));
                }
                was_away = true;
            }
        }
        out.flush()?;
        server.publish(shadow.metrics.text());
        if let Some(folder) = asked.out.as_ref().filter(|_| written.elapsed() >= WRITES) {
            write(folder, &machine, &shadow)?;
            written = Instant::now();
        }
        if asked.live.looks.is_none_or(|most| looks < most) {
            pause.wait(began.elapsed());
        }
    }
    if let Some(folder) = &asked.out {
        write(folder, &machine, &shadow)?;
    }
    if !asked.json {
        out.text(&shadow.text())?;
        if let Some(folder) = &asked.out {
            out.line(&format!("written to {}", folder.display()))?;
        }
    }
    Ok(Verdict::Done)
}

fn write(folder: &Path, machine: &SlurmMachine, shadow: &SiteShadow<'_>) -> Result<(), Stop> {
    let history = shadow.history();
    let tally = sacct::Tally { rows: history.stays.len(), ..sacct::Tally::default() };
    let quality = quality::of("squeue", machine, &history, tally, Vec::new());
    Folder::write(folder, machine, &history, &quality.json()).map_err(Stop::Wrong)?;
    let page = shadow.page("Slurm and a policy, start by start");
    Ok(write_whole(&folder.join(PAGE), page.as_bytes())?)
}

fn append(path: &Path, start: &ShadowedStart) -> Result<(), Stop> {
    let failed = |error| Stop::Failed(format!("{}: {error}", path.display()));
    let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
    file.write_all(format!("{}\n", start.json()).as_bytes()).map_err(failed)
}
