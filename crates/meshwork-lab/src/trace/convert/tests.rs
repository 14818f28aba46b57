use std::fs;

use super::*;
use crate::trace::{Model, generate, info};

const LOG: &str = "; Version: 2.2\n; MaxJobs: 9\n; MaxProcs: 16\n;   and more\n\
    1 100 5 10 4 7.5 -1 4 20 -1 1 5 -1 -1 -1 -1 -1 -1\n\
    2 50 -1 30 3 -1 -1 -1 -1 -1 1 5 -1 -1 -1 -1 -1 -1\n\
    3 60 -1 -1 3 -1 -1 -1 -1 -1 5 5 -1 -1 -1 -1 -1 -1\n\
    4 150 -1 8 1 -1 -1 1 5 -1 1 6 -1 -1 -1 -1 -1 -1\n";

fn converted(changes: &str, name: &str) -> (Result<Converted, TraceError>, String) {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("log.swf"), folder.path().join(name));
    fs::write(&input, LOG).unwrap();
    let done = convert(&input, &output, &changes.parse().unwrap(), (1, 0));
    let mut text = String::new();
    if output.exists() {
        let name = output.display().to_string();
        std::io::Read::read_to_string(&mut Files::default().text(&name).unwrap(), &mut text)
            .unwrap();
    }
    (done, text)
}

#[test]
fn a_log_is_cleaned_and_sorted() {
    let (done, text) = converted("", "out.swf");
    let expected =
        Converted { lines: 4, no_run_time: 1, out_of_order: 1, jobs: 3, ..Converted::default() };
    assert_eq!(done, Ok(expected));
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        text,
        format!(
            "; Version: 2.2\n; MaxJobs: 3\n; MaxProcs: 16\n;   and more\n; Note: converted by \
             meshwork {version}; 1 lines that were no jobs left out; sorted by time of submission\n\
             2 50 -1 30 3 -1 -1 -1 -1 -1 1 5 -1 -1 -1 -1 -1 -1\n\
             1 100 5 10 4 7.5 -1 4 20 -1 1 5 -1 -1 -1 -1 -1 -1\n\
             4 150 -1 8 1 -1 -1 1 5 -1 1 6 -1 -1 -1 -1 -1 -1\n"
        )
    );
}

#[test]
fn a_cut_comes_before_a_scale() {
    let changes = "from = 60\nfirst_jobs = 1\nruntime_scale = 2.0\narrival_scale = 0.5";
    let (done, text) = converted(changes, "out.swf.gz");
    assert_eq!(done.map(|done| (done.cut, done.jobs)), Ok((2, 1)));
    assert!(text.ends_with("\n1 50 5 20 4 15 -1 4 40 -1 1 5 -1 -1 -1 -1 -1 -1\n"), "{text}");
    let (until, _) = converted("until = 100", "out.swf");
    assert_eq!(until.unwrap().jobs, 1);
    let (nothing, text) = converted("from = 1e9", "out.swf");
    let refused = nothing.unwrap_err().to_string();
    assert!(refused.contains("log.swf: `from` is 1000000000, which leaves no job: "), "{refused}");
    assert_eq!(text, "");
}

#[test]
fn resampling_leaves_out_no_job_by_a_cut() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("log.swf"), folder.path().join("out.swf"));
    // A job a day, for five weeks.
    let line =
        |day: u64| format!("{day} {} -1 9 3 -1 -1 3 9 -1 1 5 -1 -1 -1 -1 -1 -1\n", day * 86_400);
    fs::write(&input, (0..36).map(line).collect::<String>()).unwrap();
    let cut = |changes: &str| {
        convert(&input, &output, &changes.parse().unwrap(), (1, 0)).map(|done| done.cut)
    };
    assert_eq!(cut("resample = 'weeks'"), Ok(0));
    assert_eq!(cut("resample = 'weeks'\nfrom = 172800"), Ok(2));
}

