//! Tests of the map of the machine in a report, in a real browser. The map is compared with the
//! events of the run that it shows.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use crate::chromium::{Page, browser};
use crate::common::{Scratch, call, meshwork, put};
use meshwork::job::{Cause, Time};
use meshwork::observe::{JobId, Observer};
use meshwork::topology::Topology;
use meshwork::workload::NoInputs;
use meshwork_lab::Study;
use meshwork_lab::watch::{EventKind, Live, Next, RunEvent, Scene};
use serde_json::{Value, json};

/// JavaScript object that draws the map of the machine.
const MACHINE: &str = "document.querySelector('.machine').machine";

/// Number of steps of the slider that selects an instant of the run.
const STEPS: f64 = 100_000.0;

struct Shown {
    page: Page,
    happenings: Vec<RunEvent>,
    topologies: Vec<Topology>,
    _browser: headless_chrome::Browser,
    _folder: Scratch,
}

fn made(head: &str, tail: &str, options: &[&str]) -> Scratch {
    let folder = Scratch::new();
    let text = format!(
        "{head}\nmeasure = {{ jobs = 120 }}\n[workload]\nname = 'synthetic'\nload = 0.8\n\
         sizes = 'uniform'\nruntimes = {{ name = 'exponential', mean = 5.0 }}\n{tail}"
    );
    put(&folder, "a.toml", text);
    call(&folder, "run a.toml --out out --quiet").ended(0);
    meshwork(&folder, &[&["report", "out"], options].concat()).ended(0);
    folder
}

/// Opens the report page of a new study; `None` without a browser.
fn shown(head: &str) -> Option<Shown> {
    let browser = browser()?;
    let folder = made(head, "", &[]);
    let (happenings, topologies) = lived(&folder.join("a.toml"));
    let page = opened(&browser, &folder);
    Some(Shown { page, happenings, topologies, _browser: browser, _folder: folder })
}

fn opened(browser: &headless_chrome::Browser, folder: &Path) -> Page {
    let page = Page::open(browser, &folder.join("out/report.html"));
    page.look(1280, 900, false);
    page.wait(&format!("{MACHINE}?.moment"));
    page
}

/// Events of a study's first run, and the topologies of its sites.
fn lived(file: &Path) -> (Vec<RunEvent>, Vec<Topology>) {
    let study = Study::read(file, &[]).unwrap();
    let (point, mut live) = Live::start(&study, 0, 0).unwrap();
    let mut all = Vec::new();
    loop {
        match live.next(Duration::from_secs(60)) {
            Next::Event(happening) => all.push(happening),
            Next::Later => panic!("a minute for one event"),
            Next::Ended(outcome) => {
                outcome.unwrap();
                return (all, point.scenario.topologies());
            }
        }
    }
}

/// Number with at most three decimals, as the page shows it.
fn written(number: f64) -> String {
    ((number * 1000.0).round() / 1000.0).to_string()
}

fn plural(count: usize, one: &str, more: &str) -> String {
    if count == 1 { one.to_owned() } else { more.to_owned() }
}

impl Shown {
    fn slide(&self, share: f64) -> f64 {
        self.page.act(&format!(
            "const slider = document.querySelector('.machine input[type=range]');
             slider.value = {};
             slider.dispatchEvent(new Event('input', {{ bubbles: true }}))",
            share * STEPS
        ));
        self.page.wait(&format!("{MACHINE}.time === {MACHINE}.timeOf({share})"));
        self.time()
    }

    fn time(&self) -> f64 {
        self.page.value(&format!("{MACHINE}.time")).as_f64().unwrap()
    }

    fn scene(&self, time: f64) -> Scene {
        let mut scene = Scene::new(self.topologies.clone());
        let until = Time::new(time);
        for happening in self.happenings.iter().take_while(|happening| happening.at <= until) {
            scene.apply(happening);
        }
        scene
    }

