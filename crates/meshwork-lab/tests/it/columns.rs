//! Tests of job tables in every file format. Each column is preserved, or is reported as lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use meshwork::rng::Stream;
use meshwork::workload::table::{COLUMNS, Cell, CellKind, Column, Listed, Outcome};
use meshwork_lab::inputs::row;
use meshwork_lab::trace::convert;
use meshwork_lab::{Options, Study, run};
use meshwork_slurm::cell::{plain, written};

/// Columns that state requests. With each column come a machine and an allocator that accept its
/// requests.
const ASKED: [(&str, &str); 5] = [
    (
        "nodes",
        "machine = { topology = 'flat', processors = 8 }\n\
         allocator = { name = 'runs', wants = true, hosts = 'n[0-7]' }\n",
    ),
    ("block", "machine = { topology = 'mesh', dims = [4, 3] }\nallocator = 'first_fit'\n"),
    ("subcube", "machine = { topology = 'hypercube', dimension = 3 }\nallocator = 'buddy'\n"),
    ("pieces", SHARED),
    ("roles", SHARED),
];

/// Machine on whose nodes several jobs can run at once.
const SHARED: &str = "machine = { topology = 'fat_tree', arity = [3, 2, 2], nodes = [\n\
     { type = 'a', on = '0-7', cpu = 64, mem = 900, gpu = 16, other = 40, islands = 2 },\n\
     { type = 'b', cpu = 96, mem = 400, other = 8 } ] }\n";

/// Columns of a table of jobs that share nodes. Such a table has no column `nodes`.
const OF_PIECES: [&str; 9] =
    ["pieces", "cpu", "mem", "gpu", "other", "per_node", "inside", "type", "roles"];

const FORMS: &[&str] = if cfg!(feature = "parquet") { &["csv", "parquet"] } else { &["csv"] };

/// Non-empty cells of each row by column name.
type Rows = Vec<BTreeMap<&'static str, String>>;

/// Random cell that is valid in a column of a table of jobs.
fn cell(asked: &str, column: &Column, number: usize, stream: &mut Stream) -> String {
    let mut pick = |cells: &[&str]| cells[stream.below(cells.len() as u64) as usize].to_owned();
    match (column.name, column.holds) {
        ("submit", _) => (number as f64 * 0.75).to_string(),
        ("priority", _) => pick(&["0.25", "1"]),
        ("exclusive", _) if is_shared(asked) => "node".to_owned(),
        ("exclusive", _) => "topo".to_owned(),
        ("pieces", _) => pick(&["4", "8"]),
        ("cpu", _) => pick(&["1", "3"]),
        ("mem", _) => pick(&["10", "25"]),
        ("gpu", _) => pick(&["0.25", "1", "2"]),
        ("other", _) => pick(&["1", "2"]),
        ("per_node", _) => pick(&["4", "2-8"]),
        ("inside", _) => pick(&["island", "node", "leaf", "block"]),
        ("type", _) => pick(&["a", "a|b"]),
        ("roles", _) => pick(&["1*cpu=4+2*cpu=2,gpu=0.5", "2*cpu=1,mem=5+1*cpu=8,type=b"]),
        ("require", _) => pick(&["n[1-2,4]", "n7"]),
        ("exclude", _) => pick(&["n[0-1]", "n3", "n9"]),
        ("block", _) => pick(&["2x2", "1x3", "4"]),
        ("nodes", _) => pick(&["1", "2", "4"]),
        ("nodes_max", _) => pick(&["4", "6"]),
        ("subcube", _) => pick(&["0", "1", "2"]),
        ("runtime", _) => pick(&["0.1", "12.5", "100"]),
        ("estimate", _) => pick(&["0", "100", "600.25"]),
        (_, CellKind::Number) => pick(&["1", "17", "1000000000000000"]),
        (_, CellKind::Count) => pick(&["1", "2"]),
        (_, CellKind::Instant | CellKind::Real) => pick(&["0.25", "12.5", "1000000000000000"]),
        (_, CellKind::Flag) => "true".to_owned(),
        (_, CellKind::Text) => loop {
            let letters = ["a", "É", "7", "0", " ", ",", "\"", "'", "=", "#", "-", "@", "+", "|"];
            let count = 1 + stream.below(5);
            let text: String =
                (0..count).map(|_| letters[stream.below(letters.len() as u64) as usize]).collect();
            // CSV readers trim blanks.
            if text.trim() == text {
                break text;
            }
        },
    }
}

