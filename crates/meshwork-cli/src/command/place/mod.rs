//! `meshwork place`: serves an allocator to another program over JSON lines.

mod line;
mod slurm;
mod state;

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use meshwork::catalogue::Catalogue;
use meshwork::pool::{NamedPool, Pool};
use meshwork::registry::Problem;
use meshwork::scenario::machine_in_words_in;
use meshwork_lab::text::visible::visible;
use toml::{Table, Value};

use crate::args::Place;
use crate::output::{Ended, Output, Stop, Verdict};
use line::{Counter, Refusal};

/// Maximum length of a line in bytes, enough for a snapshot of a large machine.
const LONGEST: u64 = 1 << 24;

/// Size in bytes of the input buffer.
///
/// If several lines arrive together, their answers are collected up to this size.
const BATCH: usize = 1 << 16;

/// Answers each line of standard input with one line.
///
/// Answers to lines that arrive together are written together.
pub(crate) fn run(out: &mut Output, catalogue: &Catalogue, arguments: &Place) -> Ended {
    match &arguments.machine {
        Some(machine) => {
            let named = NamedPool::new(pool(catalogue, arguments, machine)?);
            let (counter, state) = (Counter::new(named), arguments.state.as_deref());
            let _lock = state.map(state::lock).transpose()?;
            let mut kept = Kept { counter, state };
            if let Some(path) = state {
                state::load(&mut kept.counter, path)?;
            }
            serve(out, &mut kept)
        }
        None => serve(out, &mut slurm::Window::open(arguments)?),
    }
}

trait Clerk {
    /// Writes the answer to one line of a client.
    ///
    /// `line` is `None` if the line was too long. If a line is refused, nothing changes, but a part
    /// of an answer may already be in `out`.
    fn answer(&mut self, line: Option<&[u8]>, out: &mut String) -> Result<(), Refusal>;

    /// Saves the state if the command line names a file for it.
    fn save(&mut self) -> Result<(), Stop>;
}

/// Pool whose holders have names, with the path of the file that stores its state.
struct Kept<'a> {
    counter: Counter,
    state: Option<&'a Path>,
}

impl Clerk for Kept<'_> {
    fn answer(&mut self, line: Option<&[u8]>, out: &mut String) -> Result<(), Refusal> {
        self.counter.answer(line, out)
    }

    fn save(&mut self) -> Result<(), Stop> {
        self.state.map_or(Ok(()), |path| state::save(&mut self.counter, path))
    }
}

fn serve(out: &mut Output, clerk: &mut dyn Clerk) -> Ended {
    let mut input = BufReader::with_capacity(BATCH, io::stdin().lock());
    let unread =
        |error: io::Error| Stop::Failed(format!("standard input cannot be read ({error})"));
    let mut verdict = Verdict::Done;
    let (mut line, mut number, mut batch) = (Vec::new(), 0, String::with_capacity(2 * BATCH));
    loop {
        line.clear();
        number += 1;
        if input.by_ref().take(LONGEST + 1).read_until(b'\n', &mut line).map_err(unread)? == 0 {
            return Ok(verdict);
        }
        let is_long = line.len() as u64 > LONGEST && line.last() != Some(&b'\n');
        if is_long {
            input.skip_until(b'\n').map_err(unread)?;
            line.clear();
        }
        let from = batch.len();
        if let Err(refusal) = clerk.answer((!is_long).then_some(&line[..]), &mut batch) {
            verdict = Verdict::RunFailed;
            batch.truncate(from);
            refusal.write(number, &mut batch);
        }
        // A name from a client may contain characters that control a terminal even within JSON.
        if let Cow::Owned(shown) = visible(&batch[from..]) {
            batch.truncate(from);
            batch.push_str(&shown);
        }
        batch.push('\n');
        // Write the answers now if the client may wait for them, that is, if no further line has
        // arrived.
        if batch.len() >= BATCH || !input.buffer().contains(&b'\n') {
            clerk.save()?;
            out.raw(&batch)?;
            out.flush()?;
            batch.clear();
        }
    }
}

