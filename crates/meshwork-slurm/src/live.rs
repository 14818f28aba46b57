//! Arguments for `squeue`, `sinfo` and `scontrol` of a running Slurm, and their outputs.
//!
//! Users control parts of the outputs. So the fields of `squeue` are separated by a token that
//! users cannot know, names of jobs are never requested, and a line for `scontrol` has only checked
//! words.

use meshwork::job::hostlist;

/// Letters that select the fields to read, in the option `--format` of `squeue`.
const FIELDS: [char; 22] = [
    'i', 'A', 'P', 't', 'D', 'Q', 'r', 'N', 'n', 'x', 'E', 'V', 'S', 'e', 'l', 'f', 'v', 'b', 'u',
    'a', 'q', 'k',
];

/// Job in the output of `squeue`. Times are in seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueuedJob {
    /// Identifier that users see: `17`, `17_3` for a task of an array, or `17+1` for a component of
    /// a heterogeneous job.
    pub id: String,
    /// Number of the job's record in Slurm. Each task of an array has a record of its own.
    pub number: u64,
    pub partition: String,
    /// State as a code of Slurm, such as `PD` for pending or `R` for running.
    pub state: String,
    /// Number of nodes that the job holds. For a waiting job, it is the most that the job requests.
    pub nodes: u32,
    /// Priority of the job; 0 if the job is held.
    pub priority: u64,
    pub reason: String,
    /// Held nodes as a host list.
    pub has: String,
    /// Required nodes as a host list.
    pub requires: String,
    pub excludes: String,
    pub dependency: String,
    pub submitted: Option<i64>,
    /// Start time in seconds since 1970.
    ///
    /// For a waiting job, it is the expected start or the earliest allowed start.
    pub start: Option<i64>,
    /// Time at which the job reaches its time limit, in seconds since 1970.
    pub end: Option<i64>,
    /// Time limit in seconds.
    pub limit: Option<i64>,
    pub features: String,
    pub reservation: String,
    /// Requested resources, such as GPUs, of each node.
    pub gres: String,
    pub user: String,
    pub account: String,
    pub qos: String,
    pub comment: String,
}

impl QueuedJob {
    pub fn is_pending(&self) -> bool {
        self.state == "PD"
    }

    /// Identity of the job: its id and its submission time.
    ///
    /// The id alone does not suffice, because a restarted controller may reuse job ids.
    pub fn key(&self) -> (String, i64) {
        (self.id.clone(), self.submitted.unwrap_or(0))
    }
}

/// Text of a field; empty for a word such as `N/A`.
fn filled(text: &str) -> String {
    let text = text.trim();
    let is_empty = ["(null)", "N/A", "n/a", "None", "NULL"].contains(&text);
    if is_empty { String::new() } else { text.to_owned() }
}

/// Arguments with which `squeue` lists all jobs.
///
/// In its output, `token` stands before each field, and before the end of each record.
pub fn queue_arguments(token: &str) -> Vec<String> {
    let mut format = String::new();
    for letter in FIELDS {
        format += token;
        format.push('%');
        format.push(letter);
    }
    // A line break within the last field is part of this field.
    format += token;
    format.push('.');
    let states = "PD,R,CG,S,CF,SO,ST,RS,SI";
    ["--noheader", "--all", "--array", "--states", states, "--format", &format]
        .map(str::to_owned)
        .to_vec()
}

