//! Tests of the page written by `meshwork report`, opened in a real browser.

use std::path::{Path, PathBuf};

use crate::chromium::{Page, browser};
use crate::common::{Scratch, call, examples, meshwork, put, read};

/// Number of figures that the page shows.
const DRAWN: &str = "document.querySelectorAll('.panels svg[role=img]').length";

/// Tables that are wider than the page, and so scroll horizontally.
const CLIPPED: &str = "[...document.querySelectorAll('details.numbers[open] .scroll')]\
                       .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.ariaLabel)";

/// Width of the text on an A4 sheet with margins of one centimetre, in pixels.
const SHEET: u32 = 718;

fn page_of(folder: &Path, example: &str) -> PathBuf {
    let file = examples().join(example).display().to_string();
    meshwork(folder, &["run", &file, "--out", "out", "--quiet"]).ended(0);
    call(folder, "report out").ended(0).out_ends("written to out/report.html\n");
    folder.join("out/report.html")
}

/// Checks that nothing is wider than the window, and that text has enough contrast.
///
/// The window is 320 to 2560 pixels wide, and its colours are light or dark.
fn fits_everywhere(page: &Page) {
    let mut papers = Vec::new();
    for dark in [false, true] {
        for width in [2560, 1280, 800, 390, 320] {
            page.look(width, 900, dark);
            page.wait("[...document.querySelectorAll('.panels svg')].every((svg) => svg.clientWidth <= innerWidth)");
            assert_eq!(page.overflow(), 0, "at {width}, dark: {dark}");
            assert_eq!(page.value(CLIPPED), serde_json::json!([]), "at {width}, dark: {dark}");
        }
        papers.push(page.value("getComputedStyle(document.documentElement).backgroundColor"));
        let (ink, paper) = (luminance(page, "color"), luminance(page, "backgroundColor"));
        let contrast = (ink.max(paper) + 0.05) / (ink.min(paper) + 0.05);
        assert!(contrast > 7.0, "dark: {dark}, {contrast}");
    }
    assert_ne!(papers[0], papers[1], "dark is another colour");
    page.look(1280, 900, false);
}

/// Relative luminance of a colour of the page, from 0 to 1.
fn luminance(page: &Page, property: &str) -> f64 {
    let colour = page.value(&format!(
        "getComputedStyle(document.documentElement).{property}.match(/[0-9.]+/g).slice(0, 3).map(Number)"
    ));
    let parts = colour.as_array().unwrap().iter().map(|part| {
        let part = part.as_f64().unwrap() / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    parts.zip([0.2126, 0.7152, 0.0722]).map(|(part, weight)| part * weight).sum()
}

#[test]
fn plots_are_drawn_chosen_and_told_in_words() {
    let Some(browser) = browser() else { return };
    let folder = Scratch::new();
    let page = Page::open(&browser, &page_of(&folder, "load.toml"));
    // The four figures show the means, the differences, the waits, and the course of the runs.
    page.wait(&format!("{DRAWN} === 4"));
    // Every plot has its caption in its label for screen readers.
    let told = page.value(
        "[...document.querySelectorAll('.figures figure')].every((figure) => {
            const sentence = figure.querySelector('figcaption').textContent;
            return sentence.endsWith('.') && [...figure.querySelectorAll('.panels svg')].every(
                (svg) => svg.getAttribute('aria-label').includes(sentence));
        })",
    );
    assert_eq!(told, true);
    // Select another metric, with the keyboard alone.
    page.act("document.querySelector('figure select').focus()");
    page.press("ArrowDown");
    page.wait(
        "document.querySelector('figure figcaption').textContent.startsWith('Utilization: ')",
    );
    page.wait("document.querySelector('.panels svg').textContent.includes('Utilization (share)')");
    // The table of the second metric has the numbers of `summary.csv`.
    page.act("document.querySelector('figure details').open = true");
    page.wait("document.querySelectorAll('.figures figure table tbody tr').length === 8");
    let shown = page.value(
        "[...document.querySelectorAll('.figures figure table tbody tr')].map(
            (row) => [...row.children].map((cell) => cell.textContent).slice(0, 4).join(','))",
    );
    let summary = read(&folder, "out/summary.csv");
    let mut rows: Vec<String> = summary
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[2] == "utilization").then(|| [cells[0], cells[1], cells[3], cells[4]].join(","))
        })
        .collect();
    let mut shown: Vec<String> =
        shown.as_array().unwrap().iter().map(|row| row.as_str().unwrap().to_owned()).collect();
    rows.sort();
    shown.sort();
    assert_eq!(shown, rows);
    // New data keeps the selected metric, and adds no second plot.
    page.act(
        "const data = JSON.parse(document.getElementById('report-data').textContent);
         const shown = data.sections[0].figures[0].views.find(({ y, at }) => y.key === 'utilization' && at[1] === 0);
         shown.series[0].mean[0] = 0.875;
         drawFigures(document, data)",
    );
    page.wait("document.querySelector('figure table').textContent.includes('0.875')");
    assert_eq!(page.value(DRAWN), 4);
    assert_eq!(page.value("document.querySelector('figure select').value"), "Utilization");
    fits_everywhere(&page);
    assert_eq!(page.console(), Vec::<String>::new());
    assert!(page.pdf().starts_with(b"%PDF"));
}