    /// Checks the page at an instant: its sentences, its lists, and the holder of each processor.
    fn agrees(&self, time: f64) {
        let scene = self.scene(time);
        let nodes: u32 = self.topologies.iter().map(|topology| topology.grid().nodes()).sum();
        let free: u32 = (0..self.topologies.len()).map(|site| scene.free_on(site)).sum();
        let held = nodes - free;
        let share = (100.0 * f64::from(held) / f64::from(nodes)).round();
        let (runs, waits) = (scene.running().len(), scene.waiting().len());
        let sentence = format!(
            "Time {}: {held} of {nodes} processors are held ({share}\u{202f}%), {free} {} free; {runs} {}, \
             {waits} {}.",
            written(time),
            plural(free as usize, "is", "are"),
            plural(runs, "job runs", "jobs run"),
            plural(waits, "waits", "wait")
        );
        let words = self.page.value("document.querySelector('.m-now').textContent");
        assert!(words.as_str().unwrap().starts_with(&sentence), "{words} is not {sentence}");
        self.page.wait(&format!(
            "[...document.querySelectorAll('.machine caption')].map((c) => c.textContent).join() === \
             'Running: {runs},Waiting: {waits}'"
        ));
        let waiting: Vec<u64> = scene.waiting().values().map(|job| job.number).take(20).collect();
        let listed = "[...document.querySelectorAll('.m-list:last-child tbody tr:not([hidden]) button')]\
                      .map((button) => Number(button.textContent))";
        assert_eq!(self.page.value(listed), json!(waiting));
        let holders: Vec<Vec<u64>> = self
            .topologies
            .iter()
            .enumerate()
            .map(|(site, topology)| {
                let number =
                    |node| scene.owner(site, node).map_or(0, |id| scene.running()[&id].job.number);
                (0..topology.grid().nodes()).map(number).collect()
            })
            .collect();
        let drawn = self.page.value(&format!(
            "{MACHINE}.maps.map((map) => [...map.holder].map((s) => s < 0 ? 0 : map.run.number[map.run.who[s]]))"
        ));
        assert_eq!(drawn, json!(holders));
    }

    /// Checks the map at three instants, and at several widths of the window in light and dark.
    fn is_right(&self) {
        let mut pictures: Vec<Value> = Vec::new();
        for share in [0.2, 0.5, 0.85] {
            let time = self.slide(share);
            self.agrees(time);
            assert_eq!(self.page.value(&wrong_pixels()), json!([]), "on the canvas, at {time}");
            let picture = self
                .page
                .value(&format!("{MACHINE}.maps.map((map) => map.canvas.toDataURL()).join()"));
            assert!(!pictures.contains(&picture), "the slider moves the map");
            pictures.push(picture);
        }
        // Every processor has exactly one position in the picture.
        let places = self.page.value(&format!(
            "{MACHINE}.layouts.map(({{ panes }}) => panes.flatMap((pane) => Array.from(
                {{ length: pane.columns * pane.rows }},
                (_, i) => pane.node(i % pane.columns, Math.floor(i / pane.columns)))).filter((n) => n >= 0)
                .sort((a, b) => a - b))"
        ));
        let all: Vec<Vec<u32>> =
            self.topologies.iter().map(|t| (0..t.grid().nodes()).collect()).collect();
        assert_eq!(places, json!(all));
        for dark in [false, true] {
            for width in [390, 320, 1280] {
                self.page.look(width, 900, dark);
                self.page.wait(&format!(
                    "{MACHINE}.width === document.querySelector('.machine').clientWidth"
                ));
                assert_eq!(self.page.overflow(), 0, "at {width}, dark: {dark}");
                assert_eq!(self.page.value(&wrong_pixels()), json!([]), "at {width}, dark: {dark}");
            }
        }
        assert_eq!(self.page.console(), Vec::<String>::new());
    }
}

/// JavaScript that lists held processors that are drawn as free, and free ones drawn as held.
fn wrong_pixels() -> String {
    format!(
        "(() => {{
            const wrong = [];
            for (const map of {MACHINE}.maps) {{
                const copy = document.createElement('canvas');
                [copy.width, copy.height] = [map.canvas.width, map.canvas.height + 1];
                const context = copy.getContext('2d', {{ willReadFrequently: true }});
                context.drawImage(map.canvas, 0, 0);
                context.fillStyle = {MACHINE}.theme.free;
                context.fillRect(0, map.canvas.height, 1, 1);
                const {{ data }} = context.getImageData(0, 0, copy.width, copy.height);
                const colour = (x, y) => data.slice(4 * (y * copy.width + x), 4 * (y * copy.width + x) + 4).join();
                const free = colour(0, map.canvas.height);
                const {{ cell, panes }} = map.layout;
                for (const pane of panes) {{
                    for (let y = 0; y < pane.rows; y += 1) {{
                        for (let x = 0; x < pane.columns; x += 1) {{
                            const node = pane.node(x, y);
                            const at = colour(Math.floor(pane.x + (x + 0.3) * cell), Math.floor(pane.y + (y + 0.3) * cell));
                            if (node >= 0 && (at === free) !== map.holder[node] < 0) wrong.push(node);
                        }}
                    }}
                }}
            }}
            return wrong;
        }})()"
    )
}

