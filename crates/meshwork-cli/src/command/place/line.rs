//! JSON lines of `meshwork place`: requests of a client, and the answers to these requests.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use meshwork::job::{Dims, Request, Time};
use meshwork::machine::Placement;
use meshwork::pool::{
    Answer, FreeSpace, Holding, Name, NamedPool, Operation, PlacedBlock, Pool, Question,
};
use meshwork::registry::{Problem, similar};
use meshwork::topology::{Grid, Topology};
use meshwork_lab::node_parts::NodePartText;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Value as Json, json};

use super::LONGEST;
use super::state::Saved;
use crate::picture::{Letters, Map};

/// Character for a node with several jobs, in the drawing that the operation `show` returns.
const SEVERAL: char = '+';

/// Width in columns of the drawing of the machine that the operation `show` returns.
const WIDTH: usize = 80;

const OPS: &str = "\"allocate\", \"release\", \"can\", \"free\", \"show\", \"adopt\", \"hold_exactly\", \"snapshot\" or \"restore\"";

/// Keys of a request; those from `pieces` on request parts of shared nodes.
const ALLOCATE: [&str; 16] = [
    "op",
    "id",
    "at",
    "block",
    "nodes",
    "subcube",
    "pieces",
    "cpu",
    "mem",
    "gpu",
    "other",
    "per_node",
    "inside",
    "type",
    "exclusive",
    "roles",
];

#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) id: Option<Json>,
    pub(super) sentence: String,
}

impl Refusal {
    fn of(sentence: impl Into<String>) -> Refusal {
        Refusal { id: None, sentence: sentence.into() }
    }

    pub(super) fn write(self, line: u64, out: &mut String) {
        out.push('{');
        if let Some(id) = self.id {
            let _ = write!(out, "\"id\":{id},");
        }
        let _ = write!(out, "\"error\":{},\"line\":{line}}}", Json::String(self.sentence));
    }
}

/// Keys of an input line with their values, in the order of the line.
///
/// They are few and each is looked up once, so a list suffices.
pub(super) struct Asked(Vec<(String, Json)>);

impl Asked {
    /// Parses a line from a client, and returns its keys and its `id`.
    ///
    /// `line` is `None` if the line was too long.
    pub(super) fn read(line: Option<&[u8]>) -> Result<(Asked, Option<Json>), Refusal> {
        let Some(line) = line else {
            return Err(Refusal::of(format!(
                "a line has at most {LONGEST} bytes, this one has more"
            )));
        };
        if line.trim_ascii().is_empty() {
            // The client may wait for an answer, so an empty line is answered too.
            return Err(Refusal::of(
                "this line is empty, but must be an object, as in {\"op\":\"show\"}",
            ));
        }
        let asked: Asked = serde_json::from_slice(line.trim_ascii_end()).map_err(|error| {
            match error.classify() {
                serde_json::error::Category::Data => {
                    Refusal::of("a line must be an object, as in {\"op\":\"show\"}")
                }
                serde_json::error::Category::Eof => Refusal::of(
                    "this is not JSON: the line ends before a brace or a quote is closed",
                ),
                _ => Refusal::of(format!("this is not JSON (column {})", error.column())),
            }
        })?;
        let id = asked.get("id").filter(|id| id.is_string() || id.is_i64()).cloned();
        Ok((asked, id))
    }