/// Records type and text of every file that the page saves.
const KEEP: &str = "window.saved = [];
    const make = URL.createObjectURL;
    URL.createObjectURL = (blob) => {
        blob.text().then((text) => saved.push({ kind: blob.type, text, size: blob.size }));
        return make.call(URL, blob);
    }";

#[test]
fn what_is_saved_is_what_the_command_writes() {
    let Some(browser) = browser() else { return };
    let folder = Scratch::new();
    let page = page_of(&folder, "load.toml");
    let said = call(&folder, "report out --figures figures").ended(0);
    let files = std::fs::read_dir(folder.join("figures")).unwrap().count();
    said.out_ends(&format!("{files} figures written to figures\n"));
    let page = Page::open(&browser, &page);
    page.wait(&format!("{DRAWN} === 4"));
    page.act(KEEP);
    // Save every figure with its initial selection.
    page.act("for (const button of document.querySelectorAll('.save button')) if (button.textContent !== 'PNG') button.click()");
    page.wait("saved.length === 8");
    let saved = page.value("saved");
    for (number, file) in [
        "out-means-turnaround",
        "out-differences-0-turnaround",
        "out-waits",
        "out-course-utilization",
    ]
    .iter()
    .enumerate()
    {
        let path = folder.join(format!("figures/{file}.svg"));
        let written = std::fs::read_to_string(&path).unwrap();
        let is_there = saved.as_array().unwrap().iter().any(|one| one["text"] == written.as_str());
        assert!(is_there, "{number}: {file}");
    }
    let csv = saved.as_array().unwrap().iter().find(|one| {
        one["text"]
            .as_str()
            .unwrap()
            .starts_with("allocator,workload.load,turnaround,half_width,replications\n")
    });
    assert_eq!(csv.unwrap()["text"].as_str().unwrap().lines().count(), 9);
    page.act("document.querySelectorAll('.save button')[1].click()");
    page.wait("saved.at(-1).kind === 'image/png' && saved.at(-1).size > 10000");
    assert_eq!(page.console(), Vec::<String>::new());
}

#[test]
fn what_is_chosen_stands_in_the_address() {
    let Some(browser) = browser() else { return };
    let folder = Scratch::new();
    let file = page_of(&folder, "load.toml");
    let page = Page::open(&browser, &file);
    page.wait(&format!("{DRAWN} === 4"));
    let choose = |which: &str, value: &str| {
        page.act(&format!(
            "const select = document.querySelector('#out-means select[data-key={which}]'); select.value = '{value}';
             select.dispatchEvent(new Event('change'))"
        ));
    };
    choose("metric", "Utilization");
    choose("scale", "logarithmic");
    let hash = page.value("location.hash");
    assert_eq!(hash, "#?out-means.metric=Utilization&out-means.scale=logarithmic");
    let address =
        format!("file://{}{}", file.canonicalize().unwrap().display(), hash.as_str().unwrap());
    let other = Page::visit(&browser, &address);
    other.wait(&format!("{DRAWN} === 4"));
    let caption = "document.querySelector('#out-means figcaption').textContent";
    let caption = other.value(caption);
    let caption = caption.as_str().unwrap();
    assert!(
        caption.starts_with("Utilization: ") && caption.ends_with(" The scale is logarithmic."),
        "{caption}"
    );
    // The initial selection is not written to the address.
    choose("metric", "Turnaround");
    choose("scale", "logarithmic");
    choose("scale", "linear");
    assert_eq!(page.value("location.hash.includes('metric')"), false);
    assert_eq!(page.console(), Vec::<String>::new());
    assert_eq!(other.console(), Vec::<String>::new());
}

