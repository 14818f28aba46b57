//! Parses options of Slurm's command `salloc` that are given as one string.

use meshwork::alloc::shared::{GpuCount, SharedRequest, SocketOrder};
use meshwork::job::hostlist;
use meshwork::registry::similar;

use super::SharedSite;

/// Supported options of `salloc`, for error messages.
const KNOWN: &str = "-n, -N, -c, --ntasks-per-node, --mem, --mem-per-cpu, --gres=gpu:K, --gpus, \
                     --gpus-per-node, --gpus-per-task, --cpus-per-gpu, --mem-per-gpu, --exclusive, \
                     -C, -x, -m and --gres-flags=enforce-binding";

const SHORT: [(char, &str); 8] = [
    ('n', "ntasks"),
    ('N', "nodes"),
    ('c', "cpus-per-task"),
    ('C', "constraint"),
    ('x', "exclude"),
    ('m', "distribution"),
    ('G', "gpus"),
    ('t', "time"),
];

/// Names of options that have a value.
const NAMES: [&str; 17] = [
    "ntasks",
    "nodes",
    "cpus-per-task",
    "ntasks-per-node",
    "mem",
    "mem-per-cpu",
    "mem-per-gpu",
    "cpus-per-gpu",
    "gpus",
    "gpus-per-node",
    "gpus-per-task",
    "gres",
    "constraint",
    "exclude",
    "distribution",
    "gres-flags",
    "time",
];

fn unread(name: &str) -> String {
    let meant = similar(name, &[&NAMES[..], &["exclusive"]].concat());
    let meant = meant.map_or_else(String::new, |meant| format!(" (did you mean --{meant}?)"));
    format!("`--{name}` is no option that is read here{meant}: {KNOWN}")
}

/// Reads options such as `-n2 --gpus-per-task=h100:1 -c16 --mem=100000 -Ch100`.
pub fn read(text: &str, site: &SharedSite) -> Result<SharedRequest, String> {
    let mut request = SharedRequest::default();
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let (name, value) = split(word)?;
        if name == "exclusive" {
            match value {
                None | Some("") => request.exclusive = true,
                Some(kind) => {
                    return Err(format!(
                        "--exclusive={kind} is not modelled for parts of nodes: leave out `={kind}`"
                    ));
                }
            }
            continue;
        }
        let value = match value {
            Some(value) => value,
            None if !NAMES.contains(&name) => return Err(unread(name)),
            None => words.next().ok_or_else(|| format!("{word} has no value"))?,
        };
        set(&mut request, site, name, value)?;
    }
    Ok(request)
}

fn split(word: &str) -> Result<(&str, Option<&str>), String> {
    if let Some(long) = word.strip_prefix("--") {
        return Ok(match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        });
    }
    let mut letters = word.strip_prefix('-').unwrap_or_default().chars();
    let found = letters.next().and_then(|letter| SHORT.iter().find(|(own, _)| *own == letter));
    let (_, name) =
        found.ok_or_else(|| format!("`{word}` is no option that is read here: {KNOWN}"))?;
    let rest = letters.as_str();
    Ok((name, (!rest.is_empty()).then_some(rest.strip_prefix('=').unwrap_or(rest))))
}

