//! One page for what came of studies: plots, tables and claims, in a single file of HTML.
//!
//! [`Report::read`] makes a report of a folder that `meshwork run --out` wrote, or of a folder of such
//! folders, as `meshwork reproduce` writes; [`Report::of`] makes one of studies at hand, finished or
//! not. [`Report::html`] is a pure function of it. Every number comes from the same [`Summary`] that
//! writes `summary.csv`.
//!
//! [`Section::figures`] is what the script of the page draws: `drawFigures(root, data)` in
//! `assets/report/figures.js` takes [`Report::data`] and may be called again with fresh data.

mod axes;
mod bounds;
mod caption;
mod compared;
mod course;
mod draw;
mod facts;
mod figures;
mod finding;
mod folder;
mod html;
mod live;
mod machine;
mod markup;
mod overview;
mod palette;
mod sample;
mod tables;
mod views;

use meshwork::catalogue::Catalogue;
use std::path::Path;

use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::findings::claims::{Judgement, judge, unchecked};
use crate::findings::clock::Clock;
use crate::findings::columns::Shown;
use crate::findings::summary::Summary;
use crate::run::Results;
use crate::study::asked::Asked;
use crate::study::expand::Point;
use crate::study::papers::PAPERS;
use crate::study::{Refused, Study};
use crate::watch::recording::{Recording, Timeline};

pub use compared::compared;
pub use draw::figure;
pub use facts::Fact;
pub use finding::Finding;
pub(crate) use folder::failures as failures_in;
pub use machine::Maps;
pub(crate) use machine::stored_run;
pub use overview::{Overview, PaperLine};
pub(crate) use sample::sample;
pub use tables::{Cell, Table};
pub use views::{Bound, Choice, Dates, Figure, Key, Scale, Series, Style, View};

/// The most rows of a table in the page; the rest stands in the files beside it.
const MAX_ROWS: usize = 2000;

/// The width of a figure in a file, in pixels.
const FIGURE_WIDTH: f64 = 720.0;

/// All that a section is made of: a study, how it was asked for, and its runs so far.
pub struct Content {
    /// The study.
    pub study: Study,
    /// How it was asked for.
    pub asked: Asked,
    /// Its scenarios.
    pub points: Vec<Point>,
    /// Their runs.
    pub results: Results,
    /// How many runs are wanted and not there.
    pub missing: u64,
    /// The versions of Meshwork that ran them.
    pub versions: Vec<String>,
    /// The name of the folder they lie in, if they lie in one.
    pub folder: Option<String>,
    /// What is worth a word, one sentence each.
    pub notes: Vec<String>,
}

impl Content {
    /// What the clock counts of one of its scenarios.
    fn clock_of(&self, scenario: usize) -> Clock {
        let Some(point) = self.points.get(scenario) else { return Clock::default() };
        let path = point.scenario.input_path();
        let input = self.asked.inputs.iter().find(|input| Some(input.path.as_str()) == path);
        Clock::of(&self.study, &point.scenario, input.and_then(|input| input.start.as_ref()))
    }

    /// What the clock counts of all its scenarios.
    fn clock(&self) -> Clock {
        Clock::shared((0..self.points.len()).map(|scenario| self.clock_of(scenario)))
    }
}

/// A page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Its title.
    pub title: String,
    /// What it is, in a sentence or two.
    pub about: String,
    /// How the claims of all its sections fare, where there are several sections with claims.
    pub overview: Option<Overview>,
    /// One for each study.
    pub sections: Vec<Section>,
    /// What could not be read, one sentence each.
    pub warnings: Vec<String>,
    /// What is true of several sections, one sentence each.
    pub notes: Vec<String>,
}

