//! `meshwork place`: an allocator alone, on JSON lines.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};

use meshwork::catalogue::Catalogue;
use meshwork::job::{Dims, Request, Time};
use meshwork::machine::Placement;
use meshwork::pool::Pool;
use meshwork::registry::{Kind, Problem};
use meshwork::scenario::SITE_FAMILY;
use serde_json::{Map as Object, Value as Json, json};
use toml::{Table, Value};

use crate::args::Place;
use crate::output::{Ended, Output, Stop, Verdict};
use crate::picture::{Cell, Letters, Map};

/// The longest line that is read: far longer than any request.
const LONGEST: u64 = 1 << 20;

/// The width of the drawing that `show` gives.
const WIDTH: usize = 80;

/// Answers every line of standard input with one line, at once.
pub(crate) fn run(out: &mut Output, catalogue: &Catalogue, arguments: &Place) -> Ended {
    let mut desk = Desk::new(pool(catalogue, arguments)?);
    let mut input = io::stdin().lock();
    let mut verdict = Verdict::Done;
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        number += 1;
        let read = input.by_ref().take(LONGEST + 1).read_until(b'\n', &mut line);
        match read {
            Ok(0) => return Ok(verdict),
            Ok(_) => {}
            Err(error) => {
                return Err(Stop::Failed(format!("standard input cannot be read ({error})")));
            }
        }
        let is_long = line.len() as u64 > LONGEST && line.last() != Some(&b'\n');
        if is_long {
            input.skip_until(b'\n').map_err(|error| {
                Stop::Failed(format!("standard input cannot be read ({error})"))
            })?;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answer = if is_long {
            Err(Refusal::of(format!("a line has at most {LONGEST} bytes, this one has more")))
        } else {
            desk.answer(&line)
        };
        let answer = answer.unwrap_or_else(|refusal| {
            verdict = Verdict::RunFailed;
            refusal.json(number)
        });
        // Whoever asked waits for the answer, and nothing else will be asked before.
        out.json(&answer)?;
        out.flush()?;
    }
}

fn pool(catalogue: &Catalogue, arguments: &Place) -> Result<Pool, Stop> {
    let mut table = Table::new();
    let machine = machine(&arguments.machine)
        .map_err(|sentence| Stop::Wrong(format!("--machine {}: {sentence}", arguments.machine)))?;
    table.insert("machine".to_owned(), machine);
    if let Some(text) = &arguments.allocator {
        let allocator = component(text)
            .map_err(|sentence| Stop::Wrong(format!("--allocator {text}: {sentence}")))?;
        table.insert("allocator".to_owned(), allocator);
    }
    table.insert("seed".to_owned(), Value::Integer(arguments.seed));
    table.insert("shape".to_owned(), arguments.shape.clone().into());
    let bytes = Pool::memory_in(catalogue, &table)
        .map_err(|problem| Stop::Wrong(blame(arguments, &problem)))?;
    let what = format!("--machine {}: this machine takes", arguments.machine);
    arguments.memory.check(bytes, &what)?;
    Pool::read_in(catalogue, &table).map_err(|problem| Stop::Wrong(blame(arguments, &problem)))
}

/// A problem as a sentence that begins with the argument that is to blame.
fn blame(arguments: &Place, problem: &Problem) -> String {
    match (problem.path.split(['.', '[']).next(), &arguments.allocator) {
        (Some("allocator"), Some(text)) => format!("--allocator {text}: {problem}"),
        _ => format!("--machine {}: {problem}", arguments.machine),
    }
}