/// Node numbers in the drawing of the first site, by drawn layer, row and column.
fn panes(shown: &Shown) -> Vec<Vec<Vec<u32>>> {
    let found = shown.page.value(&format!(
        "{MACHINE}.layouts[0].panes.map((pane) => Array.from({{ length: pane.rows }}, (_, y) =>
            Array.from({{ length: pane.columns }}, (_, x) => pane.node(x, y))))"
    ));
    serde_json::from_value(found).unwrap()
}

#[test]
fn a_mesh_is_drawn_as_it_is() {
    let Some(shown) = shown("machine = { topology = 'mesh', dims = [8, 6] }") else { return };
    shown.is_right();
    let rows: Vec<Vec<u32>> = (0..6).map(|y| (8 * y..8 * y + 8).collect()).collect();
    assert_eq!(panes(&shown), [rows]);
}

#[test]
fn a_torus_of_three_dimensions_is_drawn_in_layers() {
    let head = "machine = { topology = 'torus', dims = [4, 3, 5] }";
    let Some(shown) = shown(head) else { return };
    shown.is_right();
    let layer = |z: u32| (0..3).map(|y| (z * 12 + y * 4..z * 12 + y * 4 + 4).collect()).collect();
    assert_eq!(panes(&shown), (0..5).map(layer).collect::<Vec<Vec<Vec<u32>>>>());
    let labels =
        shown.page.value(&format!("{MACHINE}.layouts[0].labels.map((label) => label.text)"));
    assert_eq!(labels, json!(["z=0", "z=1", "z=2", "z=3", "z=4"]));
}

#[test]
fn a_hypercube_is_drawn_as_a_karnaugh_map() {
    let Some(shown) = shown("machine = { topology = 'hypercube', dimension = 5 }") else { return };
    shown.is_right();
    let rows = &panes(&shown)[0];
    assert_eq!(rows[0], [0, 1, 3, 2, 6, 7, 5, 4]);
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), [0, 8, 24, 16]);
    for (y, row) in rows.iter().enumerate() {
        for (x, node) in row.iter().enumerate() {
            let beside = [row.get(x + 1), rows.get(y + 1).map(|below| &below[x])];
            for other in beside.into_iter().flatten() {
                assert_eq!((node ^ other).count_ones(), 1);
            }
        }
    }
}

#[test]
fn a_flat_machine_is_drawn_in_rows() {
    let Some(shown) = shown("machine = { topology = 'flat', processors = 40 }") else { return };
    shown.is_right();
    let labels =
        shown.page.value(&format!("{MACHINE}.layouts[0].labels.map((label) => label.text)"));
    assert_eq!(labels, json!([0, 16, 32]));
    assert_eq!(shown.page.value(&format!("{MACHINE}.gantt.bands[0].ordered")), true);
}

#[test]
fn sites_stand_beside_each_other() {
    let head = "machine.sites = [ { topology = 'mesh', dims = [4, 4], speed = 2.0 }, \
                { topology = 'flat', processors = 12 } ]";
    let Some(shown) = shown(head) else { return };
    shown.is_right();
    let names = shown.page.value(
        "[...document.querySelectorAll('.m-sites figcaption strong')].map((name) => name.textContent)",
    );
    assert_eq!(
        names,
        json!(["Site 1: 4 × 4 mesh, speed 2", "Site 2: flat machine of 12 processors"])
    );
    let tops =
        "new Set([...document.querySelectorAll('.m-sites figure')].map((f) => f.offsetTop)).size";
    assert_eq!(shown.page.value(tops), 1);
}

#[test]
fn jobs_that_are_resized_are_seen_to_be() {
    let head = "scheduler = 'equipartition'\nmachine = { topology = 'mesh', dims = [8, 8] }";
    let Some(shown) = shown(head) else { return };
    shown.is_right();
}

/// Intervals in which jobs wait: begin, end, number of the job, and the only cause of the wait.
#[derive(Default)]
struct Causes(Vec<(f64, f64, u64, Cause)>);

impl Observer for Causes {
    fn asks_why_jobs_wait(&self) -> bool {
        true
    }