/// One study.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Section {
    /// Its name, unique in the page and fit for a link.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// What it asks.
    pub description: Option<String>,
    /// The key of the paper that it is about, if it is.
    pub paper: Option<String>,
    /// What was asked.
    pub facts: Vec<Fact>,
    /// The command that repeats it.
    pub command: String,
    /// The text of the study.
    pub source: String,
    /// What was found, where something is swept: that of what is chosen at first, then those of all other choices.
    pub findings: Vec<Finding>,
    /// What makes the numbers mean something else, one sentence each.
    pub warnings: Vec<String>,
    /// What is worth a word, one sentence each.
    pub notes: Vec<String>,
    /// The scenarios whose queue grows over the whole run, counted from 0.
    pub growing: Vec<usize>,
    /// Why runs failed, one sentence each.
    pub failures: Vec<String>,
    /// The claims, with verdicts.
    pub claims: Vec<ClaimLine>,
    /// What is drawn.
    pub figures: Vec<Figure>,
    /// What is told in rows.
    pub tables: Vec<Table>,
    /// What the clock counts: `unit`, `factor` and, where all its scenarios read one log, `start`. See
    /// [`Clock`] for how the page shows a time.
    pub clock: Clock,
    /// Runs that are shown instant by instant.
    pub recordings: Vec<Recording>,
    /// Why runs are not shown instant by instant, one sentence each.
    pub without_map: Vec<String>,
    /// Runs at a glance, to be drawn over one another.
    pub timelines: Vec<Timeline>,
}

/// A claim, for reading.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimLine {
    /// The claim in words.
    pub text: String,
    /// Where the paper says so.
    pub source: Option<String>,
    /// `borne out`, and the like.
    pub verdict: String,
    /// Why.
    pub reason: String,
    /// What was found in each cell: whether it holds, and the numbers in words.
    pub cells: Vec<(Option<bool>, String)>,
}

impl Report {
    /// The report of a folder of results, or of a folder of such folders, whose studies name what is in a catalogue; with
    /// runs that are shown instant by instant where there is a single study.
    ///
    /// # Errors
    /// One sentence, if there is no study in it, its only one cannot be read, or a run is chosen that is not there.
    pub fn with_maps_in(
        catalogue: &Catalogue,
        folder: &Path,
        maps: &Maps,
    ) -> Result<Report, Refused> {
        let folders = folder::studies(folder)?;
        if folders.len() == 1 && folders[0] == folder {
            let content = folder::read(catalogue, folder)?;
            let mut report = Report::of(std::slice::from_ref(&content));
            let section = &mut report.sections[0];
            let recorded = machine::record(&content, folder, maps)?;
            section.recordings = recorded.recordings;
            section.without_map = recorded.without;
            section.timelines = recorded.timelines;
            let axes = axes::Axis::all(&content.study);
            let runs = course::figures(
                &section.timelines,
                &axes,
                &section.clock,
                (&section.id, &section.title),
            );
            section.figures.extend(runs);
            palette::agree(&mut report.sections);
            return Ok(report);
        }
        if !maps.runs.is_empty() {
            return Err(Refused(format!(
                "{}: `--run` chooses runs of a single study, and this folder has several: give the folder of \
                 one",
                folder.display()
            )));
        }
        let mut contents = Vec::new();
        let mut warnings = Vec::new();
        for folder in folders {
            match folder::read(catalogue, &folder) {
                Ok(content) => contents.push(content),
                Err(refused) => {
                    warnings.push(format!("{} is left out: {refused}", folder.display()));
                }
            }
        }
        Ok(Report { warnings, ..Report::of(&contents) })
    }

