//! Reports on studies: plots, tables and claims in a single HTML file.
//!
//! [`Report::read`] reads a folder that `meshwork run --out` or `meshwork reproduce` wrote.
//! [`Report::of`] takes studies in memory, whether finished or not. [`Report::html`] is a pure
//! function of the report. Every number comes from the [`Summary`] that also writes `summary.csv`.
//! [`resampled`] compares a log with logs that were resampled from it.
//!
//! The page's script, `drawFigures(root, data)` in `assets/report/figures.js`, takes
//! [`Report::data`] and may be called again with new data.
#![allow(missing_docs, reason = "only the command and the Python package use it")]

mod bounds;
mod caption;
mod course;
pub mod draw;
mod facts;
mod figures;
mod finding;
mod folder;
pub mod html;
mod live;
mod machine;
pub mod markup;
mod overview;
mod palette;
mod raced;
pub mod resampled;
mod standard;
mod tables;
mod views;

use meshwork::catalogue::Catalogue;
use std::path::Path;

use serde::Serialize;
use serde_json::{Value as Json, json};

use meshwork_lab::findings::claims::{Judgement, judge, unchecked};
use meshwork_lab::findings::columns::Shown;
use meshwork_lab::findings::summary::Summary;
use meshwork_lab::run::Results;
use meshwork_lab::study::asked::StudyRequest;
use meshwork_lab::study::axes::PlotAxis;
use meshwork_lab::study::clock::Clock;
use meshwork_lab::study::expand::Point;
use meshwork_lab::study::papers::PAPERS;
use meshwork_lab::study::{Refused, Study};
use meshwork_lab::watch::recording::{Recording, Timeline};

pub use draw::figure;
pub use facts::Fact;
pub use finding::SummarySentence;
pub use machine::Maps;
pub use machine::stored_run;
pub use overview::{Overview, PaperLine};
pub use raced::StoredChoice;
pub use tables::{ReportTable, TableCell};
pub use views::{Bound, Dates, Figure, FigureChoice, FigureView, Key, Scale, Series, Style};

/// Maximum number of rows of a table in the page. The CSV file has all rows.
const MAX_ROWS: usize = 2000;

const FIGURE_WIDTH: f64 = 720.0;

pub struct Content {
    pub study: Study,
    pub asked: StudyRequest,
    pub points: Vec<Point>,
    pub results: Results,
    pub missing: u64,
    pub versions: Vec<String>,
    pub folder: Option<String>,
    pub notes: Vec<String>,
    pub choice: Option<StoredChoice>,
}

impl Content {
    fn clock_of(&self, scenario: usize) -> Clock {
        let Some(point) = self.points.get(scenario) else { return Clock::default() };
        let path = point.scenario.input_path();
        let input = self.asked.inputs.iter().find(|input| Some(input.path.as_str()) == path);
        Clock::of(&self.study, &point.scenario, input.and_then(|input| input.start.as_ref()))
    }

