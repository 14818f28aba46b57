//! Batch script of a sweep's job array, made to be edited: directives on top, one command below.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::files::plain;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchSystem {
    Slurm,
    Pbs,
    Lsf,
    Hq,
}

#[derive(Clone, Debug)]
pub struct Script {
    pub engine: BatchSystem,
    pub name: String,
    /// Command that starts Meshwork: the absolute path of `meshwork`, or an interpreter with
    /// arguments.
    pub command: Vec<String>,
    pub folder: PathBuf,
    pub settings: Vec<String>,
    /// Number of the submission. The names of its files begin with it.
    pub number: u64,
    pub shards: u64,
    pub largest_array: u64,
    /// Maximum number of tasks that run at once. The script for HyperQueue ignores it.
    pub max_parallel: u64,
    pub time: Duration,
    pub memory: u64,
    pub partition: Option<String>,
    pub account: Option<String>,
    /// Options of a race, if the submission runs one of its rounds. `None` if it runs a study.
    pub race: Option<RaceWords>,
}

/// Command options in the batch script of a race.
///
/// One list is for the command that runs a round, the other for the command that submits the next
/// round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RaceWords {
    pub choice: Vec<String>,
    pub submission: Vec<String>,
}

/// Command to run, such as the submission of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub words: Vec<String>,
    /// File for standard input of the command; `None` if there is none.
    pub input: Option<PathBuf>,
}

pub const SUBMISSIONS: &str = "submit";

pub const LOGS: &str = "log";

/// Divisor of a task's time limit that gives the last part of it, in which no new run begins.
const LAST_PART: u32 = 20;

impl Script {
    /// Checks that the paths contain only characters that need no quotes in a batch script.
    pub fn check(&self) -> Result<(), String> {
        let fits = |c: char| c.is_alphanumeric() || "/._-+@:,=~".contains(c);
        let folder = self.folder.to_string_lossy();
        let unfit = std::iter::once(&*folder)
            .chain(self.command.iter().map(String::as_str))
            .find(|word| !word.chars().all(fits));
        unfit.map_or(Ok(()), |word| {
            Err(format!(
                "{word}: the script of an engine cannot name this path: give one of letters, digits and the signs \
                 / . _ - + @ : , = ~"
            ))
        })
    }

    pub fn path(&self) -> PathBuf {
        self.beside("sh")
    }

    pub fn deal(&self) -> PathBuf {
        self.beside("deal.csv")
    }

    pub fn collect_path(&self) -> PathBuf {
        self.beside("collect.sh")
    }

    fn beside(&self, ending: &str) -> PathBuf {
        self.folder.join(SUBMISSIONS).join(format!("{}.{ending}", self.number))
    }

    fn log(&self, name: &str) -> String {
        self.folder.join(LOGS).join(name).display().to_string()
    }

    /// First shard and number of tasks of each job array of the sweep. There are several arrays if
    /// a single one may not hold all shards.
    pub fn arrays(&self) -> Vec<(u64, u64)> {
        let largest = self.largest_array.max(1);
        (0..self.shards)
            .step_by(usize::try_from(largest).unwrap_or(usize::MAX))
            .map(|first| (first, largest.min(self.shards - first)))
            .collect()
    }

    fn at_once(&self) -> u64 {
        (self.max_parallel / self.arrays().len().max(1) as u64).max(1)
    }

    /// Maximum number of tasks of all arrays at once; `None` for HyperQueue, which decides itself.
    pub fn all_at_once(&self) -> Option<u64> {
        let arrays = self.arrays().len() as u64;
        (self.engine != BatchSystem::Hq).then(|| self.at_once() * arrays)
    }

    /// Range of task numbers of an array with `count` tasks, in the workload manager's syntax.
    fn tasks(&self, count: u64) -> String {
        let last = count - 1;
        match self.engine {
            BatchSystem::Lsf => format!("[1-{count}]%{}", self.at_once()),
            BatchSystem::Hq => format!("0-{last}"),
            BatchSystem::Slurm | BatchSystem::Pbs => format!("0-{last}%{}", self.at_once()),
        }
    }

