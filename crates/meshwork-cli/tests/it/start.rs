//! Tests of commands for beginners: `meshwork replay`, `new`, `schema` and `help`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Scratch, call, examples, meshwork, put, read};
use boon::{Compiler, SchemaIndex, Schemas};
use meshwork::catalogue::Catalogue;
use meshwork_lab::Study;
use meshwork_lab::study::expand::expand;
use meshwork_lab::study::papers::{PAPERS, studies};
use serde_json::Value as Json;

const KINDS: [&str; 5] = ["sweep", "log", "machine", "slurm", "paper"];

fn schema() -> (Schemas, SchemaIndex) {
    let text = call(".", "schema").succeeded().json();
    assert_eq!(text["$schema"], "http://json-schema.org/draft-07/schema#");
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource("study.json", text).unwrap();
    let index = compiler.compile("study.json", &mut schemas).expect("it is a schema");
    (schemas, index)
}

fn json(study: &str) -> Json {
    let table: toml::Table = study.parse().unwrap_or_else(|error| panic!("{error}\n{study}"));
    serde_json::to_value(table).unwrap()
}

/// Studies from examples, the manual, figures of papers, and `meshwork new`.
fn all_studies() -> BTreeMap<String, String> {
    let mut studies_by_name = BTreeMap::new();
    for entry in fs::read_dir(examples()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            studies_by_name.insert(path.display().to_string(), fs::read_to_string(&path).unwrap());
        }
    }
    for file in markdown(&examples().join("../docs")) {
        let text = fs::read_to_string(&file).unwrap();
        for (i, block) in text.split("```toml\n").skip(1).enumerate() {
            let block = block.split("```").next().unwrap();
            // All other blocks are parts of studies, are other files, or name a strategy of a
            // chapter.
            if block.parse::<toml::Table>().is_ok_and(|table| table.contains_key("workload"))
                && Study::parse("a.toml", block, "".as_ref(), &[]).and_then(|s| expand(&s)).is_ok()
            {
                studies_by_name.insert(format!("{} {i}", file.display()), block.to_owned());
            }
        }
    }
    let catalogue = Catalogue::standard();
    for paper in PAPERS {
        for study in studies(&catalogue, paper, None, false, &[]).unwrap() {
            studies_by_name.insert(format!("{} {}", paper.key, study.name), study.source);
        }
    }
    for kind in KINDS {
        let said = call(".", &format!("new - --from {kind}")).ended(0);
        studies_by_name.insert(format!("new {kind}"), said.out);
    }
    studies_by_name
}

fn markdown(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(markdown(&path));
        } else if path.extension().is_some_and(|ending| ending == "md") {
            files.push(path);
        }
    }
    files
}

#[test]
fn every_study_is_valid_by_the_schema() {
    let (schemas, index) = schema();
    let all = all_studies();
    assert!(all.len() > 200, "{} studies", all.len());
    for (name, text) in &all {
        if let Err(error) = schemas.validate(&json(text), index) {
            panic!("{name}: {error}\n{text}");
        }
    }
}

#[test]
fn broken_studies_are_invalid_by_the_schema_and_refused_by_the_reader() {
    const RIGHT: &str = "machine = 'mesh:8x8'\nworkload = { name = 'lublin', jobs = 10 }\n";
    const SYNTHETIC: &str = "machine = 'mesh:8x8'\n[workload]\nname = 'synthetic'\nload = 0.5\n\
                             sizes = 'uniform'\nruntimes = { name = 'exponential', mean = 5.0 }\n";
    let broken = [
        format!("{RIGHT}schedular = 'easy'"),
        format!("{RIGHT}scheduler = 'eazy'"),
        format!("{RIGHT}scheduler = 7"),
        format!("{RIGHT}scheduler = {{ nam = 'easy' }}"),
        format!("{RIGHT}scheduler = {{ name = 'easy', depht = 3 }}"),
        format!("{RIGHT}allocator = 'frist_fit'"),
        format!("{RIGHT}allocator = {{ name = 'first_fit', rotation = 'sometimes' }}"),
        format!("{RIGHT}seed = -1"),
        format!("{RIGHT}seed = 1.5"),
        format!("{RIGHT}seed = 'one'"),
        format!("{RIGHT}replications = 0"),
        format!("{RIGHT}replications = 2_000_000"),
        format!("{RIGHT}precision = 1.5"),
        format!("{RIGHT}network = 'idel'"),
        format!("{RIGHT}passes = 'always'"),
        format!("{RIGHT}measure = {{ metrics = ['wiat'] }}"),
        format!("{RIGHT}measure = {{ metrics = 'wait' }}"),
        format!("{RIGHT}measure = {{ metrics = [] }}"),
        format!("{RIGHT}measure = {{ warmup = 10 }}"),
        format!("{RIGHT}measure = {{ jobs = 0 }}"),
        format!("{RIGHT}measure = {{ by_user = 'yes' }}"),
        format!("{RIGHT}measure = {{ by_size = 'octal' }}"),
        format!("{RIGHT}time_unit = 'fortnights'"),
        format!("{RIGHT}output = {{ jobs = 'xml' }}"),
        format!("{RIGHT}sweep = {{ scheduler = [] }}"),
        format!("{RIGHT}sweep = {{ scheduler = 'easy' }}"),
        format!("{RIGHT}sweep = {{ scheduler = ['easy', 'eazy'] }}"),
        format!("{RIGHT}[[claim]]\nunchecked = 'a claim says nothing'"),
        format!("{RIGHT}[[claim]]\ntext = 't'\nabove = -1.0\nof = {{}}"),
        format!("{RIGHT}failures = {{ mtbf = 'often' }}"),
        format!("{RIGHT}energy = {{ bussy = 3.0 }}"),
        RIGHT.replace("'mesh:8x8'", "'mash:8x8'"),
        RIGHT.replace("'mesh:8x8'", "{ topology = 'mesh', dims = [0, 8] }"),
        RIGHT.replace("'mesh:8x8'", "{ topology = 'mesh', sides = [8, 8] }"),
        RIGHT.replace("'mesh:8x8'", "{ slurm = 'topology.yaml', config = 'slurm.conf' }"),
        RIGHT.replace("jobs = 10", "jobs = 'ten'"),
        SYNTHETIC.replace("'uniform'", "'uniformly'"),
        SYNTHETIC.replace("mean = 5.0", "mean = 0.0"),
        SYNTHETIC.replace("load = 0.5", "load = '50 %'"),
    ];
    assert!(broken.len() >= 30);
    let (schemas, index) = schema();
    for text in [RIGHT, SYNTHETIC] {
        schemas.validate(&json(text), index).unwrap();
    }
    for text in &broken {
        assert!(schemas.validate(&json(text), index).is_err(), "{text}");
        let read = Study::parse("a.toml", text, "".as_ref(), &[]).and_then(|study| expand(&study));
        assert!(read.is_err(), "{text}");
    }
}