/// Reads the output of `squeue` with [`queue_arguments`]; a record must have all fields.
pub fn read_queue(text: &str, token: &str) -> Result<Vec<QueuedJob>, String> {
    let mut jobs = Vec::new();
    let mut parts = text.split(token);
    // The text before the first record is skipped.
    parts.next();
    loop {
        let mut fields = [""; FIELDS.len()];
        for (place, field) in fields.iter_mut().enumerate() {
            match parts.next() {
                None if place == 0 => return Ok(jobs),
                Some(text) => *field = text,
                None => {
                    return Err(format!("squeue ended within the record of job {}", fields[0]));
                }
            }
        }
        if parts.next().is_none_or(|end| end.trim_end() != ".") {
            return Err(format!("squeue gave job {} other fields than asked for", fields[0]));
        }
        let of = |letter: char| {
            FIELDS.iter().position(|own| *own == letter).map_or("", |place| fields[place])
        };
        let (text, time) = (|letter| filled(of(letter)), |letter| of(letter).trim().parse().ok());
        let id = text('i');
        let number = |letter: char| {
            let said = of(letter).trim().parse::<u64>();
            said.map_err(|_| format!("squeue gave job {id} `{}` as a number", of(letter)))
        };
        jobs.push(QueuedJob {
            number: number('A')?,
            partition: text('P'),
            state: text('t'),
            nodes: u32::try_from(number('D')?).unwrap_or(u32::MAX),
            priority: number('Q')?,
            reason: text('r'),
            has: text('N'),
            requires: text('n'),
            excludes: text('x'),
            dependency: text('E'),
            submitted: time('V'),
            start: time('S'),
            end: time('e'),
            limit: seconds(of('l')),
            features: text('f'),
            reservation: text('v'),
            gres: text('b'),
            user: text('u'),
            account: text('a'),
            qos: text('q'),
            comment: of('k').to_owned(),
            id,
        });
    }
}

/// Converts a duration such as `1-02:03:04` or `10:00`, or a number of minutes, to seconds.
///
/// `None` for `UNLIMITED`.
fn seconds(text: &str) -> Option<i64> {
    let (days, rest) = match text.trim().split_once('-') {
        Some((days, rest)) => (days.parse::<i64>().ok()?, rest),
        None => (0, text.trim()),
    };
    let parts = rest.split(':').map(|part| part.parse::<i64>().ok().filter(|part| *part >= 0));
    let parts: Vec<i64> = parts.collect::<Option<_>>()?;
    let (hours, minutes, seconds) = match parts[..] {
        [hours, minutes, seconds] => (hours, minutes, seconds),
        [minutes, seconds] => (0, minutes, seconds),
        [minutes] => (0, minutes, 0),
        _ => return None,
    };
    let hours = days.checked_mul(24)?.checked_add(hours)?;
    hours.checked_mul(3_600)?.checked_add(minutes.checked_mul(60)?)?.checked_add(seconds)
}

/// Arguments with which `squeue` prints the minimum number of nodes of waiting jobs.
pub fn range_arguments(jobs: Option<&[u64]>, partition: &str) -> Vec<String> {
    let format = "JobArrayID:.30,tres-alloc:120".to_owned();
    let mut all: Vec<String> =
        ["--noheader", "--array", "--states", "PD"].map(str::to_owned).to_vec();
    match jobs {
        Some(jobs) => {
            let jobs: Vec<String> = jobs.iter().map(u64::to_string).collect();
            all.extend(["--jobs".to_owned(), jobs.join(",")]);
        }
        None => all.extend(["--partition".to_owned(), partition.to_owned()]),
    }
    all.extend(["--Format".to_owned(), format]);
    all
}

/// Job ids and minimum numbers of nodes in the output of `squeue` with [`range_arguments`].
pub fn read_ranges(text: &str) -> Vec<(String, u32)> {
    let of = |line: &str| {
        let (id, tres) = line.trim().split_once(char::is_whitespace).or_else(|| {
            // If an identifier fills its column, no blank separates it from the next column.
            let at = line.find("cpu=")?;
            Some((line[..at].trim(), &line[at..]))
        })?;
        let nodes = tres.trim().split(',').find_map(|own| own.strip_prefix("node="))?;
        Some((id.to_owned(), nodes.parse().ok()?))
    };
    text.lines().filter_map(of).collect()
}

pub fn node_arguments(partition: &str) -> Vec<String> {
    ["--noheader", "--Node", "--partition", partition, "--format", "%N %T"]
        .map(str::to_owned)
        .to_vec()
}

