//! JSON Schema of study files, generated from the same lists of parameters that the reader uses.

use meshwork::alloc::parts::nodes::TYPES;
use meshwork::catalogue::Catalogue;
use meshwork::registry::{About, DefaultValue, EntrySource as _, Family, Kind, Param, Range};
use meshwork::registry::{LARGEST, SMALLEST};
use meshwork::{access, presets, scenario, workload};
use serde_json::{Map, Value as Json, json};

use super::{JobFormat, PARAMS, claims};
use crate::study::slurm::SITE_KEYS;
use crate::study::slurm::scenario::KEYS as FILE_KEYS;

/// Returns the JSON Schema (draft 7) of studies that use the names of `catalogue`.
///
/// It accepts every study that the reader accepts, and rejects unknown keys, unknown names, and
/// values out of bounds. It does not reject missing keys, which `[sweep]` may supply, nor
/// strategies that do not work together.
///
/// ```
/// use meshwork::catalogue::Catalogue;
/// use meshwork_lab::study::schema::schema;
/// let schema = schema(&Catalogue::standard());
/// assert_eq!(schema["properties"]["seed"]["type"], "integer");
/// ```
pub fn schema(catalogue: &Catalogue) -> Json {
    let mut writer = Writer { catalogue, definitions: Map::new() };
    let scenario: Vec<&Param> = scenario::PARAMS.iter().collect();
    let mut properties = writer.properties(&scenario);
    // If Slurm files describe the machine, its table has no allocator: the files decide it.
    let allocator = properties["allocator"].take();
    let with_slurm = json!({ "anyOf": [
        allocator,
        { "const": "slurm" },
        { "type": "object", "properties": { "name": { "const": "slurm" } }, "required": ["name"] },
    ]});
    properties.insert("allocator".to_owned(), with_slurm);
    // A plain number stands for an exponential distribution with this mean.
    for key in ["mtbf", "repair"] {
        let given = properties["failures"]["properties"][key].take();
        properties["failures"]["properties"][key] =
            json!({ "anyOf": [number(Range::Positive), given] });
    }
    properties.extend(writer.properties(PARAMS));
    properties.insert("machine".to_owned(), writer.machine());
    writer.allow_site();
    let sweep: Map<_, _> =
        properties.iter().map(|(key, value)| (key.clone(), swept(value))).collect();
    let paths = json!({
        "anyOf": [{ "type": "array", "minItems": 1 }, { "type": "object" }]
    });
    let formats = [JobFormat::Csv, JobFormat::Parquet, JobFormat::Batsim];
    let tables = [
        (
            "sweep",
            "each key with a list of values: their cross product is run",
            json!({ "type": "object", "properties": sweep, "additionalProperties": paths }),
        ),
        (
            "compare",
            "a swept key and its baseline: every other value is compared with it, on the same jobs",
            json!({ "type": "object" }),
        ),
        (
            "output",
            "`jobs` writes one row for each job into `jobs/` of the folder of results",
            json!({
                "type": "object",
                "properties": { "jobs": one_or_list(&json!({ "enum": formats.map(JobFormat::name) })) },
                "additionalProperties": false,
            }),
        ),
        ("quick", "what `meshwork reproduce --quick` sets", json!({ "type": "object" })),
        ("claim", "sentences that the runs are to bear out", writer.claims()),
    ];
    for (key, help, mut value) in tables {
        value["description"] = help.into();
        properties.insert(key.to_owned(), value);
    }
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A study of Meshwork",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "definitions": writer.definitions,
    })
}

/// Schema of the values of a swept key: a list, or a table with a list for each parameter.
fn swept(value: &Json) -> Json {
    json!({ "anyOf": [
        { "type": "array", "minItems": 1, "items": value },
        { "type": "object" },
    ]})
}

fn one_or_list(one: &Json) -> Json {
    json!({ "anyOf": [one, { "type": "array", "items": one }] })
}

struct Writer<'a> {
    catalogue: &'a Catalogue,
    definitions: Map<String, Json>,
}