    fn waited(&mut self, from: Time, to: Time, id: JobId, cause: Cause) {
        self.0.push((from.units(), to.units(), id.0 + 1, cause));
    }
}

#[test]
fn a_job_that_waits_says_why() {
    let head = "scheduler = 'easy'\nmachine = { topology = 'mesh', dims = [8, 6] }";
    let Some(shown) = shown(head) else { return };
    let study = Study::read(&shown._folder.join("a.toml"), &[]).unwrap();
    let mut causes = Causes::default();
    let point = meshwork_lab::study::expand::point_at(&study, 0).unwrap();
    point.scenario.run(0, &NoInputs, &mut causes).unwrap();
    let mut seen = BTreeSet::new();
    for share in (5..100).step_by(5) {
        let time = shown.slide(f64::from(share) / 100.0);
        let scene = shown.scene(time);
        let waits: Vec<_> =
            causes.0.iter().filter(|(from, to, ..)| (*from..*to).contains(&time)).take(3).collect();
        assert_eq!(waits.len(), scene.waiting().len().min(3));
        for (place, (_, _, job, cause)) in waits.into_iter().enumerate() {
            let free = scene.free_on(0);
            let is = format!("{free} {} free", if free == 1 { "is" } else { "are" });
            let because = match cause {
                Cause::Nodes => format!("too few processors are free for it: {is}."),
                Cause::Shape => {
                    format!(
                        "enough processors are free for it ({is}), but in no shape that it may have."
                    )
                }
                _ => "it could start, but processors are kept for jobs that come before it."
                    .to_owned(),
            };
            seen.insert(*cause);
            // The list of waiting jobs is drawn a little later than the map.
            let button = format!(
                "document.querySelectorAll('.m-list:last-child tbody tr:not([hidden]) button')[{place}]"
            );
            shown.page.wait(&format!("{button}?.textContent === '{job}'"));
            shown.page.act(&format!("{button}.click()"));
            let said = shown.page.value("document.querySelector('.m-why').textContent");
            let said = said.as_str().unwrap();
            assert!(said.contains(&format!(" it waits: {because}")), "job {job} at {time}: {said}");
            shown.page.act(&format!("{button}.click()"));
        }
    }
    assert!(seen.len() > 1, "{seen:?}");
    // The shown cause changes with the selected instant: a job that runs then has no cause to wait.
    let started =
        shown.happenings.iter().rfind(|own| matches!(own.what, EventKind::Started { .. })).unwrap();
    shown.page.act(&format!(
        "{MACHINE}.pick({}); {MACHINE}.seek({})",
        started.id.0,
        started.at.units()
    ));
    assert_eq!(shown.page.value("document.querySelector('.m-why').textContent"), "");
    assert_eq!(shown.page.console(), Vec::<String>::new());
}

#[test]
fn the_keyboard_is_enough() {
    let Some(shown) = shown("machine = { topology = 'mesh', dims = [8, 6] }") else { return };
    let Shown { page, happenings, .. } = &shown;
    let instants: Vec<f64> = happenings.iter().map(|happening| happening.at.units()).collect();
    let time = shown.slide(0.4);
    page.act("document.querySelector('.machine input[type=range]').focus()");
    page.press("ArrowRight");
    let next = instants.iter().copied().find(|&at| at > time).unwrap();
    assert_eq!(shown.time().to_bits(), next.to_bits(), "the next event");
    shown.agrees(next);
    page.press("ArrowLeft");
    let before = instants.iter().copied().rfind(|&at| at < next).unwrap();
    assert_eq!(shown.time().to_bits(), before.to_bits(), "the event before");
    page.press("Home");
    assert_eq!(shown.time().to_bits(), 0.0_f64.to_bits());
    shown.agrees(0.0);
    page.press("End");
    assert_eq!(shown.time().to_bits(), instants.last().unwrap().to_bits());
    shown.slide(0.3);
    // The words on the map are announced to screen readers once the slider rests.
    page.wait("document.querySelector('.m-unseen').textContent === document.querySelector('.m-now').textContent");
    let still = shown.time();
    page.press(" ");
    page.wait(&format!("{MACHINE}.time > {still}"));
    page.press(" ");
    assert_eq!(page.value(&format!("{MACHINE}.isPlaying")), false);
    // Select a job in the list, and deselect it.
    page.act("document.querySelector('.m-list tbody button').focus()");
    page.press("Enter");
    page.wait(
        "document.querySelector('.m-list tbody button').getAttribute('aria-pressed') === 'true'",
    );
    let number = page.value("document.querySelector('.m-list tbody button').textContent");
    let facts = page.value("document.querySelector('.m-facts').textContent");
    let begins = format!("Job {} asks for ", number.as_str().unwrap());
    assert!(facts.as_str().unwrap().starts_with(&begins), "{facts}");
    page.press("Escape");
    assert_eq!(page.value(&format!("{MACHINE}.chosen")), -1);
    assert_eq!(page.console(), Vec::<String>::new());
}