fn pool(catalogue: &Catalogue, arguments: &Place, given: &str) -> Result<Pool, Stop> {
    let mut table = Table::new();
    let machine = machine(catalogue, given)
        .map_err(|says| Stop::Wrong(format!("--machine {given}: {says}")))?;
    table.insert("machine".to_owned(), machine);
    for (key, given) in choices(arguments) {
        let Some(text) = given else { continue };
        let choice = component(text)
            .map_err(|sentence| Stop::Wrong(format!("--{key} {text}: {sentence}")))?;
        table.insert(key.to_owned(), choice);
    }
    table.insert("seed".to_owned(), Value::Integer(arguments.seed));
    table.insert("shape".to_owned(), arguments.shape.clone().into());
    let bytes = Pool::memory_in(catalogue, &table)
        .map_err(|problem| Stop::Wrong(blame(arguments, given, &problem)))?;
    let what = format!("--machine {given}: this machine takes");
    arguments.memory.check(bytes, &what)?;
    Pool::read_in(catalogue, &table)
        .map_err(|problem| Stop::Wrong(blame(arguments, given, &problem)))
}

/// Sentence that begins with the command-line option at fault.
fn blame(arguments: &Place, machine: &str, problem: &Problem) -> String {
    let begins = problem.path.split(['.', '[']).next();
    let mut choices = choices(arguments).into_iter();
    match choices.find(|(key, given)| begins == Some(*key) && given.is_some()) {
        Some((key, Some(text))) => format!("--{key} {text}: {problem}"),
        _ => format!("--machine {machine}: {problem}"),
    }
}