/// A machine as it is written on a command line: `mesh:8x8`, `hypercube:10`, or a table as in a study.
fn machine(text: &str) -> Result<Value, String> {
    if text.starts_with('{') {
        return inline_table(text);
    }
    let (name, size) = text.split_once(':').unwrap_or((text, ""));
    let about = SITE_FAMILY.find("machine", name).map_err(|problem| problem.message)?;
    let [param] = about.params else { return Err("write it as a table, as in a study".to_owned()) };
    let numbers: Option<Vec<i64>> = size
        .split(['x', '×', ','])
        .map(|number| number.trim().parse().ok().filter(|&number: &i64| number >= 0))
        .collect();
    let size = match (&param.kind, numbers.as_deref()) {
        (Kind::Integers(..), Some(numbers)) => {
            Value::Array(numbers.iter().copied().map(Value::Integer).collect())
        }
        (_, Some(&[number])) => Value::Integer(number),
        _ => {
            let many = matches!(param.kind, Kind::Integers(..));
            let (name, example) = (about.name, if many { "8x8" } else { "8" });
            return Err(format!(
                "`{size}` is no size of a {name}: write `{name}:{example}`, or a table as in a study"
            ));
        }
    };
    let mut table = Table::new();
    table.insert(SITE_FAMILY.key.to_owned(), about.name.into());
    table.insert(param.name.to_owned(), size);
    Ok(Value::Table(table))
}

/// A name, or a table with a name and parameters.
fn component(text: &str) -> Result<Value, String> {
    if text.starts_with('{') { inline_table(text) } else { Ok(text.into()) }
}

fn inline_table(text: &str) -> Result<Value, String> {
    // A line break would smuggle in a second key.
    let parsed = (!text.contains(['\n', '\r']))
        .then(|| format!("value = {text}").parse::<Table>().ok())
        .flatten()
        .and_then(|mut table| table.remove("value"));
    parsed.ok_or_else(|| "this is not a TOML table: close every quote and bracket".to_owned())
}

/// Why a line was not obeyed.
#[derive(Debug)]
struct Refusal {
    id: Option<Json>,
    sentence: String,
}

impl Refusal {
    fn of(sentence: impl Into<String>) -> Refusal {
        Refusal { id: None, sentence: sentence.into() }
    }

    fn json(self, line: u64) -> Json {
        let mut object = Object::new();
        object.extend(self.id.map(|id| ("id".to_owned(), id)));
        object.insert("error".to_owned(), self.sentence.into());
        object.insert("line".to_owned(), line.into());
        Json::Object(object)
    }
}

/// A pool, and who holds what of it by the names of those who ask.
struct Desk {
    pool: Pool,
    holders: BTreeMap<Name, Holding>,
    letters: Letters,
}

/// A name is a text or a whole number; 7 and "7" are two names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Number(i64),
    Text(String),
}

struct Holding {
    placement: Placement,
    letter: char,
}

impl Desk {
    fn new(pool: Pool) -> Desk {
        Desk { pool, holders: BTreeMap::new(), letters: Letters::default() }
    }

    /// Does what a line says. A refusal changes nothing.
    fn answer(&mut self, line: &[u8]) -> Result<Json, Refusal> {
        let line: Json = serde_json::from_slice(line).map_err(|error| {
            Refusal::of(format!("this is not JSON (column {})", error.column()))
        })?;
        let Json::Object(asked) = line else {
            return Err(Refusal::of("a line must be an object, as in {\"op\":\"show\"}"));
        };
        let id = asked.get("id").filter(|id| id.is_string() || id.is_i64()).cloned();
        self.obey(&asked).map_err(|sentence| Refusal { id, sentence })
    }

    fn obey(&mut self, asked: &Object<String, Json>) -> Result<Json, String> {
        let op = match asked.get("op") {
            Some(Json::String(op)) => op.as_str(),
            Some(other) => return Err(format!("`op` is {other}, but must be {OPS}")),
            None => return Err(format!("`op` is missing: {OPS}")),
        };
        let keys: &[&str] = match op {
            "allocate" => &["op", "id", "at", "block", "nodes", "subcube"],
            "release" => &["op", "id", "at"],
            "show" => &["op", "at"],
            _ => return Err(format!("`op` is \"{op}\", but must be {OPS}")),
        };
        if let Some(unknown) = asked.keys().find(|key| !keys.contains(&key.as_str())) {
            return Err(format!("unknown key `{unknown}` (known to `{op}`: {})", keys.join(", ")));
        }
        let at = self.instant(asked)?;
        // From here on every check comes before the first change.
        match op {
            "allocate" => {
                let (id, name) = name(asked)?;
                if self.holders.contains_key(&name) {
                    return Err(format!("{id} is held already: release it first"));
                }
                let request = request(asked)?;
                self.pool.advance(at)?;
                Ok(self.allocate(id, name, &request))
            }
            "release" => {
                let (id, name) = name(asked)?;
                if !self.holders.contains_key(&name) {
                    return Err(format!("{id} is not held, so it cannot be released"));
                }
                self.pool.advance(at)?;
                self.release(&id, &name)
            }
            _ => {
                self.pool.advance(at)?;
                Ok(self.show())
            }
        }
    }