#[test]
fn a_job_is_followed_from_the_chart_to_the_map() {
    let Some(shown) = shown("machine = { topology = 'mesh', dims = [8, 6] }") else { return };
    let page = &shown.page;
    page.act(&format!("{MACHINE}.chart.scrollIntoView({{ block: 'center' }})"));
    let widest = format!(
        "(() => {{
            const box = {MACHINE}.chart.getBoundingClientRect();
            const wide = {MACHINE}.gantt.rects.reduce((a, b) => (b[2] > a[2] ? b : a));
            return [box.left + wide[0] + wide[2] / 2, box.top + wide[1] + wide[3] / 2, wide[4]];
        }})()"
    );
    let place = page.value(&widest);
    page.click(place[0].as_f64().unwrap(), place[1].as_f64().unwrap());
    page.wait(&format!("{MACHINE}.chosen === {}", place[2]));
    let time = shown.time();
    let number = page.value(&format!("{MACHINE}.run.number[{MACHINE}.chosen]")).as_u64().unwrap();
    let scene = shown.scene(time);
    assert!(scene.running().values().any(|held| held.job.number == number), "it runs at {time}");
    shown.agrees(time);
    assert_eq!(page.console(), Vec::<String>::new());
}

/// Selects a run of a sweep over schedulers, and waits until the run of `scheduler` is shown.
fn choose_run(page: &Page, index: usize, scheduler: &str) {
    page.act(&format!(
        "const runs = document.querySelector('.m-runs select');
         runs.selectedIndex = {index};
         runs.dispatchEvent(new Event('change'))"
    ));
    page.wait(&format!("{MACHINE}.run.recording.title === 'scheduler = {scheduler}'"));
}

#[test]
fn runs_are_compared_at_the_same_time() {
    let Some(browser) = browser() else { return };
    let head = "machine = { topology = 'mesh', dims = [8, 6] }";
    let folder = made(head, "[sweep]\nscheduler = ['fcfs', 'sjf']\n", &[]);
    let page = opened(&browser, &folder);
    let seen = format!("[{MACHINE}.time, {MACHINE}.run.recording.title]");
    let before = page.value(&seen);
    assert_eq!(before[1], "scheduler = fcfs");
    choose_run(&page, 1, "sjf");
    assert_eq!(page.value(&seen)[0], before[0]);
    assert_eq!(page.console(), Vec::<String>::new());
}

#[test]
fn a_part_of_a_run_says_so() {
    let Some(browser) = browser() else { return };
    let options = ["--jobs", "20", "--from", "30", "--run", "1"];
    let folder = made("machine = { topology = 'mesh', dims = [8, 6] }", "", &options);
    let page = opened(&browser, &folder);
    let note = page.value("document.querySelector('.m-notes').textContent");
    assert!(
        note.as_str().unwrap().starts_with("Shown is a part of the run, from time 30 to time ")
    );
    assert_eq!(page.value(&format!("{MACHINE}.timeOf(0)")), 30.0);
    assert_eq!(page.console(), Vec::<String>::new());
}