    fn job(&self) -> String {
        let name: String = plain(&self.name).chars().take(15).collect();
        if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("m{name}") }
    }

    pub fn text(&self) -> String {
        let mut text = "#!/bin/bash\n".to_owned();
        let arrays = self.arrays();
        let index = self.index();
        text += &self.directives(self.options(arrays[0].1));
        let budget = (self.time - self.time / LAST_PART).as_secs().max(1);
        let settings = self.settings();
        let (command, what, limit) = match &self.race {
            None => (
                "run",
                format!("--deal {}", self.deal().display()),
                format!("--time-budget {budget}s"),
            ),
            Some(race) => ("choose", words(&race.choice), format!("--budget {budget}s")),
        };
        write!(
            text,
            "\n# One of {} shards of {}. What has ended is kept, so any task may be run again.\n\
             exec {} {command} {}{settings} \\\n    --out {} \\\n    {what} \\\n    \
             --shard {index}/{} --threads 1 {limit}\n",
            self.shards,
            self.name.replace(char::is_control, " "),
            self.command.join(" "),
            self.folder.join("experiment.toml").display(),
            self.folder.display(),
            self.shards
        )
        .expect("a text takes all");
        text
    }

    /// The study's `--set` options as text for a shell, each with a space before it.
    fn settings(&self) -> String {
        self.settings.iter().map(|setting| format!(" --set {}", quoted(setting))).collect()
    }

    /// Shell expression that computes the index of a task's shard.
    fn index(&self) -> String {
        let is_split = self.arrays().len() > 1;
        if self.shards == 1 {
            return "0".to_owned();
        }
        let first = if is_split { "${MESHWORK_FIRST:-0} + " } else { "" };
        match self.engine {
            BatchSystem::Slurm if is_split => "$((${1:-0} + SLURM_ARRAY_TASK_ID))".to_owned(),
            BatchSystem::Slurm => "${SLURM_ARRAY_TASK_ID}".to_owned(),
            BatchSystem::Pbs if is_split => format!("$(({first}PBS_ARRAY_INDEX))"),
            BatchSystem::Pbs => "${PBS_ARRAY_INDEX}".to_owned(),
            BatchSystem::Lsf => format!("$(({first}LSB_JOBINDEX - 1))"),
            BatchSystem::Hq => "${HQ_TASK_ID}".to_owned(),
        }
    }

    /// Lines with options for the workload manager, and with the names of queue and account.
    fn directives(&self, mut options: Vec<String>) -> String {
        let (mark, queue, account) = match self.engine {
            BatchSystem::Slurm => ("SBATCH", "--partition=", "--account="),
            BatchSystem::Pbs => ("PBS", "-q ", "-A "),
            BatchSystem::Lsf => ("BSUB", "-q ", "-P "),
            // HyperQueue has neither queues nor accounts.
            BatchSystem::Hq => ("HQ", "", ""),
        };
        for (option, value) in [(queue, &self.partition), (account, &self.account)] {
            let value = value.iter().filter(|_| !option.is_empty());
            options.extend(value.map(|value| format!("{option}{value}")));
        }
        options.iter().map(|option| format!("#{mark} {option}\n")).collect()
    }

    fn options(&self, count: u64) -> Vec<String> {
        let tasks = self.tasks(count);
        let is_array = self.shards > 1;
        let (job, mebibytes) = (self.job(), self.memory.div_ceil(1 << 20));
        let clock = clock(self.time);
        let log = |of_task: &str, of_job: &str| self.log(if is_array { of_task } else { of_job });
        let (name, array, others) = match self.engine {
            BatchSystem::Slurm => {
                let others = vec![
                    "--ntasks=1 --cpus-per-task=1".to_owned(),
                    format!("--mem={mebibytes}M"),
                    format!("--time={clock}"),
                    format!("--output={}", log("%A_%a.log", "%j.log")),
                    "--open-mode=append".to_owned(),
                    "--requeue".to_owned(),
                    "--signal=B:TERM@60".to_owned(),
                ];
                (format!("--job-name={job}"), format!("--array={tasks}"), others)
            }
            BatchSystem::Pbs => {
                let others = vec![
                    format!("-l select=1:ncpus=1:mem={mebibytes}mb"),
                    format!("-l walltime={clock}"),
                    format!("-o {}/", self.log("")).replace("//", "/"),
                    "-j oe".to_owned(),
                    "-r y".to_owned(),
                ];
                (format!("-N {job}"), format!("-J {tasks}"), others)
            }
            BatchSystem::Lsf => {
                let tasks = if is_array { tasks } else { String::new() };
                return vec![
                    format!("-J \"{job}{tasks}\""),
                    "-n 1".to_owned(),
                    format!("-M {mebibytes}MB"),
                    format!("-W {}", self.time.as_secs().div_ceil(60)),
                    format!("-o {}", log("%J_%I.log", "%J.log")),
                    "-r".to_owned(),
                    "-wa TERM -wt 1".to_owned(),
                ];
            }
            BatchSystem::Hq => {
                let others = vec![
                    "--cpus 1".to_owned(),
                    format!("--time-limit {}s", self.time.as_secs()),
                    format!("--stdout {}", self.log("%{JOB_ID}_%{TASK_ID}.log")),
                    format!("--stderr {}", self.log("%{JOB_ID}_%{TASK_ID}.err")),
                ];
                (format!("--name {job}"), format!("--array {tasks}"), others)
            }
        };
        let array = is_array.then_some(array);
        std::iter::once(name).chain(array).chain(others).collect()
    }

    pub fn calls(&self) -> Vec<Call> {
        let path = self.path().display().to_string();
        let arrays = self.arrays();
        let is_split = arrays.len() > 1;
        let call = |(first, count): &(u64, u64)| {
            let mut words: Vec<String> = Vec::new();
            let mut input = None;
            match self.engine {
                BatchSystem::Slurm => {
                    words.extend(["sbatch".to_owned(), "--parsable".to_owned()]);
                    if is_split {
                        words.push(format!("--array={}", self.tasks(*count)));
                    }
                    words.push(path.clone());
                    words.extend(is_split.then(|| first.to_string()));
                }
                BatchSystem::Pbs => {
                    words.push("qsub".to_owned());
                    if is_split {
                        words.extend(["-J".to_owned(), self.tasks(*count)]);
                        words.extend(["-v".to_owned(), format!("MESHWORK_FIRST={first}")]);
                    }
                    words.push(path.clone());
                }
                BatchSystem::Lsf => {
                    words.push("bsub".to_owned());
                    if is_split {
                        let job = format!("{}{}", self.job(), self.tasks(*count));
                        words.extend(["-J".to_owned(), job]);
                        words.extend(["-env".to_owned(), format!("all,MESHWORK_FIRST={first}")]);
                    }
                    input = Some(self.path());
                }
                BatchSystem::Hq => {
                    words.extend(["hq", "--output-mode", "quiet", "submit"].map(str::to_owned));
                    words.push(path.clone());
                }
            }
            Call { words, input }
        };
        arrays.iter().map(call).collect()
    }

    pub fn collect_text(&self) -> String {
        let job: String = format!("c{}", self.job()).chars().take(15).collect();
        let log = self.log(&format!("{}.collect.log", self.number));
        let options = match self.engine {
            BatchSystem::Slurm => vec![
                format!("--job-name={job}"),
                "--ntasks=1 --cpus-per-task=1 --mem=1G --time=01:00:00".to_owned(),
                format!("--output={log}"),
            ],
            BatchSystem::Pbs => vec![
                format!("-N {job}"),
                "-l select=1:ncpus=1:mem=1gb -l walltime=01:00:00".to_owned(),
                format!("-j oe -o {log}"),
            ],
            BatchSystem::Lsf => {
                vec![format!("-J {job}"), "-n 1 -M 1024MB -W 60".to_owned(), format!("-o {log}")]
            }
            BatchSystem::Hq => Vec::new(),
        };
        let mut text = format!("#!/bin/bash\n{}", self.directives(options));
        let (command, folder) = (self.command.join(" "), self.folder.display());
        match &self.race {
            None => writeln!(text, "exec {command} collect {folder}").expect("a text takes all"),
            Some(race) => write!(
                text,
                "{command} collect {folder}\n\n# The next round, or the result.\n\
                 exec {command} submit {}{} \\\n    --out {folder} --engine {} {} \\\n    --choose {} --missing\n",
                self.folder.join("experiment.toml").display(),
                self.settings(),
                self.engine.name(),
                words(&race.submission),
                words(&race.choice)
            )
            .expect("a text takes all"),
        }
        text
    }

    /// Command that submits the merge script, which is to start after the jobs `jobs` have ended.
    /// `None` if the workload manager cannot make a job wait for others.
    pub fn collect_call(&self, jobs: &[String]) -> Option<Call> {
        let path = self.collect_path().display().to_string();
        let after = jobs.join(":");
        let words: Vec<String> = match self.engine {
            BatchSystem::Slurm => vec![
                "sbatch".to_owned(),
                "--parsable".to_owned(),
                format!("--dependency=afterany:{after}"),
                "--kill-on-invalid-dep=yes".to_owned(),
                path,
            ],
            BatchSystem::Pbs => {
                vec!["qsub".to_owned(), "-W".to_owned(), format!("depend=afterany:{after}"), path]
            }
            BatchSystem::Lsf => {
                let ended: Vec<String> = jobs.iter().map(|job| format!("ended({job})")).collect();
                let input = Some(self.collect_path());
                let words = vec!["bsub".to_owned(), "-w".to_owned(), ended.join(" && ")];
                return Some(Call { words, input });
            }
            BatchSystem::Hq => return None,
        };
        Some(Call { words, input: None })
    }
}