/// Names and states of nodes in the output of `sinfo` with [`node_arguments`].
pub fn read_nodes(text: &str) -> Vec<(String, String)> {
    let of = |line: &str| {
        let (name, state) = line.split_once(' ')?;
        Some((name.to_owned(), state.trim().to_owned()))
    };
    text.lines().filter_map(of).collect()
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeReservation {
    pub name: String,
    pub nodes: String,
    /// Start of the reservation, in seconds since 1970.
    pub start: i64,
    pub end: i64,
}

/// Reads the output of `scontrol --oneliner show reservation`.
///
/// Reservations without nodes are left out.
pub fn read_reservations(text: &str) -> Vec<NodeReservation> {
    let of = |line: &str| {
        let value = |key: &str| value_of(line, key);
        let nodes = filled(value("Nodes")?);
        (!nodes.is_empty()).then_some(())?;
        Some(NodeReservation {
            name: value("ReservationName")?.to_owned(),
            nodes,
            start: value("StartTime")?.parse().ok()?,
            end: value("EndTime")?.parse().unwrap_or(i64::MAX),
        })
    };
    text.lines().filter_map(of).collect()
}

/// Value of a key that occurs exactly once in a line. A key that occurs twice cannot be trusted,
/// because a line may contain a user's text.
fn value_of<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let mut found = line.match_indices(key).filter_map(|(at, _)| {
        let begins = at == 0 || line[..at].ends_with(char::is_whitespace);
        let after = line[at + key.len()..].strip_prefix('=')?;
        begins.then(|| after.split(char::is_whitespace).next().unwrap_or_default())
    });
    let value = found.next()?;
    found.next().is_none().then_some(value)
}

/// Job in the output of `scontrol`. Times are in seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownJob {
    pub state: String,
    pub partition: String,
    pub submitted: i64,
    pub num_nodes: String,
    /// Content of the job's field `AdminComment`, which operators of Slurm set.
    pub note: String,
    pub requires: String,
}

/// Reads one job of `scontrol --oneliner show job`.
///
/// # Errors
/// A key is missing, or occurs twice because a user's text contains it.
pub fn read_job(text: &str) -> Result<ShownJob, String> {
    let value = |key: &str| {
        value_of(text, key).ok_or_else(|| {
            format!("scontrol does not say {key} of the job once: {:.80}", text.trim())
        })
    };
    let submitted = value("SubmitTime")?;
    let note = if text.contains("AdminComment=") { value("AdminComment")? } else { "" };
    Ok(ShownJob {
        state: value("JobState")?.to_owned(),
        partition: value("Partition")?.to_owned(),
        submitted: submitted
            .parse()
            .map_err(|_| format!("scontrol gives `{submitted}` as the time of submission"))?,
        num_nodes: value("NumNodes")?.to_owned(),
        note: filled(note),
        requires: filled(value("ReqNodeList")?),
    })
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownPartition {
    pub nodes: String,
    pub state: String,
    pub is_exclusive: bool,
}

/// Reads one partition of `scontrol --oneliner show partition`.
pub fn read_partition(text: &str) -> Option<ShownPartition> {
    let value = |key: &str| value_of(text, key);
    Some(ShownPartition {
        nodes: filled(value("Nodes")?),
        state: value("State")?.to_owned(),
        is_exclusive: value("OverSubscribe")? == "EXCLUSIVE",
    })
}

/// Mark at the beginning of each `AdminComment` that Meshwork writes.
const NOTE: &str = "mw:";

/// Requests of a user that Meshwork overwrites at a placement, kept in the `AdminComment` of the
/// job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnWishes {
    pub range: Option<(u32, u32)>,
    pub requires: Option<String>,
}

impl OwnWishes {
    pub fn note(&self) -> String {
        let range = self.range.map(|(least, most)| format!("n={least}-{most}"));
        let nodes = self.requires.as_ref().map(|own| format!("w={own}"));
        let all: Vec<String> = range.into_iter().chain(nodes).collect();
        format!("{NOTE}{}", all.join(";"))
    }

    /// Reads the user's requests from an `AdminComment`; `None` if Meshwork did not write it.
    pub fn read(note: &str) -> Option<OwnWishes> {
        let mut wishes = OwnWishes::default();
        let all = note.strip_prefix(NOTE)?;
        for part in all.split(';').filter(|part| !part.is_empty()) {
            match part.split_once('=')? {
                ("n", range) => {
                    let (least, most) = range.split_once('-')?;
                    wishes.range = Some((least.parse().ok()?, most.parse().ok()?));
                }
                ("w", nodes) => {
                    is_safe_list(nodes).then_some(())?;
                    wishes.requires = Some(nodes.to_owned());
                }
                _ => return None,
            }
        }
        Some(wishes)
    }
}