fn set(
    request: &mut SharedRequest,
    site: &SharedSite,
    name: &str,
    value: &str,
) -> Result<(), String> {
    let count = |least: u32| {
        value.parse::<u32>().ok().filter(|count| *count >= least && *count <= 1 << 24).ok_or_else(
            || format!("--{name} is {value}, but must be a whole number from {least} to 16777216"),
        )
    };
    match name {
        "ntasks" => request.tasks = Some(count(1)?),
        "nodes" => request.nodes = Some(range(value)?),
        "cpus-per-task" => request.cpus_per_task = Some(count(1)?),
        "ntasks-per-node" => request.tasks_per_node = Some(count(1)?),
        "mem" => request.memory = Some(megabytes(name, value)?),
        "mem-per-cpu" => request.mem_per_cpu = Some(megabytes(name, value)?),
        "mem-per-gpu" => request.mem_per_gpu = Some(megabytes(name, value)?),
        "cpus-per-gpu" => request.cpus_per_gpu = Some(count(1)?),
        "gpus" => request.gpus = Some(gpus(site, name, value)?),
        "gpus-per-node" => request.gpus_per_node = Some(gpus(site, name, value)?),
        "gpus-per-task" => request.gpus_per_task = Some(gpus(site, name, value)?),
        "gres" => {
            let gpu = value.strip_prefix("gres/").unwrap_or(value);
            let rest = match gpu.strip_prefix("gpu") {
                Some("") => "1",
                Some(rest) if rest.starts_with(':') && !rest.contains(',') => &rest[1..],
                _ => {
                    return Err(format!(
                        "--gres is {value}, but only one kind of GPUs is modelled, as in \
                         gpu:a100:2"
                    ));
                }
            };
            request.gpus_per_node = Some(gpus(site, name, rest)?);
        }
        "constraint" => {
            if value.contains(['&', '|', '[', ']', '(', '*', ',']) {
                return Err(format!(
                    "-C {value}: only one feature is modelled, without `&`, `|`, `,` and counts"
                ));
            }
            request.feature = Some(value.to_owned());
        }
        "exclude" => {
            let names = hostlist::names(value).map_err(|says| format!("-x: {says}"))?;
            let mut set = meshwork::geometry::NodeSet::empty(site.hosts.count());
            for name in names {
                let node = site.hosts.find(&name);
                set.insert(node.ok_or_else(|| format!("-x: there is no node {name}"))?);
            }
            request.exclude = Some(set);
        }
        "distribution" => request.order = order(value)?,
        "gres-flags" => match value {
            "enforce-binding" => request.enforce_binding = true,
            _ => {
                return Err(format!(
                    "--gres-flags is {value}, but only enforce-binding is modelled"
                ));
            }
        },
        // A time limit does not change which nodes are chosen.
        "time" => {}
        _ => return Err(unread(name)),
    }
    Ok(())
}

fn range(value: &str) -> Result<(u32, u32), String> {
    let (first, last) = value.split_once('-').unwrap_or((value, value));
    let range = first.parse::<u32>().ok().zip(last.parse::<u32>().ok());
    range.filter(|(first, last)| *first >= 1 && first <= last && *last <= 1 << 24).ok_or_else(
        || format!("-N is {value}, but must be a number of nodes, or a range of them, as in 2-4"),
    )
}

/// Converts an amount of memory to megabytes. Its suffix is K, M (the default), G or T.
fn megabytes(name: &str, value: &str) -> Result<u64, String> {
    let upper = value.to_uppercase();
    let digits = upper.trim_end_matches(['K', 'M', 'G', 'T', 'B']);
    let number = digits.parse::<u64>().ok().filter(|number| *number < 1 << 40);
    let number = number.ok_or_else(|| {
        format!("--{name} is {value}, but must be whole megabytes, or carry a suffix, as in 4G")
    })?;
    let megabytes = match upper[digits.len()..].chars().next() {
        Some('K') => number.div_ceil(1024),
        Some('G') => number << 10,
        Some('T') => number << 20,
        _ => number,
    };
    Ok(megabytes.min(1 << 40))
}

/// Number of GPUs, with or without a type: `4` or `a100:4`.
fn gpus(site: &SharedSite, name: &str, value: &str) -> Result<GpuCount, String> {
    let (model, number) = match value.rsplit_once(':') {
        Some((model, number)) => (Some(model), number),
        None if value.starts_with(|letter: char| letter.is_ascii_digit()) => (None, value),
        None => (Some(value), "1"),
    };
    let count = number.parse::<u64>().ok().filter(|count| (1..=1 << 24).contains(count));
    let count = count.ok_or_else(|| {
        format!("--{name} is {value}, but must be a number of GPUs, as in 4 or a100:4")
    })?;
    Ok(GpuCount { count, model: model.map(|model| site.model(model)) })
}

/// Order of sockets, from the value of the option `-m`.
///
/// The value has two parts, which are separated by `:`. The first part, the order of nodes, may be
/// empty. The second part is the order of sockets.
fn order(value: &str) -> Result<SocketOrder, String> {
    let mut parts = value.split(':');
    let (nodes, sockets) = (parts.next().unwrap_or_default(), parts.next());
    let is_known = matches!(nodes, "block" | "cyclic" | "*" | "");
    match sockets {
        Some("block") if is_known => Ok(SocketOrder::Block),
        Some("cyclic" | "fcyclic") if is_known => Ok(SocketOrder::Cyclic),
        None | Some("*" | "") if is_known => Ok(SocketOrder::Default),
        _ => Err(format!(
            "-m is {value}, but only block and cyclic are modelled, for nodes and after a colon for \
             sockets"
        )),
    }
}