/// Keys of the pool's configuration that command-line options set.
fn choices(arguments: &Place) -> [(&'static str, &Option<String>); 3] {
    let Place { allocator, order, within, .. } = arguments;
    [("allocator", allocator), ("order", order), ("within", within)]
}

/// Machine from its name, or from a table as in a study.
pub(crate) fn machine(catalogue: &Catalogue, text: &str) -> Result<Value, String> {
    if text.starts_with('{') {
        return inline_table(text);
    }
    machine_in_words_in(catalogue, text).map_err(|problem| problem.message)
}

/// Value of an option such as `--allocator`: a name, or a table with parameters.
fn component(text: &str) -> Result<Value, String> {
    if text.starts_with('{') { inline_table(text) } else { Ok(text.into()) }
}

fn inline_table(text: &str) -> Result<Value, String> {
    // Refuse line breaks, because a second line could set another key.
    let parsed = (!text.contains(['\n', '\r']))
        .then(|| format!("value = {text}").parse::<Table>().ok())
        .flatten()
        .and_then(|mut table| table.remove("value"));
    parsed.ok_or_else(|| "this is not a TOML table: close every quote and bracket".to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use meshwork::rng::Stream;
    use meshwork::topology::TOPOLOGIES;
    use serde_json::Value as Json;

    use super::*;

    fn machine(text: &str) -> Result<Value, String> {
        super::machine(&Catalogue::standard(), text)
    }

    fn counter(machine: &str) -> Counter {
        let table: Table = format!("machine = {{ {machine} }}").parse().unwrap();
        Counter::new(NamedPool::new(Pool::read(&table).unwrap()))
    }

    /// JSON answer; `None` if the line was refused.
    fn ask(counter: &mut Counter, line: &str) -> Option<Json> {
        let mut out = String::new();
        counter.answer(Some(line.as_bytes()), &mut out).ok()?;
        Some(serde_json::from_str(&out).unwrap())
    }

    fn show(counter: &mut Counter) -> Json {
        ask(counter, r#"{"op":"show"}"#).unwrap()
    }

    fn random_line(rng: &mut Stream) -> String {
        let mut pick = |words: &[&str]| words[rng.below(words.len() as u64) as usize].to_owned();
        let op = pick(&[
            "allocate", "allocate", "allocate", "release", "release", "show", "sow", "can",
            "snapshot",
        ]);
        let id = pick(&["\"a\"", "\"b\"", "\"c\"", "\"d\"", "\"7\"", "7", "8", "-1", "1.5", "[]"]);
        let size = pick(&[
            "\"block\":[2,2]",
            "\"block\":[3,1]",
            "\"block\":[9,9]",
            "\"block\":[1]",
            "\"block\":[0,1]",
            "\"block\":[]",
            "\"nodes\":3",
            "\"nodes\":5",
            "\"nodes\":0",
            "\"nodes\":4294967295",
            "\"nodes\":1e99",
            "\"subcube\":1",
            "\"subcube\":64",
            "\"subcube\":1,\"nodes\":2",
        ]);
        let at = pick(&["", "", "", ",\"at\":0", ",\"at\":1.5", ",\"at\":\"x\""]);
        let end = pick(&["}", "}", "}", "}", "}", "}", "", ",\"x\":1}", "\u{1}"]);
        match op.as_str() {
            "allocate" | "can" => format!("{{\"op\":\"{op}\",\"id\":{id},{size}{at}{end}"),
            "release" => format!("{{\"op\":\"release\",\"id\":{id}{at}{end}"),
            other => format!("{{\"op\":\"{other}\"{at}{end}"),
        }
    }

    /// Compares the state with a list of holders that the test derives from the answers alone.
    #[test]
    fn after_any_lines_the_answers_and_the_state_agree() {
        for machine in ["topology = 'mesh', dims = [6, 4]", "topology = 'flat', processors = 24"] {
            let mut rng = Stream::new(3, 0, "lines");
            let mut counter = counter(machine);
            let grid = counter.named.pool().site().grid().clone();
            let mut owners: BTreeMap<String, Vec<u64>> = BTreeMap::new();
            let (mut given, mut refused, mut restored) = (0, 0, 0);
            for _ in 0..10_000 {
                let line = random_line(&mut rng);
                let before = show(&mut counter);
                let Some(answer) = ask(&mut counter, &line) else {
                    assert_eq!(show(&mut counter), before, "{line}");
                    refused += 1;
                    continue;
                };
                let id = answer["id"].to_string();
                if line.contains("\"can\"") {
                    assert_eq!(show(&mut counter)["held"], before["held"], "{line}");
                } else if let Some(snapshot) = answer.get("snapshot") {
                    // A restored pool must give the same answers as the original to all further
                    // lines.
                    let mut other = self::counter(machine);
                    let restore = format!("{{\"op\":\"restore\",\"snapshot\":{snapshot}}}");
                    assert_eq!(ask(&mut other, &restore).unwrap()["restored"], owners.len());
                    assert_eq!(show(&mut other), show(&mut counter));
                    counter = other;
                    restored += 1;
                } else if let Some(blocks) = answer["blocks"].as_array() {
                    let mut nodes = Vec::new();
                    for block in blocks {
                        let list = |key: &str| -> Vec<u64> {
                            serde_json::from_value(block[key].clone()).unwrap()
                        };
                        let (base, mut dims) = (list("base"), list("dims"));
                        dims.resize(2, 1);
                        let y0 = base.get(1).copied().unwrap_or(0);
                        for y in y0..y0 + dims[1] {
                            let first = base[0] + y * u64::from(grid.sides()[0]);
                            nodes.extend(first..first + dims[0]);
                        }
                    }
                    assert!(owners.values().flatten().all(|node| !nodes.contains(node)), "{line}");
                    assert!(owners.insert(id, nodes).is_none());
                    given += 1;
                } else if let Some(released) = answer["released"].as_u64() {
                    assert_eq!(owners.remove(&id).unwrap().len() as u64, released);
                } else if line.contains("show") {
                    let held: usize = owners.values().map(Vec::len).sum();
                    assert_eq!(answer["free"], 24 - held);
                    assert_eq!(answer["held"].as_array().unwrap().len(), owners.len());
                } else {
                    assert_eq!(answer["blocks"], Json::Null, "{line}");
                }
            }
            assert!(
                given > 300 && refused > 1000 && restored > 300,
                "{given} {refused} {restored}"
            );
        }
    }

    #[test]
    fn a_machine_can_be_written_in_short() {
        for (short, long) in [
            ("mesh:8x8", "topology = 'mesh', dims = [8, 8]"),
            ("grid:3", "topology = 'mesh', dims = [3]"),
            ("torus:8x8x8", "topology = 'torus', dims = [8, 8, 8]"),
            ("hypercube:10", "topology = 'hypercube', dimension = 10"),
            ("flat:128", "topology = 'flat', processors = 128"),
            ("{topology='flat', processors=128}", "topology = 'flat', processors = 128"),
        ] {
            let table: Table = format!("value = {{ {long} }}").parse().unwrap();
            assert_eq!(machine(short).as_ref(), Ok(&table["value"]), "{short}");
        }
    }

    #[test]
    fn every_topology_can_be_written_in_short() {
        for topology in TOPOLOGIES {
            let text = format!("{}:4", topology.about.name);
            assert!(machine(&text).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_wrong_machine_is_one_sentence() {
        for (text, sentence) in [
            ("mesh", "`` is no size of a mesh: write `mesh:8x8`, or a table as in a study"),
            ("mesh:8y8", "`8y8` is no size of a mesh: write `mesh:8x8`, or a table as in a study"),
            ("flat:8x8", "`8x8` is no size of a flat: write `flat:8`, or a table as in a study"),
            ("{topology='flat'", "this is not a TOML table: close every quote and bracket"),
        ] {
            assert_eq!(machine(text), Err(sentence.to_owned()), "{text}");
        }
        let unknown = machine("mash:8x8").unwrap_err();
        assert!(unknown.contains("did you mean `mesh`?"), "{unknown}");
    }
}