/// Whether a word can be written safely into a line for `scontrol`.
///
/// A safe word has 1 to 256 characters, which are ASCII letters, digits, `.`, `_`, `-` or `+`.
pub fn is_safe(word: &str) -> bool {
    let is_one = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+".contains(&byte);
    !word.is_empty() && word.len() <= 256 && word.bytes().all(is_one)
}

fn is_safe_list(list: &str) -> bool {
    let names = hostlist::names(list).unwrap_or_default();
    let is_one = !names.is_empty() && names.iter().all(|name| is_safe(name));
    is_one && !list.contains(char::is_whitespace)
}

fn word(word: &str) -> Result<&str, String> {
    is_safe(word)
        .then_some(word)
        .ok_or_else(|| format!("`{word}` has characters that no line for scontrol may have"))
}

/// Line for `scontrol` that moves a job to a partition where it starts on exactly these nodes.
///
/// The order of the job's ranks is that of `nodes`. If `fixes_number` is true, the line also sets
/// the number of nodes. If `kept` is given, it has the user's requests that the line overwrites.
/// The line then stores them in the job's `AdminComment`.
///
/// # Errors
/// A name has a character that a line for `scontrol` must not contain.
pub fn place_line(
    id: &str,
    partition: &str,
    nodes: &[&str],
    fixes_number: bool,
    kept: Option<&OwnWishes>,
) -> Result<String, String> {
    for name in nodes {
        word(name)?;
    }
    if let Some(list) = kept.and_then(|own| own.requires.as_ref()).filter(|own| !is_safe_list(own))
    {
        return Err(format!("`{list}` has characters that no line for scontrol may have"));
    }
    let mut line = format!("update JobId={} Partition={}", word(id)?, word(partition)?);
    if fixes_number {
        line += &format!(" NumNodes={0}-{0}", nodes.len());
    }
    line += &format!(" ReqNodeList={}", nodes.join(","));
    if let Some(wishes) = kept {
        line += &format!(" AdminComment={}", wishes.note());
    }
    Ok(line)
}

/// Line for `scontrol` that undoes a placement. Slurm refuses it if the job has started.
pub fn take_back_line(id: &str, partition: &str, wishes: &OwnWishes) -> Result<String, String> {
    let mut line = format!("update JobId={} Partition={}", word(id)?, word(partition)?);
    if let Some((least, most)) = wishes.range {
        line += &format!(" NumNodes={least}-{most}");
    }
    line += &format!(" ReqNodeList={}", wishes.requires.as_deref().unwrap_or_default());
    Ok(line)
}

/// Line for `scontrol` that only moves a job to another partition.
pub fn move_line(job: &str, partition: &str) -> Result<String, String> {
    Ok(format!("update JobId={} Partition={}", word(job)?, word(partition)?))
}

/// Line for `scontrol` that opens or closes a partition.
///
/// Slurm starts the jobs of a partition only while the partition is open.
pub fn state_line(partition: &str, is_open: bool) -> Result<String, String> {
    let state = if is_open { "UP" } else { "DOWN" };
    Ok(format!("update PartitionName={} State={state}", word(partition)?))
}