    /// The report of studies at hand.
    ///
    /// ```
    /// use meshwork_lab::report::{Content, Report};
    /// use meshwork_lab::Study;
    /// use meshwork_lab::study::asked::Asked;
    /// use meshwork_lab::study::expand::expand;
    /// use meshwork_lab::run::Results;
    /// let text = "[machine]\ntopology = 'flat'\nprocessors = 8\n\
    ///             [workload]\nname = 'synthetic'\nload = 0.5\nsizes = 'uniform'\nruntimes = { name = 'exponential', mean = 5.0 }\n\
    ///             [measure]\njobs = 100";
    /// let study = Study::parse("first.toml", text, "".as_ref(), &[])?;
    /// let points = expand(&study)?;
    /// let results = Results { runs: vec![Default::default(); points.len()], ..Results::default() };
    /// let page = Report::of(&[Content {
    ///     asked: Asked::default(),
    ///     missing: 1,
    ///     versions: vec![],
    ///     folder: None,
    ///     notes: vec![],
    ///     study, points, results,
    /// }])
    /// .html();
    /// assert!(page.contains("No run has ended yet"));
    /// # Ok::<(), meshwork_lab::Refused>(())
    /// ```
    #[must_use]
    pub fn of(contents: &[Content]) -> Report {
        let mut sections: Vec<Section> = Vec::new();
        for content in contents {
            let mut section = Section::of(content);
            let name = section.id.clone();
            let mut number = 2;
            while sections.iter().any(|other| other.id == section.id) {
                section.rename(&format!("{name}-{number}"));
                number += 1;
            }
            sections.push(section);
        }
        title_apart(&mut sections);
        palette::agree(&mut sections);
        let notes = say_once(&mut sections);
        let overview = Overview::of(&sections);
        let papers = overview.as_ref().map_or(0, |overview| overview.papers.len());
        let (title, about) = match &sections[..] {
            [one] => (one.title.clone(), one.description.clone().unwrap_or_default()),
            _ if papers > 1 => (
                "Papers, reproduced".to_owned(),
                "What papers on processor allocation and job scheduling say of their figures, and \
                 whether it holds in simulations made from their descriptions."
                    .to_owned(),
            ),
            _ if papers == 1 => {
                let key = overview.as_ref().map(|overview| overview.papers[0].key.as_str());
                let paper = PAPERS.iter().find(|paper| Some(paper.key) == key);
                let title = paper.map_or_else(String::new, |paper| paper.title.to_owned());
                let authors = paper.map_or("the authors", |paper| paper.authors);
                let about = format!(
                    "What {authors} say of their figures, and whether it holds in simulations made \
                     from the description."
                );
                (title, about)
            }
            many => (format!("{} studies", many.len()), String::new()),
        };
        Report { title, about, overview, sections, warnings: Vec::new(), notes }
    }

    /// What the script of the page draws: the figures of each section.
    #[must_use]
    pub fn data(&self) -> Json {
        let section = |section: &Section| {
            json!({
                "id": section.id, "figures": section.figures, "growing": section.growing,
                "findings": section.findings,
            })
        };
        json!({ "sections": self.sections.iter().map(section).collect::<Vec<Json>>() })
    }

    /// Every drawing of every figure as a file for a paper: a name that ends in `.svg`, and the text.
    #[must_use]
    pub fn figure_files(&self) -> Vec<(String, String)> {
        let mut files = Vec::new();
        for figure in self.sections.iter().flat_map(|section| &section.figures) {
            for view in &figure.views {
                files.push((
                    figure.file_name(view),
                    draw::figure(view, draw::is_log(view), FIGURE_WIDTH),
                ));
            }
        }
        files
    }

    /// The whole page: nothing of it lies elsewhere.
    #[must_use]
    pub fn html(&self) -> String {
        html::page(self, false)
    }
}

impl Section {
    fn of(content: &Content) -> Section {
        let Content { study, points, results, .. } = content;
        let summary = Summary::of(study, points, results);
        let claims = match &content.asked.left_out {
            Some(why) => unchecked(study, why),
            None => judge(study, points, results),
        };
        let id = content.folder.clone().unwrap_or_else(|| study.name.clone());
        let id: String = id.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
        let figures: Vec<&str> = study.figures().collect();
        let are_numbers = figures.iter().all(|name| name.starts_with(|c: char| c.is_ascii_digit()));
        let title = match &figures[..] {
            [] => study.name.clone(),
            [one] if are_numbers => format!("Figure {one}"),
            several if are_numbers => format!("Figures {}", several.join(" and ")),
            others => others.join(", "),
        };
        // A figure of a paper is one among many that have the same number.
        let paper = PAPERS.iter().find(|paper| study.paper.as_deref() == Some(paper.key));
        let title = match (paper, &study.paper) {
            (Some(paper), _) => format!("{}, {}", paper.authors, lowered(&title)),
            (None, Some(key)) => format!("{key}, {}", lowered(&title)),
            (None, None) => study.name.clone(),
        };
        let clock = content.clock();
        let shown = in_units(&summary, &clock);
        let metrics = Shown::of(&summary, points.first().map(|point| &point.scenario));
        let mut figures = figures::all(study, points, (&shown, results), &clock, (&id, &title));
        bounds::mark(&mut figures, &claims, study, (&clock, &summary.meanings));
        Section {
            figures,
            findings: finding::findings(study, points, &summary, results, &metrics.names),
            tables: tables::all(study, points, &shown, &clock),
            facts: facts::facts(content),
            command: facts::command(content),
            title,
            description: study.description.clone(),
            paper: study.paper.clone(),
            source: study.source.clone(),
            warnings: facts::warnings(content, &summary),
            notes: facts::notes(content),
            growing: growing(&summary),
            failures: facts::failures(content),
            claims: claims.iter().map(ClaimLine::of).collect(),
            clock,
            recordings: Vec::new(),
            without_map: Vec::new(),
            timelines: Vec::new(),
            id,
        }
    }