#[test]
fn what_new_writes_runs_and_nothing_is_overwritten() {
    for kind in KINDS {
        let folder = Scratch::new();
        for file in ["topology.yaml", "slurm.conf"] {
            fs::copy(examples().join(file), folder.join(file)).unwrap();
        }
        fs::copy(examples().join("lublin.swf.gz"), folder.join("log.swf")).unwrap();
        meshwork(&folder, &["new", "--from", kind]).succeeded();
        let text = read(&folder, "study.toml");
        assert!(text.starts_with("#:schema study.schema.json\n"), "{text}");
        call(&folder, "run study.toml --set measure.jobs=300 --set replications=1").ended(0);
        put(&folder, "study.toml", "mine");
        meshwork(&folder, &["new", "--from", kind]).ended(2).err_is(
            "error: study.toml: there is such a file already, and it stays as it is: name another, or `-` \
             for standard output\n",
        );
        assert_eq!(read(&folder, "study.toml"), "mine");
    }
}

#[test]
fn the_template_of_a_machine_names_all_that_have_a_name() {
    let said = call(".", "new - --from machine");
    for machine in meshwork::presets::MACHINES {
        said.out_has(meshwork::registry::Named::about(*machine).name);
    }
    assert!(!said.out.contains("MACHINES"), "{}", said.out);
}

#[test]
fn a_type_of_nodes_can_be_looked_up() {
    let said = call(".", "list dgx").ended(0);
    said.out_has("A node has 112 cores, 2097152 MiB of memory and 8 GPUs (h100), on 2 islands.");
    let said = call(".", "list nvl72");
    assert!(said.out.contains("on 2 islands") && said.out.contains("nvl72: a machine"));
}

#[test]
fn a_log_is_replayed_on_the_machine_of_its_header() {
    let folder = Scratch::new();
    fs::copy(examples().join("lublin.swf.gz"), folder.join("lublin.swf.gz")).unwrap();
    let said = call(&folder, "replay lublin.swf.gz").ended(0);
    said.err_has("128 processors");
    for part in ["fcfs", "easy", "conservative", "page: lublin-replay/report.html"] {
        said.out_has(part);
    }
    let results = folder.join("lublin-replay");
    assert!(results.join("report.html").is_file());
    // The repeated command reads the stored runs. Its folder is that of an ordinary study.
    let again = call(&folder, "replay lublin.swf.gz");
    assert_eq!((again.status, &again.out), (Some(0), &said.out));
    call(&folder, "run lublin-replay/experiment.toml").ended(0);
    let json =
        call(&folder, "replay lublin.swf.gz --machine mesh:16x8 --schedulers easy --json --out m")
            .ended(0);
    let object: Json = serde_json::from_str(json.out.trim()).expect("one line for one scheduler");
    assert!(object.to_string().contains("easy"), "{object}");
}