    /// Returns an error if the request has a key that is not in `keys`.
    pub(super) fn only(&self, op: &str, keys: &[&str]) -> Result<(), String> {
        match self.0.iter().find(|(key, _)| !keys.contains(&key.as_str())) {
            Some((unknown, _)) => {
                let meant = similar(unknown, keys)
                    .map_or_else(String::new, |meant| format!("did you mean `{meant}`? "));
                let known = keys.join(", ");
                Err(format!("unknown key `{unknown}` ({meant}known to `{op}`: {known})"))
            }
            None => Ok(()),
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Json> {
        self.0.iter().find(|(own, _)| own == key).map(|(_, value)| value)
    }

    fn take(&mut self, key: &str) -> Option<Json> {
        let place = self.0.iter().position(|(own, _)| own == key)?;
        Some(self.0.swap_remove(place).1)
    }
}

impl<'de> Deserialize<'de> for Asked {
    fn deserialize<D: Deserializer<'de>>(line: D) -> Result<Asked, D::Error> {
        struct Keys;

        impl<'de> Visitor<'de> for Keys {
            type Value = Asked;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Asked, M::Error> {
                let mut asked = Asked(Vec::with_capacity(4));
                while let Some((key, value)) = map.next_entry::<String, Json>()? {
                    // If a key occurs several times, the last value counts, as in most JSON
                    // readers.
                    drop(asked.take(&key));
                    asked.0.push((key, value));
                }
                Ok(asked)
            }
        }

        line.deserialize_map(Keys)
    }
}

/// Nodes of a machine, with a name and a drawing letter for each holder.
pub(super) struct Counter {
    pub(super) named: NamedPool,
    pub(super) letters: Letters,
    pub(super) letter_of: BTreeMap<Name, char>,
    /// Whether any operation was answered since the state was last saved.
    ///
    /// Operations that only read count too, since they may advance the clock.
    pub(super) is_changed: bool,
}

impl Counter {
    pub(super) fn new(named: NamedPool) -> Counter {
        let (letters, letter_of) = (Letters::default(), BTreeMap::new());
        Counter { named, letters, letter_of, is_changed: true }
    }

    /// Writes the answer to one line of a client.
    ///
    /// `line` is `None` if the line was too long. If a line is refused, nothing changes, but a part
    /// of an answer may already be in `out`.
    pub(super) fn answer(&mut self, line: Option<&[u8]>, out: &mut String) -> Result<(), Refusal> {
        let (mut asked, id) = Asked::read(line)?;
        let refused = |sentence| Refusal { id: id.clone(), sentence };
        let question = question(&mut asked, self.named.pool()).map_err(refused)?;
        // A request to restore a state is not sent to the pool, which does not know the letters of
        // holders.
        let saved = match question {
            Asks::Pool(question) => {
                let name = id.as_ref().and_then(name_of);
                let answer =
                    self.named.answer(question).map_err(|error| refused(error.to_string()))?;
                self.keep_letters(&answer, name);
                return self.write(&answer, id.as_ref(), out).map_err(refused);
            }
            Asks::Restore(saved) => saved,
        };
        self.restore(&saved).map_err(refused)?;
        let (pool, size) = (self.named.pool(), self.size());
        let (count, free) = (pool.held().count(), pool.site().free_nodes());
        let at = Json::from(pool.now().units());
        let _ = write!(out, "{{\"restored\":{count},\"at\":{at},\"free\":{free},{size}}}");
        Ok(())
    }

    /// JSON fields with the number of nodes and, on shared nodes, the number of cores.
    fn size(&self) -> String {
        let site = self.named.pool().site();
        match site.topology().types() {
            Some(types) => format!("\"nodes\":{},\"cores\":{}", types.nodes(), site.nodes()),
            None => format!("\"nodes\":{}", site.nodes()),
        }
    }

    /// Restores a saved state: the held nodes, and the letter by which each holder is drawn.
    pub(super) fn restore(&mut self, saved: &Saved) -> Result<(), String> {
        let letters = saved.letters()?;
        self.named.restore(&saved.state).map_err(|error| error.to_string())?;
        (self.letters, self.letter_of) = letters;
        self.is_changed = true;
        Ok(())
    }

    /// Gives a letter to each new holder. Letters of holders that have no more nodes become free.
    fn keep_letters(&mut self, answer: &Answer, name: Option<Name>) {
        if let Answer::HeldExactly { .. } = answer {
            let (named, letters) = (&self.named, &mut self.letters);
            self.letter_of.retain(|name, letter| {
                let is_held = named.held_by(name).is_some();
                if !is_held {
                    letters.give_back(*letter);
                }
                is_held
            });
            for Holding { name, .. } in named.holdings() {
                self.letter_of.entry(name).or_insert_with(|| letters.take());
            }
            return;
        }
        let Some(name) = name else { return };
        match answer {
            Answer::Placed(_)
                if self.named.held_by(&name).is_some() && !self.letter_of.contains_key(&name) =>
            {
                self.letter_of.insert(name, self.letters.take());
            }
            Answer::Released(_) => {
                if let Some(letter) = self.letter_of.remove(&name) {
                    self.letters.give_back(letter);
                }
            }
            _ => {}
        }
    }