    /// Another name, for the figures too.
    fn rename(&mut self, id: &str) {
        for figure in &mut self.figures {
            figure.id = figure.id.replacen(&self.id, id, 1);
        }
        id.clone_into(&mut self.id);
    }
}

/// The scenarios whose queue grows over the whole run.
fn growing(summary: &Summary) -> Vec<usize> {
    let rows = summary.rows.iter().enumerate();
    rows.filter(|(_, row)| row.growing).map(|(index, _)| index).collect()
}

/// The same numbers in the units in which times are shown.
fn in_units(summary: &Summary, clock: &Clock) -> Summary {
    let unit = |name: &str| summary.meanings.unit(name);
    let mut shown = summary.clone();
    for row in &mut shown.rows {
        let sizes = row.by_size.iter_mut().flat_map(|class| &mut class.metrics);
        for (name, interval) in row.metrics.iter_mut().chain(sizes) {
            *interval = clock.shown(*interval, unit(name));
        }
        for (name, interval, _) in row.differences.iter_mut().flat_map(|found| &mut found.metrics) {
            *interval = clock.shown(*interval, unit(name));
        }
    }
    shown
}

/// `figure 3` within a title; all else as it is.
fn lowered(title: &str) -> String {
    title.strip_prefix("Figure").map_or_else(|| title.to_owned(), |rest| format!("figure{rest}"))
}

/// No two sections have one title: the later ones have their names too.
fn title_apart(sections: &mut [Section]) {
    for i in 1..sections.len() {
        if sections[..i].iter().any(|other| other.title == sections[i].title) {
            let own = format!("{} ({})", sections[i].title, sections[i].id);
            let old = std::mem::replace(&mut sections[i].title, own.clone());
            let views = sections[i].figures.iter_mut().flat_map(|figure| &mut figure.views);
            for view in views {
                view.title = view.title.replacen(&old, &own, 1);
            }
        }
    }
}

/// What several sections say is said once, at the top.
fn say_once(sections: &mut [Section]) -> Vec<String> {
    if sections.len() < 2 {
        return Vec::new();
    }
    let is_quick = |section: &Section| section.notes.iter().any(|note| note == facts::QUICK);
    let quick = sections.iter().filter(|section| is_quick(section)).count();
    if quick == 0 {
        return Vec::new();
    }
    let note = if quick == sections.len() {
        facts::QUICK.replacen("Run", "Every study here was run", 1)
    } else {
        let quick = sections.iter().filter(|section| is_quick(section));
        let titles: Vec<&str> = quick.map(|section| &*section.title).collect();
        format!("{} So it is with {}.", facts::QUICK, titles.join("; "))
    };
    for section in sections {
        section.notes.retain(|note| note != facts::QUICK);
    }
    vec![note]
}

impl ClaimLine {
    fn of(judgement: &Judgement) -> ClaimLine {
        use crate::findings::claims::Holds;
        let cell = |cell: &crate::findings::claims::Cell| {
            let holds = match cell.holds {
                Holds::Yes => Some(true),
                Holds::No => Some(false),
                Holds::Open => None,
            };
            (holds, Judgement::words(cell))
        };
        ClaimLine {
            text: judgement.claim.text.clone(),
            source: judgement.claim.source.clone(),
            verdict: judgement.verdict.to_string(),
            reason: judgement.reason(),
            cells: judgement.cells.iter().map(cell).collect(),
        }
    }
}
