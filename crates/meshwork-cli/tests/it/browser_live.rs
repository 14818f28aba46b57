//! Tests of the page served by `meshwork run --serve`, opened in a real browser.

use crate::chromium::{Page, browser};
use crate::common;
use crate::common::Scratch;
use crate::common::serving::{LONG, SHORT, Serving};

/// JavaScript that counts the figures on the page.
const DRAWN: &str = "document.querySelectorAll('.panels svg[role=img]').length";

fn visit(browser: &headless_chrome::Browser, serving: &Serving) -> Page {
    Page::visit(browser, &format!("http://{}/", serving.host))
}

#[test]
fn plots_and_the_machine_change_while_the_study_runs() {
    let Some(browser) = browser() else { return };
    let folder = Scratch::new();
    let serving = Serving::start(&folder, LONG, &["--threads", "1", "--serve"]);
    let page = visit(&browser, &serving);
    page.wait(
        "/^[0-9]+ of 320 runs have ended/.test(document.getElementById('live-state').textContent)",
    );
    page.wait(&format!("{DRAWN} >= 1"));
    page.wait("document.querySelector('#live-machine canvas')?.width > 0");
    let canvas = "document.querySelector('#live-machine canvas').toDataURL()";
    let words = "document.querySelector('#live-machine figcaption').textContent";
    assert!(page.value(words).as_str().unwrap().contains("replication"));
    // The map has the lists and sentences of the map in a report.
    let lists = "[...document.querySelectorAll('#live-machine caption')].map((c) => c.textContent.split(':')[0])";
    assert_eq!(page.value(lists), serde_json::json!(["Running", "Waiting"]));
    let said = "document.querySelector('#live-machine .m-now').textContent";
    page.wait(&format!("/of 256 processors are held/.test({said})"));
    // The count of runs is shown only once.
    assert_eq!(
        page.value("getComputedStyle(document.querySelector('.study > .runs')).display"),
        "none"
    );
    page.act(&format!("window.before = {{ canvas: {canvas}, words: {words} }}"));
    page.wait(&format!("{words} !== before.words && {canvas} !== before.canvas"));
    // The selection is kept when new numbers arrive.
    page.act(
        "const select = document.querySelector('figure:not(#live-machine, #live-machine *) select'); \
         select.value = select.options[1].value; select.dispatchEvent(new Event('change')); \
         window.chosen = select.value; window.state = document.getElementById('live-state').textContent",
    );
    page.wait("document.getElementById('live-state').textContent !== state");
    page.wait("document.querySelector('figure:not(#live-machine, #live-machine *) select').value === chosen");
    for (width, dark) in [(1280, false), (390, true), (320, false)] {
        page.look(width, 900, dark);
        page.wait("[...document.querySelectorAll('.panels svg')].every((svg) => svg.clientWidth <= innerWidth)");
        assert_eq!(page.overflow(), 0, "at {width}");
    }
    assert_eq!(page.console(), Vec::<String>::new());
}

#[test]
fn the_last_numbers_stand_on_the_page_and_it_says_when_nobody_answers() {
    let Some(browser) = browser() else { return };
    let folder = Scratch::new();
    let serving = Serving::start(&folder, SHORT, &["--out", "out", "--serve=stay"]);
    let page = visit(&browser, &serving);
    page.wait(
        "document.getElementById('live-state').textContent.startsWith('All 16 runs have ended')",
    );
    page.wait(&format!("{DRAWN} === 2"));
    assert_eq!(page.value("document.getElementById('live-bar').hidden"), true);
    // All runs have ended. So the map is described in the past tense, and both counts of runs say
    // 16.
    let said = page.value("document.querySelector('#live-machine .m-now').textContent");
    assert!(said.as_str().unwrap().contains(" processors were held"), "{said}");
    let caption = page.value("document.querySelector('#live-machine figcaption').textContent");
    assert!(caption.as_str().unwrap().starts_with("One of the runs, as it ended: "), "{caption}");
    page.wait("document.querySelector('.study > .runs').textContent.startsWith('16 of 16 runs, ')");
    assert_eq!(page.console(), Vec::<String>::new());
    // The tables have the cells of the report of the same folder.
    common::call(&folder, "report out").ended(0);
    let report = Page::open(&browser, &folder.join("out/report.html"));
    let cells =
        "[...document.querySelectorAll('details.numbers td')].map((cell) => cell.textContent)";
    assert_eq!(page.value(cells), report.value(cells));
}

#[test]
fn a_page_whose_command_has_gone_says_so() {
    let Some(browser) = browser() else { return };
    let folder = Scratch::new();
    let serving = Serving::start(&folder, LONG, &["--threads", "1", "--serve"]);
    let page = visit(&browser, &serving);
    page.wait("document.getElementById('live-state').textContent.includes('of 320')");
    drop(serving);
    page.wait(
        "document.getElementById('live-state').textContent.startsWith('The command has ended')",
    );
}