    fn write(
        &mut self,
        answer: &Answer,
        id: Option<&Json>,
        out: &mut String,
    ) -> Result<(), String> {
        let grid = self.named.pool().site().grid();
        self.is_changed = true;
        out.push('{');
        if let Some(id) = id {
            let _ = write!(out, "\"id\":{id},");
        }
        match answer {
            Answer::Placed(placement) => {
                out.push_str("\"blocks\":");
                write_blocks(placement, grid, out);
                if let Some(parts) = parts(placement, self.named.pool().site().topology()) {
                    let _ = write!(out, ",\"parts\":{parts}");
                }
            }
            Answer::NoPlacement { never, reason } => {
                out.push_str("\"blocks\":null");
                out.push_str(if *never { ",\"never\":true" } else { "" });
                if let Some(reason) = reason {
                    let _ = write!(out, ",\"reason\":{}", Json::from(reason.as_str()));
                }
            }
            Answer::HeldExactly { kept, adopted, released } => {
                let _ =
                    write!(out, "\"kept\":{kept},\"adopted\":{adopted},\"released\":{released}");
            }
            Answer::Released(count) => {
                let _ = write!(out, "\"released\":{count}");
            }
            Answer::Free(FreeSpace { free, largest, amounts, .. }) => {
                let at = Json::from(self.named.pool().now().units());
                let size = self.size();
                let _ = write!(out, "\"at\":{at},\"free\":{free},{size},\"largest\":");
                match largest {
                    Some(block) => write_block(&block.base, &block.dims, out),
                    None => out.push_str("null"),
                }
                if let Some([cpu, mem, gpu, other]) = amounts {
                    let _ =
                        write!(out, ",\"cpu\":{cpu},\"mem\":{mem},\"gpu\":{gpu},\"other\":{other}");
                }
            }
            Answer::Held(holdings) => {
                let shown = self.shown(holdings).to_string();
                out.push_str(&shown[1..shown.len() - 1]);
            }
            Answer::State(state) => {
                let saved = Saved::of(self, (**state).clone());
                let _ = write!(out, "\"snapshot\":{}", saved.json()?);
            }
            Answer::Restored => {}
        }
        out.push('}');
        Ok(())
    }