#[test]
fn dates_are_those_of_the_log_and_the_last_end_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("log.swf"), folder.path().join("out.swf"));
    let header = "; UnixStartTime: 749458803\n; TimeZone: -28800\n; TimeZoneString: US/Pacific\n\
                  ; StartTime: Fri Oct 01 00:00:03 PDT 1993\n\
                  ; EndTime:   Fri Dec 31 23:03:45 PST 1993\n";
    fs::write(&input, header.to_owned() + LOG).unwrap();
    let cut = |changes: &str| convert(&input, &output, &changes.parse().unwrap(), (1, 0));
    // The jobs arrive 50, 100 and 150 seconds after 00:00:03 in the log's time zone.
    for (changes, left) in [
        ("from = 1993-10-01\nuntil = 1993-10-02", 3),
        ("until = 1993-10-01T00:02:00", 2),
        ("from = 1993-10-01T07:02:00Z", 1),
    ] {
        assert_eq!(cut(changes).unwrap().jobs, left, "{changes}");
        let text = fs::read_to_string(&output).unwrap();
        assert!(text.contains("StartTime: Fri Oct 01") && !text.contains("EndTime"), "{text}");
    }
    let refused = cut("until = 1993-10-01").unwrap_err().to_string();
    assert!(refused.starts_with("`until` is 1993-10-01, which leaves no job: "), "{refused}");
    assert!(refused.ends_with("log.swf begins at 1993-10-01 00:00:03 -07:00"), "{refused}");
    cut("").unwrap();
    assert!(fs::read_to_string(&output).unwrap().contains("EndTime"));
}

#[test]
fn a_table_has_the_jobs_that_a_log_has() {
    for name in ["out.csv", "out.csv.gz"] {
        let (_, text) = converted("", name);
        assert_eq!(
            text,
            "job,submit,runtime,estimate,nodes,user,wait\n2,50,30,30,3,5,\n1,100,10,20,4,5,5\n4,150,8,5,1,6,\n"
        );
    }
}

#[test]
fn the_ending_decides_both_ways() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("log.swf"), LOG).unwrap();
    let forms: &[&str] = if cfg!(feature = "parquet") {
        &["swf", "swf.gz", "csv", "csv.gz", "parquet"]
    } else {
        &["swf", "swf.gz", "csv", "csv.gz"]
    };
    let none = Table::new();
    let jobs = |path: &Path| {
        let kept = Log::read(&path.display().to_string(), &Choice::default()).unwrap().kept;
        // The owner is compared by fields, since a log has only numbers for it.
        let numbers = |record: Record| [2, 11, 12, 13, 14, 15, 16, 17].map(|at| record.fields[at]);
        let job = |(record, job): (Record, Job)| (Job { owner: None, ..job }, numbers(record));
        kept.into_iter().map(job).collect::<Vec<_>>()
    };
    let expected = jobs(&at("log.swf"));
    for from in forms {
        let first = at(&format!("first.{from}"));
        convert(&at("log.swf"), &first, &none, (1, 0)).unwrap();
        for &to in forms {
            let second = at(&format!("second.{to}"));
            assert_eq!(convert(&first, &second, &none, (1, 0)).unwrap().jobs, 3, "{from} {to}");
            assert_eq!(jobs(&second), expected, "{from} to {to}");
            assert_eq!(info(&second).unwrap().jobs, 3, "{from} to {to}");
            let starts_with = |bytes: &[u8]| fs::read(&second).unwrap().starts_with(bytes);
            assert_eq!(starts_with(b"PAR1"), to == "parquet");
            assert_eq!(starts_with(&[0x1f, 0x8b]), to.ends_with("gz"));
        }
    }
    let model = Model { jobs: 20, processors: 8, seed: 3, classes: "both".to_owned(), load: None };
    for form in forms {
        assert_eq!(generate(&at(&format!("made.{form}")), &model).unwrap().jobs, 20);
    }
    let refused =
        convert(&at("log.swf"), &at("a.parquet.gz"), &none, (1, 0)).unwrap_err().to_string();
    assert!(refused.ends_with("a.parquet.gz: Parquet compresses by itself: leave out .gz"));
}

/// Converts a table of jobs to a log and back. In the folder, `jobs.csv` is the original table, and
/// `again.csv` the result.
fn there_and_back(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("jobs.csv"), text).unwrap();
    let again = if cfg!(feature = "parquet") { "again.parquet" } else { "once.csv.gz" };
    for (from, to) in [("jobs.csv", again), (again, "again.csv")] {
        convert(&at(from), &at(to), &Table::new(), (1, 0)).unwrap();
    }
    folder
}