    /// The instant of a line: its own, or that of the line before.
    fn instant(&self, asked: &Object<String, Json>) -> Result<Time, String> {
        let Some(at) = asked.get("at") else { return Ok(self.pool.now()) };
        let units = at.as_f64().filter(|units| units.is_finite());
        let units =
            units.ok_or_else(|| format!("`at` is {at}, but must be an instant, a number"))?;
        let at = Time::new(units);
        if at < self.pool.now() {
            return Err(format!(
                "`at` is {at}, but it is {} already, and time does not go back",
                self.pool.now()
            ));
        }
        Ok(at)
    }

    fn allocate(&mut self, id: Json, name: Name, request: &Request) -> Json {
        let Some(placement) = self.pool.allocate(request) else {
            let mut answer = Object::new();
            answer.insert("id".to_owned(), id);
            answer.insert("blocks".to_owned(), Json::Null);
            if !self.pool.could_hold(request) {
                answer.insert("never".to_owned(), true.into());
            }
            return Json::Object(answer);
        };
        let blocks = self.blocks(&placement);
        self.holders.insert(name, Holding { placement, letter: self.letters.take() });
        json!({ "id": id, "blocks": blocks })
    }

    fn release(&mut self, id: &Json, name: &Name) -> Result<Json, String> {
        let Some(holding) = self.holders.get(name) else {
            return Err(format!("{id} is not held, so it cannot be released"));
        };
        self.pool.release(&holding.placement)?;
        let released = holding.placement.len();
        self.letters.give_back(holding.letter);
        self.holders.remove(name);
        Ok(json!({ "id": id, "released": released }))
    }

    fn show(&self) -> Json {
        let site = self.pool.site();
        let mut owner = vec!['.'; site.nodes() as usize];
        for holding in self.holders.values() {
            for node in holding.placement.nodes(site.grid()) {
                owner[node as usize] = holding.letter;
            }
        }
        let map = Map::new(site.topology(), WIDTH);
        let (width, height) = map.size();
        let cell = |x, y| match map.cell(x, y) {
            Cell::Node(node) => owner[node as usize],
            Cell::Label(label) => label,
            Cell::Blank => ' ',
        };
        let drawing: Vec<String> = (0..height)
            .map(|y| (0..width).map(|x| cell(x, y)).collect::<String>().trim_end().to_owned())
            .collect();
        let held: Vec<Json> = self
            .holders
            .iter()
            .map(|(name, holding)| {
                let blocks = self.blocks(&holding.placement);
                json!({ "id": name.json(), "letter": holding.letter.to_string(), "blocks": blocks })
            })
            .collect();
        let now = self.pool.now().units();
        json!({
            "at": now, "free": site.free_nodes(), "nodes": site.nodes(), "held": held, "drawing": drawing
        })
    }

    fn blocks(&self, placement: &Placement) -> Json {
        let grid = self.pool.site().grid();
        let blocks = placement.blocks.iter().map(|block| {
            let (base, sides) = (grid.coordinates(block.base), &block.sides);
            json!({ "base": base.as_slice(), "dims": sides.as_slice() })
        });
        blocks.collect()
    }
}

impl Name {
    fn json(&self) -> Json {
        match self {
            Name::Number(number) => (*number).into(),
            Name::Text(text) => text.as_str().into(),
        }
    }
}

/// What can be asked for.
const OPS: &str = "\"allocate\", \"release\" or \"show\"";