    fn shown(&self, holdings: &[Holding]) -> Json {
        let site = self.named.pool().site();
        let mut owner: Vec<char> = (0..site.grid().nodes())
            .map(|node| if site.free().contains(node) { '.' } else { '#' })
            .collect();
        let mut held = Vec::new();
        for Holding { name, placement, .. } in holdings {
            let letter = self.letter_of.get(name).copied().unwrap_or('#');
            for node in placement.nodes(site.grid()) {
                let own = &mut owner[node as usize];
                // A node that several holders share has a special character.
                *own = if matches!(own, '#' | '.') { letter } else { SEVERAL };
            }
            let mut blocks = String::new();
            write_blocks(placement, site.grid(), &mut blocks);
            let blocks: Json = serde_json::from_str(&blocks).unwrap_or(Json::Null);
            let mut own =
                json!({ "id": name_json(name), "letter": letter.to_string(), "blocks": blocks });
            if let Some(parts) = parts(placement, site.topology()) {
                own["parts"] = parts;
            }
            held.push(own);
        }
        let drawing = Map::new(site.topology(), WIDTH).drawn(|node| owner[node as usize]);
        let mut shown = json!({
            "at": self.named.pool().now().units(), "free": site.free_nodes(), "nodes": site.nodes()
        });
        if let Some(types) = site.topology().types() {
            shown["nodes"] = types.nodes().into();
            shown["cores"] = site.nodes().into();
        }
        shown["held"] = held.into();
        shown["drawing"] = drawing.into();
        shown
    }
}

/// Operation of the pool, or a request to restore a saved state.
enum Asks {
    Pool(Question),
    Restore(Box<Saved>),
}

fn question(asked: &mut Asked, pool: &Pool) -> Result<Asks, String> {
    let op = match asked.get("op") {
        Some(Json::String(op)) => op.clone(),
        Some(other) => return Err(format!("`op` is {other}, but must be {OPS}")),
        None => return Err(format!("`op` is missing: {OPS}")),
    };
    let keys: &[&str] = match op.as_str() {
        "allocate" | "can" => {
            let is_of_pieces = |(key, _): &(String, Json)| ALLOCATE[6..].contains(&key.as_str());
            let has_parts = pool.site().amounts().is_some() || asked.0.iter().any(is_of_pieces);
            if has_parts { &ALLOCATE } else { &ALLOCATE[..6] }
        }
        "adopt" => &["op", "id", "at", "blocks"],
        "hold_exactly" => &["op", "at", "held"],
        "release" => &["op", "id", "at"],
        "free" => &["op", "id", "at", "ratio"],
        "show" | "snapshot" => &["op", "at"],
        "restore" => &["op", "snapshot"],
        _ => return Err(unknown_op(&op, OPS)),
    };
    asked.only(&op, keys)?;
    let at = asked.get("at").map(instant).transpose()?;
    let operation = match op.as_str() {
        "allocate" => Operation::Allocate(name(asked)?, request(asked, pool)?),
        "can" => Operation::Can(request(asked, pool)?),
        "adopt" => Operation::Adopt(name(asked)?, blocks(asked)?),
        "hold_exactly" => Operation::HoldExactly(held(asked)?),
        "release" => Operation::Release(name(asked)?),
        "free" => Operation::Free(ratio(asked)?),
        "show" => Operation::Show,
        "snapshot" => Operation::Snapshot,
        _ => {
            let snapshot = asked.take("snapshot");
            let snapshot =
                snapshot.ok_or("`snapshot` is missing: what an earlier \"snapshot\" gave")?;
            return Ok(Asks::Restore(Box::new(Saved::read(snapshot, "`snapshot`")?)));
        }
    };
    Ok(Asks::Pool(Question { at, operation }))
}

/// Error sentence on an unknown operation. `known` lists the valid operations in quotes.
pub(super) fn unknown_op(op: &str, known: &str) -> String {
    let names: Vec<&str> = known.split('"').skip(1).step_by(2).collect();
    let meant = similar(op, &names)
        .map_or_else(String::new, |meant| format!(" (did you mean \"{meant}\"?)"));
    format!("`op` is {}, but must be {known}{meant}", Json::from(op))
}

fn instant(at: &Json) -> Result<Time, String> {
    let units = at.as_f64().filter(|units| units.is_finite());
    let units = units.ok_or_else(|| format!("`at` is {at}, but must be an instant, a number"))?;
    Ok(Time::new(units))
}

fn name_of(id: &Json) -> Option<Name> {
    match id {
        Json::String(text) => Some(Name::Text(text.clone())),
        other => other.as_i64().map(Name::Number),
    }
}

pub(super) fn name(asked: &Asked) -> Result<Name, String> {
    let id = asked.get("id").ok_or("`id` is missing: a text or a whole number of your choice")?;
    name_of(id).ok_or_else(|| format!("`id` is {id}, but must be a text or a whole number"))
}

pub(super) fn name_json(name: &Name) -> Json {
    match name {
        Name::Number(number) => (*number).into(),
        Name::Text(text) => text.as_str().into(),
    }
}

pub(super) fn whole(value: &Json, least: u64) -> Option<u32> {
    value.as_u64().filter(|&n| n >= least).and_then(|n| u32::try_from(n).ok())
}

fn list(value: &Json, least: u64) -> Option<Vec<u32>> {
    let list = value.as_array().filter(|list| !list.is_empty())?;
    list.iter().map(|number| whole(number, least)).collect()
}

fn request(asked: &Asked, pool: &Pool) -> Result<Request, String> {
    let of_pieces = asked.0.iter().filter(|(key, _)| ALLOCATE[6..].contains(&key.as_str()));
    let columns: Vec<&(String, Json)> = of_pieces.collect();
    if !columns.is_empty() {
        if let Some(other) =
            ["block", "nodes", "subcube"].iter().find(|key| asked.get(key).is_some())
        {
            return Err(format!("give either `{other}` or pieces, of which `{}` is", columns[0].0));
        }
        let mut table = toml::Table::new();
        for (key, value) in columns {
            let value = toml::Value::try_from(value)
                .map_err(|_| format!("`{key}` is {value}, but must be a number or a text"))?;
            table.insert(key.clone(), value);
        }
        if let Some(mem @ toml::Value::String(_)) = table.get("mem") {
            return Err(format!("`mem` is {mem}, but must be a number of MiB, such as 60000"));
        }
        // A key of a line is a column of `pieces` in a study.
        let in_line = |problem: Problem| problem.message.replace("`pieces.", "`");
        return pool.pieces_of_any_size(&table).map_err(in_line);
    }
    let given = ["block", "nodes", "subcube"].map(|key| asked.get(key));
    let most = u32::MAX;
    let (request, sentence): (_, fn(&Json) -> String) = match given {
        [Some(value), None, None] => {
            let sides = value.as_array().filter(|sides| !sides.is_empty()).and_then(|sides| {
                sides.iter().map(|side| whole(side, 1)).collect::<Option<Dims>>()
            });
            (sides.map(Request::Block).ok_or(value), |value| {
                format!("`block` is {value}, but must be a list of whole numbers from 1 to")
            })
        }
        [None, Some(value), None] => (whole(value, 1).map(Request::Nodes).ok_or(value), |value| {
            format!("`nodes` is {value}, but must be a whole number from 1 to")
        }),
        [None, None, Some(value)] => {
            (whole(value, 0).map(Request::Subcube).ok_or(value), |value| {
                format!("`subcube` is {value}, but must be a whole number from 0 to")
            })
        }
        _ => return Err("give one of `block` ([3,5]), `nodes` (15) and `subcube` (4)".to_owned()),
    };
    request.map_err(|value| format!("{} {most}", sentence(value)))
}

fn blocks(asked: &Asked) -> Result<Vec<PlacedBlock>, String> {
    let example = "a list of blocks, as in [{\"base\":[0,0],\"dims\":[3,5]}]";
    let given = asked.get("blocks").ok_or_else(|| format!("`blocks` is missing: {example}"))?;
    let block = |block: &Json| {
        let fields = block.as_object().filter(|fields| fields.len() == 2)?;
        let (base, dims) = (list(fields.get("base")?, 0)?, list(fields.get("dims")?, 1)?);
        Some(PlacedBlock { base, dims })
    };
    let blocks = given.as_array().and_then(|blocks| blocks.iter().map(block).collect());
    blocks.ok_or_else(|| format!("`blocks` is {given}, but must be {example}"))
}

fn held(asked: &Asked) -> Result<Vec<(Name, Vec<u32>)>, String> {
    let example = "a list of what is held, as in [{\"id\":7,\"nodes\":[0,1]}]";
    let given = asked.get("held").ok_or_else(|| format!("`held` is missing: {example}"))?;
    let one = |one: &Json| {
        let fields = one.as_object().filter(|fields| fields.len() == 2)?;
        Some((name_of(fields.get("id")?)?, list(fields.get("nodes")?, 0)?))
    };
    let held = given.as_array().and_then(|held| held.iter().map(one).collect());
    held.ok_or_else(|| format!("`held` is {given}, but must be {example}"))
}

fn ratio(asked: &Asked) -> Result<Option<Vec<u32>>, String> {
    let Some(given) = asked.get("ratio") else { return Ok(None) };
    let ratio = list(given, 1).map(Some);
    ratio.ok_or_else(|| {
        format!("`ratio` is {given}, but must be a list of whole numbers from 1, as in [2,1]")
    })
}

/// JSON of the parts that a job holds on each shared node; `None` if it holds whole nodes.
fn parts(placement: &Placement, topology: &Topology) -> Option<Json> {
    serde_json::to_value(NodePartText::all_of(placement, topology)?).ok()
}

fn write_blocks(placement: &Placement, grid: &Grid, out: &mut String) {
    out.push('[');
    for (i, block) in placement.blocks.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_block(&grid.coordinates(block.base), &block.sides, out);
    }
    out.push(']');
}

fn write_block(base: &[u32], dims: &[u32], out: &mut String) {
    out.push_str("{\"base\":");
    write_numbers(base, out);
    out.push_str(",\"dims\":");
    write_numbers(dims, out);
    out.push('}');
}

fn write_numbers(numbers: &[u32], out: &mut String) {
    for (i, number) in numbers.iter().enumerate() {
        out.push(if i == 0 { '[' } else { ',' });
        let _ = write!(out, "{number}");
    }
    out.push(']');
}
