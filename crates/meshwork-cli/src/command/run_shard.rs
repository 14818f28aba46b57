//! `meshwork run --shard`: runs one part of a study, whose results are collected later.

use meshwork::catalogue::Catalogue;
use meshwork_lab::Study;
use meshwork_lab::run::{RunProgress, build};
use meshwork_lab::sweep::{Shard, ShardWork, run_shard};
use meshwork_lab::text::number::{count, plural};

use super::meter::Meter;
use super::stop::Stopper;
use crate::args::Run;
use crate::output::{Ended, Output, Stop, Verdict, warn};

pub(super) fn run(
    out: &mut Output,
    catalogue: &Catalogue,
    arguments: &Run,
    shard: &str,
    stopper: &Stopper,
) -> Ended {
    let wrong = |sentence: String| Stop::Wrong(sentence);
    let shard = Shard::read(shard, |name| std::env::var(name).ok())
        .map_err(|sentence| wrong(format!("--shard: {sentence}")))?;
    let Some(folder) = &arguments.out else {
        return Err(wrong(format!(
            "--shard {shard}: there is no folder for what its runs give: give `--out DIR`, the same for all shards"
        )));
    };
    let [file] = &arguments.files[..] else {
        return Err(wrong(format!(
            "--shard {shard}: {} studies are given, but a shard is a part of one: give one study",
            arguments.files.len()
        )));
    };
    let study = Study::read_in(catalogue, file, &arguments.settings)?;
    let meter = if arguments.quiet { Meter::silent() } else { Meter::new("run") };
    let show = |progress: RunProgress| meter.show(progress);
    let ended = run_shard(
        &study,
        &ShardWork {
            folder: folder.clone(),
            shard,
            deal: arguments.deal.clone(),
            threads: arguments.threads.unwrap_or(0),
            max_memory: arguments.memory.limit(),
            progress: &show,
            watcher: None,
            build: build::of(&study.catalogue),
            stop: &|| stopper.is_time(),
        },
    );
    meter.end();
    let ended = ended?;
    let RunProgress { done, total, reused, failed, .. } = ended.progress;
    if !arguments.quiet {
        let reused = match reused {
            0 => String::new(),
            some => format!(", {} of them before", count(some)),
        };
        let failed = match failed {
            0 => String::new(),
            some => format!(", {} failed", count(some)),
        };
        out.line(&format!(
            "shard {shard}: {} of {} ended{reused}{failed}",
            count(done - ended.progress.failed),
            plural(total, "run")
        ))?;
        out.flush()?;
        warn(&ended.warnings);
    }
    super::run::complain(&ended.failures);
    if ended.stopped {
        return Ok(stopper.verdict());
    }
    Ok(if ended.failures.is_empty() { Verdict::Done } else { Verdict::RunFailed })
}
