//! `meshwork submit`: runs a study as jobs of a workload manager.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use meshwork::catalogue::Catalogue;
use meshwork_lab::Study;
use meshwork_lab::choose::request::ChoiceRequest;
use meshwork_lab::choose::{ChooseOptions, choose, next_round};
use meshwork_lab::files::{FileError, write_whole};
use meshwork_lab::run::build;
use meshwork_lab::run::store::SEGMENTS;
use meshwork_lab::sweep::script::{
    self, Call, LOGS, RaceWords, SUBMISSIONS, Script, max_array_size, shown,
};
use meshwork_lab::sweep::{SubmissionPlan, collect, next_submission, plan};
use meshwork_lab::text::number::{count, plural};

use super::queue::JOBS;
use crate::args::{Engine, Shards, Submit};
use crate::memory::Memory;
use crate::output::{Ended, Output, Stop, Verdict, say};

/// Default of `MaxArraySize`, which limits the tasks of an array.
const SLURM_DEFAULT: u64 = 1001;

pub(crate) fn run(out: &mut Output, catalogue: &Catalogue, arguments: &Submit) -> Ended {
    let study = Study::read_in(catalogue, &arguments.file, &arguments.settings)?;
    let folder = std::path::absolute(&arguments.out)
        .map_err(|error| Stop::Wrong(format!("{}: {error}", arguments.out.display())))?;
    let request = arguments.options.request();
    if !arguments.choose && request != ChoiceRequest::default() {
        return Err(Stop::Wrong(format!(
            "{}: these are options of a race: give --choose too, or leave them out",
            request.words().join(" ")
        )));
    }
    let number = next_submission(&folder);
    if number > 1 && !arguments.missing {
        return Err(Stop::Wrong(format!(
            "{}: this sweep was submitted before ({}): give `--missing` to deal again what has not ended",
            arguments.out.display(),
            folder.join(SUBMISSIONS).join(format!("{}.deal.csv", number - 1)).display()
        )));
    }
    let mut script = Script {
        engine: engine(arguments.engine),
        name: study.name.clone(),
        command: program()?,
        folder: folder.clone(),
        settings: arguments.settings.clone(),
        number,
        shards: 1,
        largest_array: u64::MAX,
        max_parallel: arguments.max_parallel,
        time: arguments.time,
        memory: arguments.mem,
        partition: arguments.partition.clone(),
        account: arguments.account.clone(),
        race: arguments
            .choose
            .then(|| RaceWords { choice: request.words(), submission: submission(arguments) }),
    };
    script.check().map_err(Stop::Wrong)?;
    let build = build::of(&study.catalogue);
    let limit = Memory::default().limit();
    let plan = if arguments.choose {
        let options = ChooseOptions {
            request,
            out: Some(folder.clone()),
            max_memory: limit,
            build,
            ..ChooseOptions::default()
        };
        let writes = !arguments.dry_run;
        if writes && folder.join(SEGMENTS).is_dir() {
            collect(catalogue, &folder)?;
        }
        let round = next_round(&study, &options, &folder, writes)?;
        if round.is_over && writes {
            // The stored runs already decide the race, so no job is submitted. The winner is
            // measured in this process, by about forty further runs.
            let choice = choose(&study, &options)?;
            return super::choose::printed(out, &choice, Some(&folder), false, false);
        }
        SubmissionPlan { deal: round.deal, is_measured: false, at_work: 0 }
    } else {
        plan(&study, &folder, &build, limit, !arguments.dry_run)?
    };
    if plan.deal.units.is_empty() {
        out.line(&format!(
            "{}: nothing is missing, so nothing is submitted: `meshwork collect` puts it together",
            arguments.out.display()
        ))?;
        return Ok(Verdict::Done);
    }
    if plan.at_work > 0 {
        say(
            "warning",
            &format!(
                "{}: {} still at work here: what it has not ended is dealt again, and run twice",
                arguments.out.display(),
                plural(plan.at_work, "process")
            ),
        );
    }
    script.shards = shards(arguments, &plan);
    if arguments.engine == Engine::Slurm {
        script.largest_array = largest_array(arguments, script.shards)?;
    }
    if arguments.dry_run {
        return dry(out, &script);
    }
    let kept = keep(&script, &plan);
    kept.map_err(|error| Stop::Failed(error.to_string()))?;
    submit(out, arguments, &script, &plan)
}

/// Arguments with which the batch script submits the next round of a race of scenarios.
fn submission(arguments: &Submit) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
    if let Shards::Given(given) = arguments.shards {
        add("--shards", given.to_string());
    }
    add("--max-parallel", arguments.max_parallel.to_string());
    add("--time", format!("{}s", arguments.time.as_secs()));
    add("--mem", arguments.mem.to_string());
    for (option, value) in
        [("--partition", &arguments.partition), ("--account", &arguments.account)]
    {
        value.iter().for_each(|value| add(option, value.clone()));
    }
    words
}

/// Path of this program, or under Python the interpreter with `-m meshwork`.
fn program() -> Result<Vec<String>, Stop> {
    let path = std::env::current_exe().map_err(|error| {
        Stop::Failed(format!("the path of this program is not known ({error})"))
    })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_python = name.starts_with("python") || name.starts_with("pypy");
    let mut words = vec![path.to_string_lossy().into_owned()];
    words.extend(["-m", "meshwork"].into_iter().filter(|_| is_python).map(str::to_owned));
    Ok(words)
}

fn engine(engine: Engine) -> script::BatchSystem {
    match engine {
        Engine::Slurm => script::BatchSystem::Slurm,
        Engine::Pbs => script::BatchSystem::Pbs,
        Engine::Lsf => script::BatchSystem::Lsf,
        Engine::Hq => script::BatchSystem::Hq,
    }
}