impl Writer<'_> {
    fn properties(&mut self, params: &[&Param]) -> Map<String, Json> {
        params
            .iter()
            .map(|param| {
                let mut value = self.kind(&param.kind);
                // An optional list of tables may be empty.
                if matches!(
                    (&param.kind, &param.default),
                    (Kind::Tables(_), DefaultValue::Absent(_))
                ) {
                    value.as_object_mut().and_then(|value| value.remove("minItems"));
                }
                // Draft 7 ignores all keys beside a `$ref`, so the `$ref` is wrapped in a list.
                if value.get("$ref").is_some() {
                    value = json!({ "allOf": [value] });
                }
                value["description"] = param.help.into();
                match param.default {
                    DefaultValue::Required => {}
                    DefaultValue::Is(text) => value["default"] = literal(text),
                    DefaultValue::Absent(meaning) => {
                        value["description"] =
                            format!("{} (left out: {meaning})", param.help).into();
                    }
                }
                (param.name.to_owned(), value)
            })
            .collect()
    }

    fn table(&mut self, params: &[&Param]) -> Json {
        json!({
            "type": "object",
            "properties": self.properties(params),
            "additionalProperties": false,
        })
    }

    fn kind(&mut self, kind: &Kind) -> Json {
        match kind {
            Kind::Number(range) => number(*range),
            Kind::Integer(least, most) => integer(*least, *most),
            Kind::Flag => json!({ "type": "boolean" }),
            Kind::Choice(words) => json!({ "enum": words }),
            Kind::Or(words, kind) => json!({ "anyOf": [{ "enum": words }, self.kind(kind)] }),
            Kind::Text => json!({ "type": "string" }),
            Kind::Texts => list(&json!({ "type": "string" })),
            Kind::Integers(least, most) => {
                let one = integer(*least, *most);
                json!({ "anyOf": [one, list(&one)] })
            }
            Kind::Numbers(range) => list(&number(*range)),
            Kind::Flags => {
                let one = json!({ "type": "boolean" });
                json!({ "anyOf": [one, list(&one)] })
            }
            Kind::Component(family) => self.component(family),
            Kind::Components(family) => list(&self.component(family)),
            Kind::Names(family) => list(&json!({ "enum": self.names(family) })),
            Kind::Table(params) => self.table(&params.iter().collect::<Vec<_>>()),
            Kind::Tables(params) => list(&self.table(&params.iter().collect::<Vec<_>>())),
        }
    }

    /// Reference to the schema of a family of components. The schema is made at the first use.
    fn component(&mut self, family: &'static Family) -> Json {
        let name = family.kind.replace(' ', "_");
        let reference = json!({ "$ref": format!("#/definitions/{name}") });
        if self.definitions.contains_key(&name) {
            return reference;
        }
        // Families may contain each other, so a recursive call must find this entry.
        self.definitions.insert(name.clone(), Json::Null);
        let entries = self.catalogue.entries(family);
        let alone: Vec<&About> = entries
            .iter()
            .copied()
            .filter(|about| {
                about.params.iter().all(|p| !matches!(p.default, DefaultValue::Required))
            })
            .collect();
        let tables: Vec<Json> = entries
            .iter()
            .map(|about| {
                let params: Vec<&Param> = about.params.iter().chain(family.common).collect();
                let mut table = self.table(&params);
                table["properties"][family.key] = json!({ "enum": spellings(about) });
                // A workload without a parameter `load` accepts it as `scale.load`.
                if std::ptr::eq(family, &workload::FAMILY) && table["properties"]["load"].is_null()
                {
                    table["properties"]["load"] = number(Range::Positive);
                }
                table["description"] = about.summary.into();
                let this = json!({ "properties": { family.key: { "enum": spellings(about) } } });
                json!({ "if": this, "then": table })
            })
            .collect();
        let all: Vec<&str> = entries.iter().flat_map(|about| spellings(about)).collect();
        let mut forms = vec![json!({
            "type": "object",
            "required": [family.key],
            "properties": { family.key: { "enum": all } },
            "allOf": tables,
        })];
        if !alone.is_empty() {
            let names: Vec<&str> = alone.into_iter().flat_map(spellings).collect();
            forms.push(json!({ "enum": names }));
        }
        self.definitions.insert(name, json!({ "anyOf": forms }));
        reference
    }

    fn names(&self, family: &Family) -> Vec<&'static str> {
        self.catalogue.entries(family).into_iter().flat_map(spellings).collect()
    }

    fn machine(&mut self) -> Json {
        let access_tables = self.properties(&access::PARAMS.iter().collect::<Vec<_>>());
        let access: Vec<&Param> = access::PARAMS.iter().chain(TYPES).collect();
        let access = self.properties(&access);
        // Partitions and reservations are in the same table as the topology.
        let site = self.component(&scenario::SITE_FAMILY);
        let definition = &mut self.definitions["topology"]["anyOf"][0]["allOf"];
        for topology in definition.as_array_mut().into_iter().flatten() {
            let properties = topology["then"]["properties"].as_object_mut();
            properties.into_iter().for_each(|keys| keys.extend(access.clone()));
        }
        let mut several = self.table(&scenario::SITES.iter().collect::<Vec<_>>());
        several["required"] = json!(["sites"]);
        several["properties"]
            .as_object_mut()
            .into_iter()
            .for_each(|keys| keys.extend(access_tables.clone()));
        let text = json!({ "type": "string" });
        let [slurm, topograph] = FILE_KEYS;
        let [slurm, topograph, folder] = [slurm, topograph, SITE_KEYS].map(|keys| {
            let mut texts: Map<String, Json> =
                keys.iter().map(|key| ((*key).to_owned(), text.clone())).collect();
            texts.extend(access_tables.clone());
            let required = |key: &str| json!({ "required": [key] });
            let mut first = vec![required(keys[0])];
            first.extend(keys.contains(&"conf").then(|| required("conf")));
            json!({
                "type": "object",
                "properties": texts,
                "anyOf": first,
                "additionalProperties": false,
            })
        });
        let topologies = self.names(&scenario::SITE_FAMILY).join("|");
        json!({
            "description": "the machine: a topology with its size, several sites, the files of a Slurm, the folder of a site, a model of topograph, or words",
            "anyOf": [
                { "enum": self.names(&presets::FAMILY) },
                { "type": "string", "pattern": format!("^({topologies}):[0-9x×, ]+$") },
                site,
                several,
                slurm,
                topograph,
                folder,
                // A table without a topology, which `[sweep]` may supply.
                { "type": "object", "not": { "anyOf": [
                    { "required": ["topology"] },
                    { "required": ["sites"] },
                    { "required": ["slurm"] },
                    { "required": ["conf"] },
                    { "required": ["topograph"] },
                    { "required": ["site"] },
                ]}},
            ],
        })
    }

    /// Changes the schema so that a workload may be a table with the key `site`, which names a
    /// folder.
    fn allow_site(&mut self) {
        let mut folder = self.table(&workload::FAMILY.common.iter().collect::<Vec<_>>());
        folder["properties"]["site"] = json!({ "type": "string" });
        folder["required"] = json!(["site"]);
        let forms = self.definitions["workload"]["anyOf"].as_array_mut();
        forms.into_iter().for_each(|forms| forms.push(folder.clone()));
    }

    fn claims(&mut self) -> Json {
        let mut claim = self.table(claims::PARAMS);
        for key in claims::OTHERS {
            claim["properties"][key] = json!({});
        }
        claim["required"] = json!(["text"]);
        json!({ "type": "array", "items": claim })
    }
}

fn spellings(about: &'static About) -> Vec<&'static str> {
    std::iter::once(about.name).chain(about.aliases.iter().copied()).collect()
}

fn list(item: &Json) -> Json {
    json!({ "type": "array", "minItems": 1, "items": item })
}

fn integer(least: u64, most: u64) -> Json {
    json!({ "type": "integer", "minimum": least, "maximum": most })
}

fn number(range: Range) -> Json {
    let (key, least, most) = match range {
        Range::Positive => ("minimum", SMALLEST, LARGEST),
        Range::NonNegative => ("minimum", 0.0, LARGEST),
        Range::Share => ("minimum", 0.0, 1.0),
        Range::Inside => {
            return json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 });
        }
        Range::AtLeastOne => ("minimum", 1.0, LARGEST),
    };
    json!({ "type": "number", key: least, "maximum": most })
}

fn literal(text: &str) -> Json {
    let table: Option<toml::Table> = format!("value = {text}").parse().ok();
    let value = table.and_then(|mut table| table.remove("value"));
    serde_json::to_value(value).unwrap_or(Json::Null)
}