#[test]
fn what_has_no_place_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let lost =
        |from: &str, to: &str| convert(&at(from), &at(to), &Table::new(), (1, 0)).unwrap().lost;
    fs::write(at("log.swf"), format!("; UnixStartTime: 1000000000\n{LOG}")).unwrap();
    assert_eq!(
        lost("log.swf", "of_log.csv"),
        [
            "left out, because a table has no place for it: processor time, status, the date when the clock begins"
        ]
    );
    fs::write(
        at("jobs.csv"),
        "submit,runtime,nodes,segment,priority,user,queue,colour\n0,1,4,2,0.5,eve,3,red\n1,1,4,,,ada,4,\n2,1,4,,,eve,3,\n",
    )
    .unwrap();
    assert_eq!(
        lost("jobs.csv", "jobs.swf"),
        [
            "left out, because no column of jobs is called so: colour",
            "left out, because a log has no place for it: priority, segment",
            "names became numbers, from 1 in the order of the log: user"
        ]
    );
    let text = fs::read_to_string(at("jobs.swf")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with(';'));
    let owner = |line: &str| line.split(' ').skip(11).take(4).collect::<Vec<_>>().join(" ");
    let owners: Vec<String> = lines.map(owner).collect();
    assert_eq!(owners, ["1 -1 -1 3", "2 -1 -1 4", "1 -1 -1 3"]);
    let chosen =
        convert(&at("jobs.csv"), &at("some.csv"), &"queues = [3]".parse().unwrap(), (1, 0));
    assert_eq!(chosen.unwrap().jobs, 2, "numbers of a table are those of a log");
}

#[test]
fn what_jobs_want_stays_in_a_table() {
    let folder = there_and_back(
        "submit,runtime,nodes,exclude,segment,contiguous\n0,10,8,,4,\n1,10,3,\"n[0-1,9]\",,1\n2,10,2,,,\n",
    );
    let at = |name: &str| folder.path().join(name);
    assert_eq!(
        fs::read_to_string(at("again.csv")).unwrap(),
        "job,submit,runtime,estimate,nodes,segment,contiguous,exclude\n1,0,10,10,8,4,,\n\
         2,1,10,10,3,,true,\"n[0-1,9]\"\n3,2,10,10,2,,,\n"
    );
}

#[test]
fn blocks_stay_blocks_in_a_table_and_become_counts_in_a_log() {
    let folder = there_and_back(
        "submit,runtime,block,subcube\n2003-05-01,10,2x3,\n2003-05-01T00:01,20,,2\n",
    );
    let at = |name: &str| folder.path().join(name);
    assert_eq!(
        fs::read_to_string(at("again.csv")).unwrap(),
        "job,submit,runtime,estimate,nodes,block,subcube\n1,0,10,10,,2x3,\n2,60,20,20,,,2\n"
    );
    convert(&at("jobs.csv"), &at("jobs.swf"), &Table::new(), (1, 0)).unwrap();
    let log = fs::read_to_string(at("jobs.swf")).unwrap();
    assert!(log.contains("; UnixStartTime: 1051747200\n"), "{log}");
    assert!(log.contains("\n1 0 -1 10 6 -1 -1 6 -1 "), "{log}");
}

#[test]
fn a_cut_may_be_a_date() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("log.swf"), format!("; UnixStartTime: 1000000000\n{LOG}")).unwrap();
    fs::write(at("bare.swf"), LOG).unwrap();
    let cut = |name: &str, changes: &str| {
        convert(&at(name), &at("out.swf"), &changes.parse().unwrap(), (1, 0))
    };
    // 1000000000 is 2001-09-09 01:46:40; the jobs are submitted 50, 100 and 150 seconds later.
    for changes in ["from = '2001-09-09T01:48:00Z'", "from = 2001-09-09T01:48:00Z"] {
        assert_eq!(cut("log.swf", changes).unwrap().jobs, 2);
    }
    assert_eq!(cut("log.swf", "until = '2001-09-09T01:48:00'").unwrap().jobs, 1);
    assert_eq!(cut("log.swf", "from = '1999-01-01'").unwrap().jobs, 3);
    assert!(cut("log.swf", "from = 'May'").unwrap_err().to_string().starts_with(
        "`from` is \"May\", but must be a number from 0 to 1e15, or a date such as 2003-05-01"
    ));
    let bare = cut("bare.swf", "from = '2001-09-09'").unwrap_err().to_string();
    assert!(bare.contains("bare.swf does not say when its clock begins"), "{bare}");
}