fn name(asked: &Object<String, Json>) -> Result<(Json, Name), String> {
    let id = asked.get("id").ok_or("`id` is missing: a text or a whole number of your choice")?;
    let name = match id {
        Json::String(text) => Some(Name::Text(text.clone())),
        other => other.as_i64().map(Name::Number),
    };
    let name = name.ok_or_else(|| format!("`id` is {id}, but must be a text or a whole number"))?;
    Ok((id.clone(), name))
}

fn request(asked: &Object<String, Json>) -> Result<Request, String> {
    let given: Vec<(&str, &Json)> = ["block", "nodes", "subcube"]
        .into_iter()
        .filter_map(|key| Some((key, asked.get(key)?)))
        .collect();
    let [(key, value)] = given[..] else {
        return Err("give one of `block` ([3,5]), `nodes` (15) and `subcube` (4)".to_owned());
    };
    let whole = |value: &Json, least: u64| {
        value.as_u64().filter(|&n| n >= least).and_then(|n| u32::try_from(n).ok())
    };
    let request = match key {
        "nodes" => whole(value, 1).map(Request::Nodes),
        "subcube" => whole(value, 0).map(Request::Subcube),
        _ => value.as_array().filter(|sides| !sides.is_empty()).and_then(|sides| {
            sides.iter().map(|side| whole(side, 1)).collect::<Option<Dims>>().map(Request::Block)
        }),
    };
    let most = u32::MAX;
    request.ok_or_else(|| match key {
        "nodes" => format!("`nodes` is {value}, but must be a whole number from 1 to {most}"),
        "subcube" => format!("`subcube` is {value}, but must be a whole number from 0 to {most}"),
        _ => format!("`block` is {value}, but must be a list of whole numbers from 1 to {most}"),
    })
}

#[cfg(test)]
mod tests {
    use meshwork::rng::Stream;
    use meshwork::topology::TOPOLOGIES;

    use super::*;

    fn desk(machine: &str) -> Desk {
        let table: Table = format!("machine = {{ {machine} }}").parse().unwrap();
        Desk::new(Pool::read(&table).unwrap())
    }

    /// A line of a scheduler that makes every kind of mistake.
    fn random_line(rng: &mut Stream) -> String {
        let mut pick = |words: &[&str]| words[rng.below(words.len() as u64) as usize].to_owned();
        let op = pick(&["allocate", "allocate", "allocate", "release", "release", "show", "sow"]);
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
            "allocate" => format!("{{\"op\":\"allocate\",\"id\":{id},{size}{at}{end}"),
            "release" => format!("{{\"op\":\"release\",\"id\":{id}{at}{end}"),
            other => format!("{{\"op\":\"{other}\"{at}{end}"),
        }
    }

    /// Who holds which nodes, by nothing but the answers.
    #[test]
    fn after_any_lines_the_answers_and_the_state_agree() {
        for machine in ["topology = 'mesh', dims = [6, 4]", "topology = 'flat', processors = 24"] {
            let mut rng = Stream::new(3, 0, "lines");
            let mut desk = desk(machine);
            let grid = desk.pool.site().grid().clone();
            let mut owners: BTreeMap<String, Vec<u64>> = BTreeMap::new();
            let (mut given, mut refused) = (0, 0);
            for _ in 0..10_000 {
                let line = random_line(&mut rng);
                let before = desk.show();
                let Ok(answer) = desk.answer(line.as_bytes()) else {
                    assert_eq!(desk.show(), before, "{line}");
                    refused += 1;
                    continue;
                };
                let id = answer["id"].to_string();
                if let Some(blocks) = answer["blocks"].as_array() {
                    let mut nodes = Vec::new();
                    for block in blocks {
                        let list = |key: &str| -> Vec<u64> {
                            block[key]
                                .as_array()
                                .unwrap()
                                .iter()
                                .map(|n| n.as_u64().unwrap())
                                .collect()
                        };
                        let (base, mut dims) = (list("base"), list("dims"));
                        dims.resize(2, 1);
                        let y0 = base.get(1).copied().unwrap_or(0);
                        for y in y0..y0 + dims[1] {
                            nodes.extend(
                                (base[0]..base[0] + dims[0])
                                    .map(|x| x + y * u64::from(grid.sides()[0])),
                            );
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
            assert!(given > 300 && refused > 1000, "{given} {refused}");
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
