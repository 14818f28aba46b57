//! Tests of `meshwork reproduce`, which runs built-in studies of published figures.

use crate::common::{Scratch, call, meshwork, read};

#[test]
fn every_study_is_listed() {
    let folder = Scratch::new();
    let said = call(&folder, "reproduce --list").succeeded();
    for beginning in ["rsr: Chang & Mohapatra, ", "wbsm: Zhu & Lin, ", "lazy: ", "intelligent: "] {
        assert!(said.out.lines().any(|line| line.starts_with(beginning)), "{}", said.out);
    }
    for figure in ["  1a: ", "  5: ", "  3b: ", "  Table IV: ", "  1, 4: "] {
        assert!(said.out.lines().any(|line| line.starts_with(figure)), "{figure}: {}", said.out);
    }
    assert!(!folder.join("reproduction").exists(), "a list runs nothing");
}

#[test]
fn a_figure_is_run_judged_kept_and_not_run_again() {
    let folder = Scratch::new();
    let arguments =
        ["reproduce", "rsr", "2a", "--quick", "--set", "measure.jobs=700", "--threads", "2"];
    let first = meshwork(&folder, &arguments).succeeded();
    first.out_begins("rsr 2a: ");
    for words in
        ["borne out", "→ holds in ", "(section 4.2)", "not checkable", "written to reproduction"]
    {
        first.out_has(words);
    }
    let kept = folder.join("reproduction/quick/rsr_figure_2a");
    let runs = std::fs::read(kept.join("runs.jsonl")).unwrap();
    let claims = read(&kept, "claims.csv");
    assert!(claims.starts_with("claim,source,metric,verdict,needed,hold,fail,open,detail\n"));
    let again = meshwork(&folder, &arguments);
    assert_eq!(again.out, first.out);
    assert_eq!(std::fs::read(kept.join("runs.jsonl")).unwrap(), runs, "nothing is run twice");

    let said = meshwork(&folder, &[&arguments[..], &["--json"]].concat());
    let objects = said.json_lines();
    assert_eq!(objects.len(), claims.lines().count() - 1);
    assert_eq!(objects[0]["paper"], "rsr");
    assert!(objects[0]["cells"].as_array().is_some_and(|cells| !cells.is_empty()));
}

/// Network settings that a paper leaves open are printed with its figure.
#[test]
fn the_network_of_a_figure_is_printed_as_it_is() {
    let folder = Scratch::new();
    let said = call(
        &folder,
        "reproduce noncontiguous 5 --quick --set measure.jobs=20 --set network.buffer=8",
    )
    .succeeded();
    let head: Vec<&str> = said.out.lines().take_while(|line| !line.contains("→")).collect();
    assert!(head[0].starts_with("noncontiguous 2, 5: "), "{}", said.out);
    let words = head.join(" ");
    for words_of in [
        "8 × 8 × 8 torus, network wormhole: pattern one_to_all, ",
        "send injected",
        "destinations ascending",
        "buffer 8",
        "lanes independent",
    ] {
        assert!(words.contains(words_of), "{words_of}: {words}");
    }
}

#[test]
fn a_study_whose_log_is_missing_is_left_out_with_a_word() {
    let folder = Scratch::new();
    let arguments =
        ["reproduce", "intelligent", "Table IV", "--quick", "--set", "workload.path=none.swf"];
    let said = meshwork(&folder, &arguments).ended(0);
    said.err_begins("warning: intelligent_table_iv");
    assert!(said.err.contains("Parallel Workloads Archive"), "where to get it: {}", said.err);
    said.out_has("the log that it reads is missing");
}

#[test]
fn a_request_that_is_wrong_is_one_sentence() {
    let folder = Scratch::new();
    for (arguments, sentence) in [
        (
            &["reproduce", "rrs"][..],
            "error: unknown paper `rrs` (did you mean `rsr`?), but must be one of rsr, wbsm, lazy, intelligent, \
             noncontiguous, rfold, fgd\n",
        ),
        (&["reproduce", "wbsm", "6"], "error: `wbsm` has no figure `6`, but has 5, 7, 8, 10\n"),
        (
            &["reproduce", "rsr", "1a", "--set", "measure.jobs=0"],
            "error: --set measure.jobs=0: `measure.jobs` is 0, but must be a whole number from 1 to \
             9007199254740992\n",
        ),
    ] {
        meshwork(&folder, arguments).ended(2).err_is(sentence);
        assert!(!folder.join("reproduction").exists());
    }
}
