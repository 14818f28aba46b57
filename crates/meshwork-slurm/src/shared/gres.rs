//! Reads the lines of a `gres.conf` that describe GPUs: types, nearby cores and links.

use std::path::Path;

use meshwork::job::hostlist;

use crate::lines::{ConfLine, lines};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GresLine {
    pub line: usize,
    /// Names of the nodes to which the line of `gres.conf` applies; `None` if it applies to all
    /// nodes.
    pub nodes: Option<Vec<String>>,
    /// Type of the GPUs, in lower case.
    pub model: Option<String>,
    pub count: u32,
    /// Whether the key `File` names device files.
    pub has_files: bool,
    /// Numbers of the cores near the GPUs; `None` if the line of `gres.conf` does not give them.
    pub cores: Option<Vec<u32>>,
    /// Number of links from the GPU of this line of `gres.conf` to each GPU of the node.
    ///
    /// The number is -1 for the GPU itself. `None` if the line has no key `Links`.
    pub links: Option<Vec<i32>>,
}

pub fn open(
    path: &Path,
    text: &dyn Fn(&Path) -> Result<String, String>,
) -> Result<Vec<GresLine>, String> {
    read(&text(path)?).map_err(|says| format!("{}, {says}", path.display()))
}

/// Reads the lines of a `gres.conf` about GPUs.
pub fn read(text: &str) -> Result<Vec<GresLine>, String> {
    let mut all = Vec::new();
    for line in lines(text) {
        let Some((first, _)) = line.pairs.first() else { continue };
        if first.eq_ignore_ascii_case("AutoDetect") && line.get("Name").is_none() {
            if line.get("AutoDetect").is_some_and(|word| word.eq_ignore_ascii_case("off")) {
                continue;
            }
            return Err(format!(
                "line {}: AutoDetect asks the nodes, which are not here: write the GPUs as lines \
                 with NodeName, Name, Type, File and Cores, as `slurmd -C` shows them",
                line.number
            ));
        }
        let name = line.get("Name").unwrap_or_default();
        if name.is_empty() {
            return Err(format!(
                "line {}: a line of gres.conf needs Name=, as in Name=gpu",
                line.number
            ));
        }
        if name.eq_ignore_ascii_case("gpu") {
            all.push(gpus(&line)?);
        }
    }
    Ok(all)
}

fn gpus(line: &ConfLine) -> Result<GresLine, String> {
    let at = |says: String| format!("line {}: {says}", line.number);
    let nodes = line.get("NodeName").map(hostlist::names).transpose().map_err(at)?;
    let files = line.get("File").map(files).transpose().map_err(at)?;
    let given = match line.get("Count") {
        None => None,
        Some(text) => {
            Some(text.parse::<u32>().ok().filter(|count| *count > 0).ok_or_else(|| {
                at(format!("Count is {text}, but must be a whole number from 1 on"))
            })?)
        }
    };
    let count = match (files, given) {
        (Some(files), Some(count)) if files != count => {
            return Err(at(format!("File names {files} GPUs, but Count is {count}")));
        }
        (Some(files), _) => files,
        (None, count) => count.unwrap_or(1),
    };
    let cores = line.get("Cores").or_else(|| line.get("CPUs")).map(numbers);
    let cores = cores
        .transpose()
        .map_err(|part| at(format!("`{part}` in Cores is no range of core numbers, as in 0-31")))?;
    let links = line.get("Links").map(|text| {
        text.split(',')
            .map(|part| part.trim().parse::<i32>().map_err(|_| part.to_owned()))
            .collect::<Result<Vec<_>, _>>()
    });
    let links = links.transpose().map_err(|part| {
        at(format!("`{part}` in Links is no whole number: write one for each GPU, -1 for itself"))
    })?;
    Ok(GresLine {
        line: line.number,
        nodes,
        model: line.get("Type").map(str::to_lowercase),
        count,
        has_files: files.is_some(),
        cores,
        links,
    })
}

/// Number of the device files that a list such as `/dev/nvidia[0-3]` names.
fn files(list: &str) -> Result<u32, String> {
    Ok(hostlist::names(list)?.len() as u32)
}

fn numbers(list: &str) -> Result<Vec<u32>, String> {
    let mut all = Vec::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let range = first.trim().parse::<u32>().ok().zip(last.trim().parse::<u32>().ok());
        let (first, last) = range
            .filter(|(first, last)| first <= last && *last < 1 << 16)
            .ok_or_else(|| part.to_owned())?;
        all.extend(first..=last);
    }
    Ok(all)
}