/// Sides of the block that a job's comment requests by a word such as `block=3x5`.
///
/// If there are several such words, the last one counts.
pub fn shape(comment: &str) -> Option<Vec<u32>> {
    let words = comment.split(|letter: char| letter.is_whitespace() || letter == ';');
    let sides = words.filter_map(|word| word.strip_prefix("block=")).next_back()?;
    let sides: Option<Vec<u32>> = sides.split('x').map(|side| side.parse().ok()).collect();
    sides.filter(|sides| sides.len() <= 16 && !sides.contains(&0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prints records as `squeue` does. Each record has its values in the order of [`FIELDS`].
    fn printed(token: &str, records: &[[&str; 22]]) -> String {
        let record = |fields: &[&str; 22]| {
            let fields: String = fields.iter().map(|field| format!("{token}{field}")).collect();
            format!("{fields}{token}.\n")
        };
        records.iter().map(record).collect()
    }

    #[rustfmt::skip]
    const JOB: [&str; 22] = [
        "5_1", "7", "in", "PD", "6", "4294901755", "PartitionDown", "", "n3", "n[5-6]", "(null)",
        "1795525700", "N/A", "N/A", "1-00:02:00", "(null)", "(null)", "N/A", "ann", "(null)",
        "normal", "block=2x3",
    ];

    #[test]
    fn a_record_is_read_field_by_field() {
        let jobs = read_queue(&printed("<t>", &[JOB]), "<t>").unwrap();
        let [job] = &jobs[..] else { panic!("{jobs:?}") };
        assert_eq!(
            (job.id.as_str(), job.number, job.nodes, job.priority),
            ("5_1", 7, 6, 4_294_901_755)
        );
        assert_eq!((job.requires.as_str(), job.excludes.as_str()), ("n3", "n[5-6]"));
        assert_eq!(
            (job.limit, job.start, job.submitted),
            (Some(86_520), None, Some(1_795_525_700))
        );
        assert_eq!((job.features.as_str(), job.gres.as_str(), job.user.as_str()), ("", "", "ann"));
        assert_eq!(shape(&job.comment), Some(vec![2, 3]));
        assert_eq!(read_queue("", "<t>"), Ok(Vec::new()));
    }

    #[test]
    fn no_text_of_a_user_makes_a_record() {
        let mut job = JOB;
        let forged: String = format!("x\n{}", printed("<u>", &[JOB]));
        job[21] = &forged;
        let jobs = read_queue(&printed("<t>", &[job, JOB]), "<t>").unwrap();
        assert_eq!(jobs.len(), 2);
        assert_eq!(jobs[0].comment, forged);
        for text in ["<t>1<t>2", "<t>1\n", &printed("<t>", &[JOB])[3..]] {
            assert!(read_queue(text, "<t>").is_err(), "{text}");
        }
        let named = "JobId=1 JobName=x SubmitTime=5 UserId=ann(1) JobState=PENDING Partition=in SubmitTime=7 NumNodes=2-2 ReqNodeList=(null)";
        assert!(read_job(named).unwrap_err().contains("SubmitTime"));
        let plain = named.replacen("SubmitTime=5", "y", 1);
        assert_eq!(read_job(&plain).unwrap().submitted, 7);
    }

    #[test]
    fn wishes_are_kept_in_a_note() {
        let all = OwnWishes { range: Some((2, 6)), requires: Some("n[3-4]".to_owned()) };
        for wishes in [
            all.clone(),
            OwnWishes { range: None, ..all.clone() },
            OwnWishes { requires: None, ..all },
            OwnWishes::default(),
        ] {
            assert_eq!(OwnWishes::read(&wishes.note()), Some(wishes));
        }
        for note in ["", "mw:n=2", "mw:w=a b", "mw:w=n[1 x", "mw:w=a b State=UP", "watched"] {
            assert_eq!(OwnWishes::read(note), None, "{note}");
        }
    }

    #[test]
    fn lines_have_no_foreign_words() {
        let wishes = OwnWishes { range: Some((2, 6)), requires: None };
        assert_eq!(
            place_line("5_1", "run", &["n4", "n2"], true, Some(&wishes)).unwrap(),
            "update JobId=5_1 Partition=run NumNodes=2-2 ReqNodeList=n4,n2 AdminComment=mw:n=2-6"
        );
        assert_eq!(
            take_back_line("5_1", "in", &wishes).unwrap(),
            "update JobId=5_1 Partition=in NumNodes=2-6 ReqNodeList="
        );
        for id in ["", "1 Partition=x", "1\nshutdown", "1'", "1;2", "\u{1b}"] {
            assert!(move_line(id, "run").is_err(), "{id}");
        }
        assert!(state_line("in State=UP", true).is_err());
    }

    #[test]
    fn other_texts_are_read() {
        assert_eq!(
            read_ranges("  5_1  cpu=1,mem=2000M,node=2,billing=1   \n 7 cpu=1\n"),
            [("5_1".to_owned(), 2)]
        );
        let text = "ReservationName=r1 StartTime=5 EndTime=9 Duration=00:10:00 Nodes=n[8-9] NodeCnt=2\n\
                    ReservationName=l StartTime=5 EndTime=9 Nodes=(null)\nNo reservations in the system\n";
        let found = read_reservations(text);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].nodes.as_str(), found[0].start, found[0].end), ("n[8-9]", 5, 9));
        assert_eq!(read_nodes("n0 idle\nn1 drained*\n")[1].1, "drained*");
        assert_eq!(seconds("UNLIMITED"), None);
        assert_eq!(seconds("9223372036854775807-00:00:00"), None);
    }
}