#[test]
fn whoever_points_at_a_processor_learns_where_it_is() {
    for (head, node, name) in [
        ("machine = { topology = 'torus', dims = [4, 3, 5] }", 30, "processor 30 (2,1,2): "),
        ("machine = { topology = 'hypercube', dimension = 5 }", 11, "processor 11 (01011): "),
        ("machine = { topology = 'flat', processors = 40 }", 17, "processor 17: "),
    ] {
        let Some(shown) = shown(head) else { return };
        shown.slide(0.5);
        shown.page.act(&format!(
            "const {{ canvas, layout }} = {MACHINE}.maps[0];
             const box = canvas.getBoundingClientRect();
             for (const pane of layout.panes) {{
                 for (let i = 0; i < pane.columns * pane.rows; i += 1) {{
                     const [x, y] = [i % pane.columns, Math.floor(i / pane.columns)];
                     if (pane.node(x, y) !== {node}) continue;
                     const [clientX, clientY] = [box.left + pane.x + (x + 0.5) * layout.cell, box.top + pane.y + (y + 0.5) * layout.cell];
                     canvas.dispatchEvent(new PointerEvent('pointermove', {{ clientX, clientY, bubbles: true }}));
                 }}
             }}"
        ));
        let said = shown.page.value("document.querySelector('.m-tip').textContent");
        let said = said.as_str().unwrap();
        let job = shown.page.value(&format!(
            "(() => {{ const s = {MACHINE}.maps[0].holder[{node}]; return s < 0 ? 0 : {MACHINE}.run.number[{MACHINE}.run.who[s]]; }})()"
        ));
        let who = if job == 0 { "free".to_owned() } else { format!("job {job}, ") };
        assert!(said.starts_with(&format!("{name}{who}")), "{said}");
    }
}

#[test]
fn an_address_leads_to_the_run_and_the_time_that_were_seen() {
    let Some(browser) = browser() else { return };
    let head = "machine = { topology = 'mesh', dims = [8, 6] }";
    let folder = made(head, "[sweep]\nscheduler = ['fcfs', 'sjf']\n", &[]);
    let page = opened(&browser, &folder);
    assert_eq!(page.value("location.hash"), "", "nothing was chosen");
    choose_run(&page, 1, "sjf");
    page.act(&format!("{MACHINE}.seek({MACHINE}.timeOf(0.7))"));
    // The address is updated with a delay, and may still hold the previous selection of the run.
    let time = format!("Number({MACHINE}.time.toPrecision(10))");
    page.wait(&format!("decodeURIComponent(location.hash).includes('/' + {time})"));
    let seen = format!("[{MACHINE}.run.recording.scenario, Number({MACHINE}.time.toPrecision(9))]");
    let (address, seen_here) = (page.value("location.href"), page.value(&seen));
    let other = Page::visit(&browser, address.as_str().unwrap());
    other.wait(&format!("{MACHINE}?.moment"));
    assert_eq!(other.value(&seen), seen_here);
    // The initial state is not written to the address.
    choose_run(&page, 0, "fcfs");
    page.act(&format!("{MACHINE}.seek({MACHINE}.begin)"));
    page.wait("location.hash === ''");
    assert_eq!(page.console(), Vec::<String>::new());
}

#[test]
fn the_map_is_saved_as_it_is_seen() {
    let Some(shown) = shown("machine = { topology = 'mesh', dims = [8, 6] }") else { return };
    shown.slide(0.5);
    let page = &shown.page;
    page.act(
        "window.saved = [];
         URL.createObjectURL = (blob) => { saved.push(blob); return '#'; };
         HTMLAnchorElement.prototype.click = () => {};
         for (const button of document.querySelectorAll('.m-save button')) button.click()",
    );
    // The page saves a bitmap, a vector drawing, and a table.
    page.wait("saved.length === 3");
    page.act("saved.sort((a, b) => a.type.localeCompare(b.type))");
    page.act("saved[1].text().then((text) => { window.drawing = new DOMParser().parseFromString(text, 'image/svg+xml'); })");
    page.wait("window.drawing");
    // The area that is drawn in colours of jobs is the area of the held processors.
    let area = page.value(&format!(
        "(() => {{
            const jobs = new Set({MACHINE}.theme.jobs);
            let area = 0;
            for (const rect of drawing.querySelectorAll('g rect')) {{
                if (jobs.has(rect.getAttribute('fill'))) area += rect.getAttribute('width') * rect.getAttribute('height');
            }}
            return Math.round(area / {MACHINE}.layouts[0].cell ** 2);
        }})()"
    ));
    assert_eq!(area, page.value(&format!("{MACHINE}.moment.held")));
    assert_eq!(page.value("drawing.querySelectorAll('parsererror').length"), 0);
    assert_eq!(page.value("saved[0].type"), "image/png");
    assert!(page.value("saved[0].size").as_u64() > Some(2000));
    assert_eq!(page.console(), Vec::<String>::new());
}