/// Number of shards. It is at most the number of units: single runs, or all runs of a scenario.
fn shards(arguments: &Submit, plan: &SubmissionPlan) -> u64 {
    match arguments.shards {
        Shards::Auto => plan.shards(arguments.time, arguments.max_parallel),
        Shards::Given(given) => given.min(plan.deal.units.len() as u64),
    }
}

/// Maximum number of tasks of an array job, as configured in Slurm on this computer.
fn largest_array(arguments: &Submit, shards: u64) -> Result<u64, Stop> {
    let config = Command::new("scontrol").args(["show", "config"]).stdin(Stdio::null()).output();
    let told =
        config.ok().and_then(|output| max_array_size(&String::from_utf8_lossy(&output.stdout)));
    let largest = told.unwrap_or(SLURM_DEFAULT);
    if largest < 2 && shards > 1 {
        return Err(Stop::Wrong(format!(
            "this Slurm allows no arrays (MaxArraySize is {largest}), so {shards} shards cannot be submitted as one: \
             give `--shards 1`, or submit `meshwork run {} --out {} --shard I/{shards}` for each I from 0 to {} by hand",
            arguments.file.display(),
            arguments.out.display(),
            shards - 1
        )));
    }
    Ok(largest)
}

/// Prints the batch script and the commands that would submit it, but runs nothing.
fn dry(out: &mut Output, script: &Script) -> Ended {
    out.text(&script.text())?;
    out.line("")?;
    for call in script.calls() {
        out.line(&format!("# would call: {}", shown(&call)))?;
    }
    let jobs: Vec<String> = script.calls().iter().map(|_| "JOB".to_owned()).collect();
    if let Some(call) = script.collect_call(&jobs) {
        out.line(&format!("# and then: {}", shown(&call)))?;
    }
    Ok(Verdict::Done)
}

fn keep(script: &Script, plan: &SubmissionPlan) -> Result<(), FileError> {
    for name in [SUBMISSIONS, LOGS] {
        let folder = script.folder.join(name);
        fs::create_dir_all(&folder).map_err(|error| FileError::making(&folder, &error))?;
    }
    write_whole(&script.deal(), plan.deal.text().as_bytes())?;
    for (path, text) in
        [(script.path(), script.text()), (script.collect_path(), script.collect_text())]
    {
        write_whole(&path, text.as_bytes())?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            // A failure is harmless: workload managers only read the script.
            let _ = fs::set_permissions(&path, fs::Permissions::from_mode(0o755));
        }
    }
    Ok(())
}

fn submit(out: &mut Output, arguments: &Submit, script: &Script, plan: &SubmissionPlan) -> Ended {
    let path = script.path();
    let mut jobs = Vec::new();
    for call in script.calls() {
        jobs.push(answered(&call, script.engine, &path)?);
    }
    let shown_jobs = jobs.join(", ");
    let shown_path = path.display();
    out.line(&format!(
        "submitted: {} of {} as {} ({shown_path})",
        plural(script.shards, "shard"),
        plural(plan.deal.units.len() as u64, "part"),
        if jobs.len() == 1 { format!("job {shown_jobs}") } else { format!("jobs {shown_jobs}") },
    ))?;
    note_jobs(script, &jobs);
    match script.collect_call(&jobs) {
        Some(call) => {
            let job = answered(&call, script.engine, &script.collect_path())?;
            out.line(&format!("collected by job {job}, once they have ended"))?;
        }
        None => out
            .line(&format!("once they have ended: meshwork collect {}", arguments.out.display()))?,
    }
    let at_once = match script.all_at_once() {
        Some(most) => format!("at most {} at once", count(most)),
        None => "HyperQueue decides how many run at once".to_owned(),
    };
    out.line(&format!("how far it is: meshwork status {}; {at_once}", arguments.out.display()))?;
    Ok(Verdict::Done)
}

/// Appends job numbers to a file, for users and for `meshwork status`.
fn note_jobs(script: &Script, jobs: &[String]) {
    let path = script.folder.join(SUBMISSIONS).join(JOBS);
    let mut text = fs::read_to_string(&path).unwrap_or_default();
    for job in jobs {
        text += &format!("{} {job}\n", script.engine.name());
    }
    // A failure is harmless: without the file, `meshwork status` only lacks the states of the jobs.
    let _ = write_whole(&path, text.as_bytes());
}

/// Runs a program of the workload manager. Returns the job number in its output.
fn answered(call: &Call, engine: script::BatchSystem, path: &Path) -> Result<String, Stop> {
    let program = &call.words[0];
    let failed = |why: String| {
        Stop::Failed(format!(
            "{why}: the script is kept, {}; `{}` submits it",
            path.display(),
            shown(call)
        ))
    };
    let input = match &call.input {
        Some(file) => Stdio::from(
            File::open(file).map_err(|error| failed(format!("{} ({error})", file.display())))?,
        ),
        None => Stdio::null(),
    };
    let output = Command::new(program).args(&call.words[1..]).stdin(input).output();
    let output = output.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => failed(format!(
            "{program}: there is no such program on the path, so nothing was submitted; call this on a computer that \
             has it, such as the login node of the cluster, or give another `--engine`"
        )),
        _ => failed(format!("{program} cannot be started ({error})")),
    })?;
    let _ = io::stdout().flush();
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().replace('\n', "; ");
    if !output.status.success() {
        return Err(failed(format!(
            "{program} refused the script, and says: {}",
            words(&output.stderr)
        )));
    }
    let answer = String::from_utf8_lossy(&output.stdout).into_owned();
    engine.job(&answer).ok_or_else(|| {
        failed(format!(
            "{program} has answered without a number of a job: {}",
            words(&output.stdout)
        ))
    })
}