    fn clock(&self) -> Clock {
        Clock::shared((0..self.points.len()).map(|scenario| self.clock_of(scenario)))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    pub title: String,
    pub about: String,
    /// Verdicts by paper. `None` if there is only one section, or if no section is about a paper.
    pub overview: Option<Overview>,
    pub sections: Vec<Section>,
    pub warnings: Vec<String>,
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Section {
    pub id: String,
    pub title: String,
    pub description: Option<String>,
    pub paper: Option<String>,
    pub facts: Vec<Fact>,
    pub command: String,
    pub source: String,
    /// Summary sentences, one for each setting of the figure's selectors. The initial setting comes
    /// first.
    pub findings: Vec<SummarySentence>,
    /// Warnings without which the numbers would be misread.
    pub warnings: Vec<String>,
    pub notes: Vec<String>,
    pub growing: Vec<usize>,
    /// Number of runs that the study needs and that are not yet available.
    pub missing: u64,
    pub failures: Vec<String>,
    pub claims: Vec<ClaimLine>,
    pub figures: Vec<Figure>,
    pub tables: Vec<ReportTable>,
    /// Clock that all scenarios share. It has a `start` if all scenarios read one log.
    pub clock: Clock,
    pub recordings: Vec<Recording>,
    pub without_map: Vec<String>,
    pub timelines: Vec<Timeline>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimLine {
    pub text: String,
    pub source: Option<String>,
    pub verdict: String,
    pub reason: String,
    /// For each combination of swept values: whether the claim holds, and the compared numbers.
    ///
    /// If it is undecided whether the claim holds, the first value is `None`.
    pub cells: Vec<(Option<bool>, String)>,
}

impl Report {
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
            let axes = PlotAxis::all(&content.study);
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

    /// Makes a report of studies in memory.
    ///
    /// ```
    /// use meshwork_report::{Content, Report};
    /// use meshwork_lab::Study;
    /// use meshwork_lab::study::asked::StudyRequest;
    /// use meshwork_lab::study::expand::expand;
    /// use meshwork_lab::run::Results;
    /// let text = "[machine]\ntopology = 'flat'\nprocessors = 8\n\
    ///             [workload]\nname = 'synthetic'\nload = 0.5\nsizes = 'uniform'\nruntimes = { name = 'exponential', mean = 5.0 }\n\
    ///             [measure]\njobs = 100";
    /// let study = Study::parse("first.toml", text, "".as_ref(), &[])?;
    /// let points = expand(&study)?;
    /// let results = Results { runs: vec![Default::default(); points.len()], ..Results::default() };
    /// let page = Report::of(&[Content {
    ///     asked: StudyRequest::default(),
    ///     missing: 1,
    ///     versions: vec![],
    ///     folder: None,
    ///     notes: vec![],
    ///     choice: None,
    ///     study, points, results,
    /// }])
    /// .html();
    /// assert!(page.contains("No run has ended yet"));
    /// # Ok::<(), meshwork_lab::Refused>(())
    /// ```
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

    pub fn data(&self) -> Json {
        let section = |section: &Section| {
            json!({
                "id": section.id, "figures": section.figures, "growing": section.growing,
                "findings": section.findings,
            })
        };
        json!({ "sections": self.sections.iter().map(section).collect::<Vec<Json>>() })
    }

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
        // Figures of different papers may have the same number, so the title names the paper.
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
        let mut findings =
            finding::findings(study, points, &summary, results, (&metrics.names, &clock));
        if content.missing > 0 {
            let so_far = facts::so_far(content);
            for finding in &mut findings {
                finding.text = format!("After {so_far}: {}", finding.text);
            }
        }
        let mut section = Section {
            figures,
            findings,
            tables: tables::all(study, points, &shown, &clock),
            facts: facts::facts(content),
            command: facts::command(content),
            title,
            description: study.description.clone(),
            paper: study.paper.clone(),
            source: study.source.clone(),
            warnings: facts::warnings(content, &summary),
            notes: facts::notes(content, &summary),
            growing: growing(&summary),
            missing: content.missing,
            failures: facts::failures(content),
            claims: claims.iter().map(ClaimLine::of).collect(),
            clock,
            recordings: Vec::new(),
            without_map: Vec::new(),
            timelines: Vec::new(),
            id,
        };
        if let Some(choice) = &content.choice {
            choice.put_into(&mut section, content);
        }
        section
    }

    fn rename(&mut self, id: &str) {
        for figure in &mut self.figures {
            figure.id = figure.id.replacen(&self.id, id, 1);
        }
        id.clone_into(&mut self.id);
    }
}

fn growing(summary: &Summary) -> Vec<usize> {
    let rows = summary.rows.iter().enumerate();
    rows.filter(|(_, row)| row.growing).map(|(index, _)| index).collect()
}

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

fn lowered(title: &str) -> String {
    title.strip_prefix("Figure").map_or_else(|| title.to_owned(), |rest| format!("figure{rest}"))
}

/// Makes the titles of sections unique by appending words of the section's id.
fn title_apart(sections: &mut [Section]) {
    for i in 1..sections.len() {
        let same = sections[..i].iter().filter(|other| other.title == sections[i].title);
        if same.clone().next().is_some() {
            let parts =
                |id: &str| -> Vec<String> { id.split(['-', '_']).map(str::to_owned).collect() };
            // Parts that an id shares with that of another section, such as `figure`, add nothing.
            let known: Vec<String> = same.flat_map(|other| parts(&other.id)).collect();
            let mut words = parts(&sections[i].id);
            words.retain(|word| !known.contains(word));
            let words = if words.is_empty() { sections[i].id.clone() } else { words.join(" ") };
            let own = format!("{}, {words}", sections[i].title);
            let old = std::mem::replace(&mut sections[i].title, own.clone());
            let views = sections[i].figures.iter_mut().flat_map(|figure| &mut figure.views);
            for view in views {
                view.title = view.title.replacen(&old, &own, 1);
            }
        }
    }
}

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
        use meshwork_lab::findings::claims::CellState;
        let cell = |cell: &meshwork_lab::findings::claims::ClaimCell| {
            let holds = match cell.holds {
                CellState::Yes => Some(true),
                CellState::No => Some(false),
                CellState::Open => None,
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