impl BatchSystem {
    /// Parses the job id from the output of a submission.
    ///
    /// ```
    /// use meshwork_lab::sweep::script::BatchSystem;
    /// assert_eq!(BatchSystem::Slurm.job("123;cluster\n").as_deref(), Some("123"));
    /// assert_eq!(BatchSystem::Lsf.job("Job <7> is submitted to queue <q>.\n").as_deref(), Some("7"));
    /// ```
    pub fn job(self, answer: &str) -> Option<String> {
        let line = answer.lines().rev().find(|line| !line.trim().is_empty())?.trim();
        let number = match self {
            BatchSystem::Slurm => line.split(';').next()?,
            BatchSystem::Pbs | BatchSystem::Hq => line,
            BatchSystem::Lsf => answer.split_once('<')?.1.split_once('>')?.0,
        };
        let fits = |c: char| c.is_ascii_alphanumeric() || "[].-_".contains(c);
        (!number.is_empty() && number.chars().all(fits)).then(|| number.to_owned())
    }

    pub fn name(self) -> &'static str {
        match self {
            BatchSystem::Slurm => "slurm",
            BatchSystem::Pbs => "pbs",
            BatchSystem::Lsf => "lsf",
            BatchSystem::Hq => "hq",
        }
    }
}

/// Parses `MaxArraySize`, the exclusive limit of task numbers, from `scontrol show config`.
///
/// ```
/// use meshwork_lab::sweep::script::max_array_size;
/// assert_eq!(max_array_size("MaxArraySize            = 1001\nMaxJobCount = 10000"), Some(1001));
/// ```
pub fn max_array_size(config: &str) -> Option<u64> {
    let line = config.lines().find(|line| line.trim_start().starts_with("MaxArraySize"))?;
    line.split_once('=')?.1.trim().parse().ok()
}

fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

fn words(words: &[String]) -> String {
    let call = Call { words: words.to_vec(), input: None };
    shown(&call)
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Formats a command as a user would type it in a shell.
pub fn shown(call: &Call) -> String {
    let plain = |word: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || "/._-+@:,=~%".contains(c);
        if word.chars().all(fits) { word.to_owned() } else { quoted(word) }
    };
    let words: Vec<String> = call.words.iter().map(|word| plain(word)).collect();
    let input = call.input.as_deref().map(Path::display);
    input.map_or_else(|| words.join(" "), |input| format!("{} < {input}", words.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(engine: BatchSystem, shards: u64, largest_array: u64) -> Script {
        Script {
            engine,
            name: "my study".to_owned(),
            command: vec!["/opt/meshwork".to_owned()],
            folder: PathBuf::from("/s/out"),
            settings: vec!["workload.load=0.7".to_owned(), "name='it''s'".to_owned()],
            number: 1,
            shards,
            largest_array,
            max_parallel: 200,
            time: Duration::from_secs(3600),
            memory: 1 << 30,
            partition: Some("short".to_owned()),
            account: None,
            race: None,
        }
    }

    #[test]
    fn arrays_are_split_where_they_are_too_long() {
        assert_eq!(script(BatchSystem::Slurm, 20, 1001).arrays(), [(0, 20)]);
        let long = script(BatchSystem::Slurm, 2500, 1001);
        assert_eq!(long.arrays(), [(0, 1001), (1001, 1001), (2002, 498)]);
        let calls: Vec<String> = long.calls().iter().map(shown).collect();
        assert_eq!(calls[1], "sbatch --parsable --array=0-1000%66 /s/out/submit/1.sh 1001");
        assert!(long.text().contains("--shard $((${1:-0} + SLURM_ARRAY_TASK_ID))/2500"));
        let short = Script { max_parallel: 2, ..script(BatchSystem::Slurm, 3, 1) };
        assert_eq!(short.arrays(), [(0, 1), (1, 1), (2, 1)]);
        assert_eq!((long.all_at_once(), short.all_at_once()), (Some(198), Some(3)));
        assert_eq!(script(BatchSystem::Hq, 3, 1001).all_at_once(), None);
    }

    #[test]
    fn a_script_for_each_engine_as_it_is_read() {
        let text = script(BatchSystem::Slurm, 20, 1001).text();
        assert_eq!(
            text,
            "#!/bin/bash\n#SBATCH --job-name=my-study\n#SBATCH --array=0-19%200\n\
             #SBATCH --ntasks=1 --cpus-per-task=1\n#SBATCH --mem=1024M\n#SBATCH --time=01:00:00\n\
             #SBATCH --output=/s/out/log/%A_%a.log\n#SBATCH --open-mode=append\n#SBATCH --requeue\n\
             #SBATCH --signal=B:TERM@60\n#SBATCH --partition=short\n\n\
             # One of 20 shards of my study. What has ended is kept, so any task may be run again.\n\
             exec /opt/meshwork run /s/out/experiment.toml --set 'workload.load=0.7' --set 'name='\\''it'\\'''\\''s'\\''' \\\n    \
             --out /s/out \\\n    --deal /s/out/submit/1.deal.csv \\\n    \
             --shard ${SLURM_ARRAY_TASK_ID}/20 --threads 1 --time-budget 3420s\n"
        );
        let pbs = script(BatchSystem::Pbs, 20, u64::MAX).text();
        for line in [
            "#PBS -J 0-19%200\n",
            "#PBS -l walltime=01:00:00\n",
            "#PBS -o /s/out/log/\n",
            "--shard ${PBS_ARRAY_INDEX}/20",
        ] {
            assert!(pbs.contains(line), "{line} in {pbs}");
        }
        let lsf = script(BatchSystem::Lsf, 20, u64::MAX).text();
        for line in [
            "#BSUB -J \"my-study[1-20]%200\"\n",
            "#BSUB -W 60\n",
            "--shard $((LSB_JOBINDEX - 1))/20",
        ] {
            assert!(lsf.contains(line), "{line} in {lsf}");
        }
        let hq = script(BatchSystem::Hq, 20, u64::MAX).text();
        for line in ["#HQ --array 0-19\n", "#HQ --time-limit 3600s\n", "--shard ${HQ_TASK_ID}/20"] {
            assert!(hq.contains(line), "{line} in {hq}");
        }
        for engine in [BatchSystem::Slurm, BatchSystem::Pbs, BatchSystem::Lsf, BatchSystem::Hq] {
            let one = script(engine, 1, u64::MAX).text();
            assert!(one.contains("--shard 0/1") && !one.contains("rray"), "{one}");
        }
    }

    #[test]
    fn jobs_are_collected_after_all_of_them() {
        let jobs = ["7".to_owned(), "8".to_owned()];
        let of = |engine| script(engine, 20, 10).collect_call(&jobs).as_ref().map(shown);
        assert_eq!(
            of(BatchSystem::Slurm).unwrap(),
            "sbatch --parsable --dependency=afterany:7:8 --kill-on-invalid-dep=yes /s/out/submit/1.collect.sh"
        );
        assert_eq!(
            of(BatchSystem::Pbs).unwrap(),
            "qsub -W depend=afterany:7:8 /s/out/submit/1.collect.sh"
        );
        assert_eq!(
            of(BatchSystem::Lsf).unwrap(),
            "bsub -w 'ended(7) && ended(8)' < /s/out/submit/1.collect.sh"
        );
        assert_eq!(of(BatchSystem::Hq), None);
    }

    #[test]
    fn a_round_of_a_race_is_followed_by_the_next() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect();
        let mut script = script(BatchSystem::Slurm, 20, 1001);
        script.settings.truncate(1);
        script.race = Some(RaceWords {
            choice: words("--within 5% --baseline scheduler=easy"),
            submission: words("--shards 20 --time 3600s"),
        });
        let text = script.text();
        assert!(
            text.ends_with(
                "exec /opt/meshwork choose /s/out/experiment.toml --set 'workload.load=0.7' \\\n    --out /s/out \\\n    \
                 --within 5% --baseline scheduler=easy \\\n    --shard ${SLURM_ARRAY_TASK_ID}/20 --threads 1 --budget 3420s\n"
            ),
            "{text}"
        );
        let text = script.collect_text();
        assert!(
            text.ends_with(
                "/opt/meshwork collect /s/out\n\n# The next round, or the result.\nexec /opt/meshwork submit \
                 /s/out/experiment.toml --set 'workload.load=0.7' \\\n    --out /s/out --engine slurm --shards 20 --time 3600s \
                 \\\n    --choose --within 5% --baseline scheduler=easy --missing\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_path_that_a_script_cannot_name_is_refused() {
        let mut script = script(BatchSystem::Slurm, 1, 1001);
        assert_eq!(script.check(), Ok(()));
        script.folder = PathBuf::from("/s/my results");
        assert!(script.check().unwrap_err().starts_with("/s/my results: the script of an engine"));
    }
}