/// Whether the column `asked` requests parts of nodes, so that jobs share nodes.
fn is_shared(asked: &str) -> bool {
    ["pieces", "roles"].contains(&asked)
}

/// Whether a job whose request is in the column `asked` may have the text `cell` in `column`.
fn may_have(asked: &str, column: &str, cell: &str) -> bool {
    let given = ["submit", "runtime", asked, column].map(|name| match name {
        own if own == column => (own, Cell::Text(cell.into())),
        "block" => (name, Cell::Text("2x2".into())),
        "roles" => (name, Cell::Text("1*cpu=1+2*cpu=2".into())),
        "pieces" => (name, Cell::Number(4.0)),
        _ => (name, Cell::Number(1.0)),
    });
    let row = row(1, given);
    row.is_ok_and(|row| Listed::read(Box::new(std::iter::once(Ok(row))), "jobs").is_ok())
}

/// Random table of jobs whose requests are in a given column.
///
/// About half of the cells in other columns are empty.
fn table(asked: &'static str, stream: &mut Stream) -> Rows {
    let count = 2 + stream.below(8) as usize;
    let used: Vec<bool> = COLUMNS.iter().map(|_| stream.below(4) > 0).collect();
    let row = |number: usize| {
        let mut row = BTreeMap::new();
        for (column, used) in COLUMNS.iter().zip(&used) {
            let cell = cell(asked, column, number, stream);
            let is_needed = column.is_certain() || column.name == asked;
            let is_there = is_needed || *used && stream.below(3) > 0;
            let is_size = ASKED.iter().any(|(name, _)| *name == column.name);
            let is_of_pieces = OF_PIECES.contains(&column.name) && !is_shared(asked);
            let is_other = (is_size || is_of_pieces) && !is_needed;
            if is_there && !is_other && (is_needed || may_have(asked, column.name, &cell)) {
                row.insert(column.name, cell);
            }
        }
        // A piece (part of a job on one node) has one core if the table does not state its cores. A
        // conversion writes this number.
        if asked == "pieces" {
            row.entry("cpu").or_insert_with(|| "1".to_owned());
        }
        // A job has a think time exactly if it has a predecessor.
        if row.contains_key("after") {
            row.entry("think").or_insert_with(|| "3.5".to_owned());
        } else {
            row.remove("think");
        }
        row
    };
    (0..count).map(row).collect()
}

/// Writes a table with the column `submit` first, and the other columns in reverse order.
///
/// Empty columns are left out.
fn write(path: &Path, rows: &Rows) {
    let mut names: Vec<&str> = COLUMNS.iter().rev().map(|column| column.name).collect();
    names.retain(|name| rows.iter().any(|row| row.contains_key(name)));
    // A row that begins with a text such as `#2` would be a comment.
    names.sort_by_key(|name| *name != "submit");
    let mut writer = csv::Writer::from_path(path).unwrap();
    writer.write_record(&names).unwrap();
    for row in rows {
        let cells = names.iter().map(|name| row.get(name).map_or("", String::as_str));
        writer.write_record(cells.map(|cell| written(cell).into_owned())).unwrap();
    }
    writer.flush().unwrap();
}

/// Column names of a CSV file, and the non-empty cells of its rows.
fn cells(path: &Path) -> (Vec<String>, Vec<BTreeMap<String, String>>) {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows = reader.records().map(|record| {
        let record = record.unwrap();
        let cells = names.iter().cloned().zip(record.iter().map(|cell| plain(cell).to_owned()));
        cells.filter(|(_, cell)| !cell.is_empty()).collect()
    });
    let rows = rows.collect();
    (names, rows)
}

fn converted(from: &Path, to: &Path) -> Vec<String> {
    convert(from, to, &toml::Table::new(), (1, 0)).unwrap().lost
}