#[test]
fn errors_of_a_replay_name_the_line_of_the_log_or_the_option() {
    let folder = Scratch::new();
    let table = "submit,runtime,nodes\n0,10,3\n5,10,2\n";
    put(&folder, "jobs.csv", table);
    put(&folder, "bad.csv", table.to_owned() + "x,10,2\n");
    put(&folder, "empty.csv", "");
    for (arguments, begin) in [
        ("bad.csv -m flat:4", "error: bad.csv:4: "),
        ("empty.csv -m flat:4", "error: empty.csv: this file is empty"),
        ("jobs.csv -m flat:0", "error: --machine flat:0: `machine.processors` is 0, but must be "),
        (
            "jobs.csv -m flat:4 --schedulers easy, conservative",
            "error: unexpected argument `conservative`: one log is replayed, and `--schedulers` ",
        ),
        (
            "jobs.csv -m flat:4 --schedulers easy,easy",
            "error: --schedulers easy,easy: `easy` stands twice",
        ),
    ] {
        call(&folder, &format!("replay {arguments}")).ended(2).err_begins(begin);
    }
    call(&folder, "trace convert jobs.csv o.csv --first-jobs 1.5")
        .err_has("must be a whole number from 1");
}

#[test]
fn a_log_without_jobs_and_a_folder_of_other_results_are_refused() {
    let folder = Scratch::with("empty.swf", "; MaxProcs: 8\n");
    for arguments in ["replay empty.swf", "replay empty.swf -m flat:1"] {
        call(&folder, arguments).refused().err_is("error: empty.swf: the log has no jobs\n");
    }
    assert!(!folder.join("empty-replay").exists());
    fs::create_dir(folder.join("other")).unwrap();
    for log in ["jobs.csv", "other/jobs.csv"] {
        put(&folder, log, "submit,runtime,nodes\n0,10,3\n5,10,2\n");
    }
    let of = |log: &str| meshwork(&folder, &["replay", log, "--machine", "flat:4"]);
    of("jobs.csv").ended(0);
    let said = of("other/jobs.csv");
    assert_eq!(
        (said.status, said.err.as_str()),
        (
            Some(2),
            "error: jobs-replay: this folder holds other results than those of other/jobs.csv: give \
             another folder with `--out`\n"
        )
    );
    assert_eq!(of("jobs.csv").status, Some(0), "the first replay continues");
}

#[test]
fn a_file_in_the_wrong_place_is_answered_by_the_command_for_it() {
    let folder = Scratch::with("jobs.csv", "submit,runtime,nodes\n0,10,3\n5,10,2\n");
    fs::create_dir(folder.join("results")).unwrap();
    for name in ["sacct.txt", "t.yaml", "results/experiment.toml"] {
        put(&folder, name, "");
    }
    for (arguments, sentence) in [
        (
            "replay jobs.csv",
            "error: jobs.csv: this log does not say how many processors its machine had; its largest job asks \
             for 3: name the machine, as in `--machine flat:3`\n",
        ),
        (
            "replay jobs.csv --machine flat:x",
            "error: --machine flat:x: `x` is no size of a flat: write `flat:8`, or a table as in a study\n",
        ),
        (
            "replay jobs.csv --machine 16x8",
            "error: --machine 16x8: unknown machine `16x8` (did you mean `mesh:16x8` or `torus:16x8`?)\n",
        ),
        (
            "replay jobs.csv --machine 128",
            "error: --machine 128: unknown machine `128` (did you mean `flat:128`?)\n",
        ),
        ("replay a.toml", "error: a.toml: this is no log, but a study: `meshwork run a.toml`\n"),
        (
            "replay sacct.txt",
            "error: sacct.txt: this is what sacct prints: `meshwork ops import --sacct sacct.txt`\n",
        ),
        (
            "run jobs.csv",
            "error: jobs.csv: this is no study, but a log: `meshwork replay jobs.csv`\n",
        ),
        (
            "show sacct.txt",
            "error: sacct.txt: this is no study, but a log: `meshwork ops import --sacct sacct.txt`\n",
        ),
        ("jobs.csv", "error: jobs.csv is a file: did you mean `meshwork replay jobs.csv`?\n"),
        (
            "sacct.txt",
            "error: sacct.txt is a file: did you mean `meshwork ops import --sacct sacct.txt`?\n",
        ),
        (
            "trace jobs.csv",
            "error: jobs.csv is a file: did you mean `meshwork trace info jobs.csv`?\n",
        ),
        (
            "first.toml",
            "error: first.toml is no command: did you mean `meshwork run first.toml`?\n",
        ),
        ("t.yaml", "error: t.yaml is a file: did you mean `meshwork ops check t.yaml`?\n"),
        (
            "results",
            "error: results is a folder of results: did you mean `meshwork report results`?\n",
        ),
    ] {
        call(&folder, arguments).ended(2).err_is(sentence);
    }
    call(&folder, "replay jobs.csv --machine flat:4").ended(0);
}

#[test]
fn help_is_given_of_every_command() {
    let here = ".";
    let whole = call(here, "--help");
    for part in ["Begin:", "Your machine:", "  replay ", "  ops ", "Example:"] {
        whole.out_has(part);
    }
    for command in ["run", "ops explain"] {
        let said = call(here, &format!("help {command}")).ended(0);
        assert_eq!(said.out, call(here, &format!("{command} --help")).out);
    }
}