#[test]
fn the_x_axis_the_panels_and_the_order_of_numbers_can_be_chosen() {
    let Some(browser) = browser() else { return };
    let folder = Scratch::new();
    let page = Page::open(&browser, &page_of(&folder, "load.toml"));
    page.wait(&format!("{DRAWN} === 4"));
    let choose = |id: &str, key: &str, value: &str| {
        page.act(&format!(
            "(() => {{ const select = document.querySelector('#{id} [data-key=\"{key}\"]');
                select.value = '{value}';
                select.dispatchEvent(new Event('change')); }})()"
        ));
    };
    let axes =
        "[...document.querySelector('#out-means [data-key=along]').options].map((own) => own.text)";
    assert_eq!(page.value(axes), serde_json::json!(["load", "allocator"]));
    choose("out-means", "along", "allocator");
    page.wait("document.querySelector('#out-means figcaption').textContent.includes('a row for each load')");
    assert!(page.value("location.hash").as_str().unwrap().contains("along=allocator"));
    // One of the two allocators is the baseline. So the figure of differences has a single row,
    // with a mark for each load.
    choose("out-differences-0", "along", "allocator");
    page.wait("document.querySelectorAll('#out-differences-0 .legend li').length === 5");
    page.act("document.querySelector('#out-means details').open = true");
    page.wait("document.querySelectorAll('#out-means tbody tr').length === 8");
    let last = "[...document.querySelectorAll('#out-means tbody tr')].map((row) => Number(row.cells[2].textContent))";
    page.act("document.querySelectorAll('#out-means thead button')[2].click()");
    let means: Vec<f64> = serde_json::from_value(page.value(last)).unwrap();
    assert!(means.is_sorted(), "{means:?}");
    assert_eq!(page.console(), Vec::<String>::new());
    // Each of five lines over time has its own panel. In one panel they would hide one another.
    let other = Scratch::new();
    let page = Page::open(&browser, &page_of(&other, "energy.toml"));
    page.wait("document.querySelectorAll('#out-course .panels svg').length === 5");
    page.act(
        "(() => { const select = document.querySelector('#out-course [data-key=lines]');
            select.value = 'in one panel';
            select.dispatchEvent(new Event('change')); })()",
    );
    page.wait("document.querySelectorAll('#out-course .panels svg').length === 1");
    assert_eq!(page.console(), Vec::<String>::new());
}

#[test]
fn paper_has_what_was_not_chosen_and_clips_nothing() {
    let Some(browser) = browser() else { return };
    let folder = Scratch::new();
    let page = Page::open(&browser, &page_of(&folder, "load.toml"));
    page.wait(&format!("{DRAWN} === 4"));
    page.look(794, 1123, false);
    let metrics = page.value("document.querySelector('#out-means select').options.length");
    page.act("dispatchEvent(new Event('beforeprint'))");
    let others = "document.querySelectorAll('#out-means .others svg[role=img]').length";
    assert_eq!(page.value(others).as_u64().unwrap() + 1, metrics.as_u64().unwrap());
    assert_eq!(page.value("document.querySelector('.asked').open"), true);
    let tables = "[...document.querySelectorAll('details.numbers[open] table:not([hidden])')]";
    assert!(
        page.value(&format!("{tables}.length")).as_u64().unwrap() > 2,
        "a wide table is several"
    );
    page.paper(SHEET);
    let wide = page.value(&format!("{tables}.filter((one) => one.offsetWidth > {SHEET}).length"));
    assert_eq!(wide, 0);
    assert_eq!(page.overflow(), 0);
    page.look(794, 1123, false);
    page.act("dispatchEvent(new Event('afterprint'))");
    assert_eq!(page.value(others), 0);
    assert_eq!(page.value("document.querySelectorAll('table[hidden], .parts').length"), 0);
    assert!(page.pdf().starts_with(b"%PDF"));
    assert_eq!(page.console(), Vec::<String>::new());
}