/// Table formats keep every cell. A log loses columns, which are reported.
#[test]
fn every_cell_of_every_column_stays_or_its_column_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut stream = Stream::new(1, 0, "columns");
    let (mut stayed, mut lost) = (BTreeSet::new(), BTreeSet::new());
    for round in 0..60 {
        let (asked, _) = ASKED[round % ASKED.len()];
        let rows = table(asked, &mut stream);
        write(&at("jobs.csv"), &rows);
        let owned = |row: &BTreeMap<&str, String>| -> BTreeMap<String, String> {
            row.iter().map(|(name, cell)| ((*name).to_owned(), cell.clone())).collect()
        };
        let expected: Vec<_> = rows.iter().map(owned).collect();
        for form in ["csv.gz"].iter().chain(FORMS) {
            let middle = at(&format!("middle.{form}"));
            assert_eq!(converted(&at("jobs.csv"), &middle), [""; 0], "{rows:?}");
            assert_eq!(converted(&middle, &at("again.csv")), [""; 0], "{rows:?}");
            assert_eq!(cells(&at("again.csv")).1, expected, "through {form}");
        }
        let mut said = converted(&at("jobs.csv"), &at("log.swf"));
        said.extend(converted(&at("log.swf"), &at("of_log.csv")));
        let of_log = cells(&at("of_log.csv")).1;
        for column in &COLUMNS {
            let differs = expected.iter().zip(&of_log).any(|(row, own)| {
                row.contains_key(column.name) && row.get(column.name) != own.get(column.name)
            });
            let words = said.iter().flat_map(|what| what.split([' ', ',', ':']));
            let is_said = words.into_iter().any(|word| word == column.name);
            assert_eq!(differs, is_said, "{}: {said:?} of {rows:?}", column.name);
            if differs {
                lost.insert(column.name);
            }
        }
        stayed.extend(rows.iter().flat_map(BTreeMap::keys).copied());
    }
    assert_eq!(stayed.len(), COLUMNS.len(), "each was tried: {stayed:?}");
    assert!(lost.len() > 10, "{lost:?}");
}

fn job_output(folder: &Path, form: &str) -> PathBuf {
    let files = fs::read_dir(folder.join("jobs")).unwrap().map(|file| file.unwrap().path());
    let is_it = |path: &PathBuf| !path.ends_with("index.csv") && path.extension().unwrap() == form;
    files.filter(is_it).min().unwrap()
}

/// Per-job output is a table of jobs, whose replay gives the same run.
#[test]
fn the_jobs_of_a_run_with_every_column_give_the_same_schedule() {
    let mut stream = Stream::new(2, 0, "columns");
    let mut seen = BTreeSet::new();
    for round in 0..40 {
        let (asked, machine) = ASKED[round % ASKED.len()];
        let folder = tempfile::tempdir().unwrap();
        let rows = table(asked, &mut stream);
        write(&folder.path().join("jobs.csv"), &rows);
        let text = format!(
            "{machine}scheduler = 'easy'\nmeasure = {{ metrics = ['wait'], by_user = true }}\n\
             workload = {{ name = 'table', path = 'jobs.csv' }}\n[output]\njobs = {FORMS:?}\n"
        );
        let ran = |path: &Path, out: &str| {
            let settings = [format!("workload.path='{}'", path.display())];
            let study = Study::parse("study.toml", &text, folder.path(), &settings).unwrap();
            let out = folder.path().join(out);
            let options = Options { out: Some(out.clone()), threads: 1, ..Options::default() };
            run(&study, &options).unwrap();
            out
        };
        let first = ran(Path::new("jobs.csv"), "first");
        let (names, of_first) = cells(&job_output(&first, "csv"));
        for form in FORMS {
            let again = ran(&job_output(&first, form), form);
            assert_eq!(cells(&job_output(&again, "csv")).1, of_first, "of {form}: {rows:?}");
        }
        // In the columns that tables of jobs have, the output has the cells of the given table. Its
        // other columns say what happened to the jobs.
        let mut given: BTreeMap<&str, _> =
            rows.iter().map(|row| (row["submit"].as_ref(), row)).collect();
        for ended in &of_first {
            let row = given.remove(&*ended["submit"]).unwrap();
            for column in COLUMNS.iter().filter(|column| column.name != "wait") {
                assert_eq!(row.get(column.name), ended.get(column.name), "{}", column.name);
            }
        }
        for name in names {
            assert!(Column::named(&name).is_some() != Outcome::named(&name).is_some(), "{name}");
        }
        seen.extend(of_first.into_iter().flat_map(BTreeMap::into_keys));
    }
    let missing: Vec<&str> =
        COLUMNS.iter().map(|column| column.name).filter(|name| !seen.contains(*name)).collect();
    assert_eq!(missing, ["wait"], "how long a job waited is when it started");
}