#[test]
fn thirty_two_layers_stand_eight_by_eight() {
    let head = "machine = { topology = 'torus', dims = [16, 16, 32] }";
    let Some(shown) = shown(head) else { return };
    shown.page.look(1280, 900, false);
    shown.page.wait(&format!("{MACHINE}.width === document.querySelector('.machine').clientWidth"));
    let across = format!("new Set({MACHINE}.layouts[0].panes.map((pane) => pane.x)).size");
    assert_eq!(shown.page.value(&across), 8);
    assert_eq!(shown.page.overflow(), 0);
}

#[test]
fn more_lanes_than_rows_are_put_together() {
    let Some(shown) = shown("machine = { topology = 'flat', processors = 2000 }") else { return };
    let page = &shown.page;
    shown.slide(0.5);
    assert_eq!(page.value(&format!("{MACHINE}.gantt.isDense({MACHINE}.gantt.bands[0])")), true);
    // In every row of the chart, the number of held processors equals the number on the map.
    let wrong = page.value(&format!(
        "(() => {{
            const {{ gantt, maps, time }} = {MACHINE};
            const [band, cells] = [gantt.bands[0], gantt.cells[0]];
            const wrong = [];
            for (let row = 0; row < cells.rows; row += 1) {{
                const [first, end] = [cells.lane(row), cells.lane(row + 1)];
                const held = [...maps[0].holder.slice(first, end)].filter((stay) => stay >= 0).length;
                const y = band.top + ((first + 0.5) / band.lanes) * band.height;
                const words = gantt.rowWords(gantt.x(time), y);
                if (!words.startsWith(`processors ${{first}}–${{end - 1}}: ${{held}} of ${{end - first}} held`)) wrong.push([words, first, end, held]);
            }}
            return [cells.rows > 20, wrong];
        }})()"
    ));
    assert_eq!(wrong, json!([true, []]));
}

#[test]
fn the_queue_is_seen_beside_those_that_run() {
    let head = "machine = { topology = 'mesh', dims = [24, 24] }";
    let Some(shown) = shown(head) else { return };
    shown.slide(0.6);
    let page = &shown.page;
    assert_eq!(
        page.value("document.querySelector('.m-stage').classList.contains('m-beside')"),
        true
    );
    let seen = "(() => {
        const [maps, running, waiting] = ['.m-maps', '.m-list:first-child', '.m-list:last-child']
            .map((name) => document.querySelector(name).getBoundingClientRect());
        return [waiting.left >= maps.right, waiting.bottom <= maps.bottom + 2, waiting.top >= running.bottom, waiting.height > 80];
    })()";
    assert_eq!(page.value(seen), json!([true, true, true, true]));
}

/// Prints the time to draw the map at 200 instants of a run of 50,000 jobs.
#[test]
#[ignore = "it measures: its figures stand in docs/performance.md"]
#[expect(clippy::print_stderr, reason = "it is run to be read")]
fn scrubbing_fifty_thousand_jobs() {
    let Some(browser) = browser() else { return };
    let folder = Scratch::new();
    let text = "machine = { topology = 'mesh', dims = [64, 64] }\nmeasure = { jobs = 50000 }\n[workload]\n\
                name = 'synthetic'\nload = 0.7\nsizes = { name = 'uniform', max = [12, 12] }\n\
                runtimes = { name = 'exponential', mean = 5.0 }\n";
    put(&folder, "a.toml", text);
    call(&folder, "run a.toml --out out --quiet");
    call(&folder, "report out --jobs 50000");
    let page = opened(&browser, &folder);
    let size = std::fs::metadata(folder.join("out/report.html")).unwrap().len();
    let places = "(() => { let seed = 1; return Array.from({ length: 200 }, () => (seed = seed * 48271 % 2147483647) / 2147483647); })()";
    let measure = |what: &str, act: &str| {
        let took = page.value(&format!(
            "(() => {{
                const machine = {MACHINE};
                const {{ from, until }} = machine.run.recording;
                const took = {places}.map((share) => {{
                    const time = from + share * (until - from);
                    const begun = performance.now();
                    {act};
                    return performance.now() - begun;
                }}).sort((a, b) => a - b);
                return [took[100], took[199]];
            }})()"
        ));
        eprintln!(
            "{what}: median {:.1} ms, most {:.1} ms",
            took[0].as_f64().unwrap(),
            took[1].as_f64().unwrap()
        );
    };
    eprintln!("the page has {size} bytes");
    measure("who holds what, and who waits", "machine.run.moment(time, 20)");
    measure(
        "a frame, with the layout of the page",
        "machine.seek(time); document.body.offsetHeight",
    );
}