#[test]
fn bars_sizes_and_one_scenario_have_their_pages() {
    let Some(browser) = browser() else { return };
    for (example, drawn, tables) in
        [("hypercube.toml", 4, 2), ("first.toml", 4, 2), ("sites.toml", 3, 1)]
    {
        let folder = Scratch::new();
        let page = Page::open(&browser, &page_of(&folder, example));
        page.wait(&format!("{DRAWN} === {drawn}"));
        assert_eq!(
            page.value("document.querySelectorAll('.numbers table').length"),
            tables,
            "{example}"
        );
        fits_everywhere(&page);
        assert_eq!(page.console(), Vec::<String>::new(), "{example}");
    }
    let folder = Scratch::new();
    let file = examples().join("sites.toml").display().to_string();
    let arguments = ["run", &file, "--set", "scheduler=fcfs", "--out", "out", "--quiet"];
    meshwork(&folder, &arguments).ended(0);
    call(&folder, "report out --out one.html").ended(0);
    let page = Page::open(&browser, &folder.join("one.html"));
    // For a single scenario the page compares no means, but shows the course of its run.
    page.wait(&format!("{DRAWN} === 2"));
    assert_eq!(page.value("document.querySelector('.numbers').open"), true);
    fits_everywhere(&page);
    assert_eq!(page.console(), Vec::<String>::new());
}

#[test]
fn papers_have_every_figure_beside_its_claims() {
    let Some(browser) = browser() else { return };
    let folder = Scratch::new();
    let shorter = ["--quick", "--set", "measure.jobs=700", "--set", "replications=2"];
    for figure in [["reproduce", "rsr", "3"], ["reproduce", "lazy", "2a"]] {
        meshwork(&folder, &[&figure[..], &shorter[..]].concat()).ended(0);
    }
    let missing =
        ["reproduce", "intelligent", "Table IV", "--quick", "--set", "workload.path=none.swf"];
    let said = meshwork(&folder, &missing);
    let last = "every figure beside its claims: reproduction/quick/report.html";
    assert_eq!(said.out.lines().last(), Some(last));
    let page = Page::open(&browser, &folder.join("reproduction/quick/report.html"));
    page.wait(
        "[...document.querySelectorAll('.figures figure')].every((figure) => figure.querySelector('.panels svg'))",
    );
    assert_eq!(page.value("document.querySelectorAll('main > section.study').length"), 3);
    let beside = page.value(
        "[...document.querySelectorAll('.study .sayings')].every((claims) => claims.querySelector('.verdict'))",
    );
    assert_eq!(beside, true);
    let table = page.value(
        "[...document.querySelectorAll('.verdicts tbody tr')].map((row) => row.querySelector('th').textContent)",
    );
    let authors =
        ["Chang & Mohapatra", "Mohapatra, Yu, Das & Kim", "Shih, Huang & Chung"].map(str::to_owned);
    assert_eq!(table, serde_json::json!(authors));
    // The page shows the reason why a claim is not checkable.
    page.wait("document.querySelector('.overview').textContent.includes('The log that it reads is missing.')");
    // Every link has a target.
    let dead = page.value(
        "[...document.querySelectorAll('a[href^=\"#\"]')].filter((a) => !document.getElementById(a.hash.slice(1))).length",
    );
    assert_eq!(dead, 0);
    fits_everywhere(&page);
    assert_eq!(page.console(), Vec::<String>::new());
}

/// Times the fastest of five visits to a page, because other processes may use the machine.
#[test]
fn a_thousand_scenarios_are_open_at_once() {
    let Some(browser) = browser() else { return };
    let folder = Scratch::new();
    let study = "
        machine = { topology = 'mesh', dims = [8, 8] }
        replications = 2
        [workload]
        name = 'synthetic'
        sizes = { name = 'uniform', max = 6 }
        runtimes = { name = 'exponential', mean = 5.0 }
        [measure]
        jobs = 20
        [sweep]
        scheduler = ['fcfs', 'sjf', 'easy', 'scan']
        allocator = ['first_fit', 'frame_sliding', 'best_fit', 'naive', 'boundary_search']
        'workload.load' = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
        'workload.sizes.max' = [2, 4, 6, 7, 8]
        [compare]
        scheduler = 'fcfs'
    ";
    put(&folder, "thousand.toml", study);
    call(&folder, "run thousand.toml --out out --quiet").ended(0);
    call(&folder, "report out").ended(0);
    let file = folder.join("out/report.html");
    assert!(std::fs::metadata(&file).unwrap().len() < 10_000_000);
    let visit = |_| {
        let page = Page::open(&browser, &file);
        page.wait(&format!("{DRAWN} === 12"));
        assert_eq!(page.value("document.querySelector('.numbers tbody').children.length"), 1000);
        assert_eq!(page.console(), Vec::<String>::new());
        page.value("performance.getEntriesByType('navigation')[0].loadEventEnd").as_f64().unwrap()
    };
    let fastest = (0..5).map(visit).fold(f64::INFINITY, f64::min);
    assert!(fastest < 2000.0, "{fastest} ms");
}
