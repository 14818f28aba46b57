//! HTML page of a report.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::markup::{embedded, list, sentence};
use super::{ClaimLine, Overview, PaperLine, Report, ReportTable, Section, machine};
use meshwork_lab::choose::CHOICE;
use meshwork_lab::text::number::plural;
use meshwork_lab::text::visible::visible_text;

pub static STYLES: [&str; 3] = [
    include_str!("../assets/report/report.css"),
    include_str!("../assets/machine/machine.css"),
    include_str!("../assets/live/live.css"),
];

static SCRIPT: &str = include_str!("../assets/dist/page.js");

static LIVE: &str = include_str!("../assets/live/live.html");

/// Security policy of a page: the page may fetch nothing.
pub const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                      img-src data:; base-uri 'none'; form-action 'none'";

/// Security policy of a live page, which may send requests to its own server.
const LIVE_POLICY: &str = "default-src 'none'; connect-src 'self'; script-src 'unsafe-inline'; \
                           style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

pub fn head(title: &str, policy: &str, styles: &[&str]) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) " · Meshwork" }
            link rel="icon" href="data:,";
            style { @for style in styles { (PreEscaped(style)) } }
        }
    }
}

/// Makes the whole page. If `is_live`, the page requests updates.
pub(super) fn page(report: &Report, is_live: bool) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            (head(&report.title, if is_live { LIVE_POLICY } else { POLICY }, &STYLES))
            body.with-contents[report.sections.len() > 1] {
                a.skip href="#results" { "Skip to the results" }
                header {
                    h1 { (report.title) }
                    @if !report.about.is_empty() { p.lead { (sentence(&report.about)) } }
                    (list("notes", &report.warnings))
                    (list("notes", &report.notes))
                }
                @if report.sections.len() > 1 { (contents(report)) }
                @if is_live { (PreEscaped(LIVE)) }
                main #results { (results(report)) }
                footer {
                    p {
                        "Made by Meshwork " (env!("CARGO_PKG_VERSION"))
                        ". Every number stands in full in " (files(report))
                        " of the folder of results for which this page was made."
                    }
                }
                script #report-data type="application/json" { (embedded(report.data())) }
                script { "\n" (PreEscaped(SCRIPT)) }
            }
        }
    };
    // Escape characters in names of the study that a browser would interpret.
    visible_text(&markup.into_string()).into_owned()
}

/// Names the files that hold all numbers of a page, such as `the CSV files`.
fn files(report: &Report) -> String {
    let has = |is_choice: bool| {
        let mut tables = report.sections.iter().flat_map(|section| &section.tables);
        tables.any(|table| (table.file == CHOICE) == is_choice)
    };
    match (has(true), has(false)) {
        (true, true) => format!("the CSV files and {CHOICE}"),
        (true, false) => CHOICE.to_owned(),
        (false, _) => "the CSV files".to_owned(),
    }
}

pub(super) fn results(report: &Report) -> Markup {
    let is_alone = report.sections.len() == 1;
    // The title of the page already names the paper.
    let key = report.sections.first().and_then(|section| section.paper.as_ref());
    let is_one_paper =
        key.is_some() && report.sections.iter().all(|section| section.paper.as_ref() == key);
    html! {
        @if let Some(overview) = &report.overview { (overview_table(overview, report)) }
        @for (index, section) in report.sections.iter().enumerate() {
            @if !is_alone && !is_one_paper && section.paper.as_ref() != paper_before(report, index) {
                (paper_heading(report, section))
            }
            (section_html(section, is_alone))
        }
    }
}

/// Paper of the section before the one with the given index.
fn paper_before(report: &Report, index: usize) -> Option<&String> {
    report.sections[index.checked_sub(1)?].paper.as_ref()
}

/// Table of contents of a page with several sections. An entry has the number of claims per
/// verdict.
fn contents(report: &Report) -> Markup {
    html! {
        nav.contents aria-label="Contents" {
            details open {
                summary { "Contents" }
                ul {
                    @for (index, section) in report.sections.iter().enumerate() {
                        @if section.paper.is_some() && section.paper.as_ref() != paper_before(report, index) {
                            li.of-paper { (authors(report, section)) }
                        }
                        li {
                            a href={ "#" (section.id) } title=[section.description.as_deref()] { (short_title(report, section)) }
                            (verdicts(section))
                        }
                    }
                }
            }
        }
    }
}

fn authors<'a>(report: &'a Report, section: &'a Section) -> &'a str {
    let key = section.paper.as_deref().unwrap_or_default();
    let mut papers = report.overview.iter().flat_map(|overview| &overview.papers);
    papers.find(|paper| paper.key == key).map_or(key, |paper| &paper.authors)
}

/// Title of a section without the authors, who are given above it.
fn short_title(report: &Report, section: &Section) -> String {
    let rest = section.title.strip_prefix(authors(report, section));
    match rest.and_then(|rest| rest.strip_prefix(", ")) {
        Some(rest) => sentence(rest).trim_end_matches('.').to_owned(),
        None => section.title.clone(),
    }
}

fn verdicts(section: &Section) -> Markup {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for claim in &section.claims {
        match counts.iter_mut().find(|(verdict, _)| *verdict == claim.verdict) {
            Some((_, count)) => *count += 1,
            None => counts.push((&claim.verdict, 1)),
        }
    }
    html! {
        @for (verdict, count) in counts {
            " " span class={ "verdict " (class(verdict)) } title=(verdict) { (count) span.hidden { " " (verdict) } }
        }
    }
}

fn paper_heading(report: &Report, section: &Section) -> Markup {
    let Some(key) = &section.paper else {
        return html! { h2.paper { "Other studies" } };
    };
    let mut papers = report.overview.iter().flat_map(|overview| &overview.papers);
    match papers.find(|line| line.key == *key) {
        Some(line) => html! {
            h2.paper id={ "paper-" (key) } { span { (line.authors) } " " (line.title) }
        },
        None => html! { h2.paper { (key) } },
    }
}

/// Table of verdicts by paper, with the reasons for claims that are not borne out.
fn overview_table(overview: &Overview, report: &Report) -> Markup {
    // The last verdict, of claims that cannot be checked, is rare.
    let last = overview.verdicts.len() - 1;
    let count = match overview.papers.iter().any(|paper| paper.counts[last] > 0) {
        true => last + 1,
        false => last,
    };
    let verdicts = &overview.verdicts[..count];
    html! {
        section.overview aria-labelledby="overview" {
            h2 #overview { "Which claims hold" }
            div.scroll tabindex="0" role="region" aria-labelledby="overview" {
                table.verdicts {
                    thead {
                        tr {
                            th scope="col" { "paper" }
                            @for verdict in verdicts {
                                th.n scope="col" { span class={ "verdict " (class(verdict)) } { (verdict) } }
                            }
                        }
                    }
                    tbody {
                        @for paper in &overview.papers {
                            tr {
                                th scope="row" {
                                    a href={ "#" (report.sections[paper.sections[0]].id) } { (paper.authors) }
                                }
                                @for (number, verdict) in paper.counts.iter().zip(verdicts) {
                                    td.n.none[*number == 0] {
                                        @if *number == 0 {
                                            "0"
                                        } @else {
                                            a href=(first_claim(paper, verdict, report))
                                                aria-label={ (number) " " (verdict) ", " (paper.authors) } { (number) }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
            (without_borne_out(overview, report))
        }
    }
}

fn without_borne_out(overview: &Overview, report: &Report) -> Markup {
    let borne_out = overview.verdicts.first();
    let others = |paper: &PaperLine| -> Vec<(usize, usize)> {
        let rest = paper.claims.iter().filter(|(.., own)| Some(own) != borne_out);
        rest.map(|(section, claim, _)| (*section, *claim)).collect()
    };
    let all: usize = overview.papers.iter().map(|paper| others(paper).len()).sum();
    html! {
        @if all > 0 {
            details {
                summary { "The " (plural(all as u64, "claim")) " that are not borne out, and why" }
                @for paper in &overview.papers {
                    @let own = others(paper);
                    @if !own.is_empty() {
                        h3 { (paper.authors) }
                        ul.claims { @for (section, claim) in own { (claim_there(report, section, claim)) } }
                    }
                }
            }
        }
    }
}

fn claim_id(section: &Section, claim: usize) -> String {
    format!("{}-claim-{}", section.id, claim + 1)
}

/// Link to the first claim of a paper that has the given verdict; empty if there is none.
fn first_claim(paper: &PaperLine, verdict: &str, report: &Report) -> String {
    let found = paper.claims.iter().find(|(.., own)| own == verdict);
    found.map_or_else(String::new, |(section, claim, _)| {
        format!("#{}", claim_id(&report.sections[*section], *claim))
    })
}

fn claim_there(report: &Report, section: usize, claim: usize) -> Markup {
    let section = &report.sections[section];
    let source = html! { a href={ "#" (section.id) } { (section.title) } };
    claim_html(&section.claims[claim], &source, None)
}

fn section_html(section: &Section, is_alone: bool) -> Markup {
    let title = format!("{}-title", section.id);
    html! {
        section.study id=(section.id) aria-labelledby=(title) {
            @if is_alone {
                h2.hidden id=(title) { "Results" }
            } @else {
                h3 id=(title) { (section.title) }
                @if let Some(description) = &section.description { p.lead { (sentence(description)) } }
            }
            @if let Some(runs) = section.facts.first() { p.runs { (sentence(&runs.text)) } }
            @if let Some(finding) = section.findings.first() {
                p.finding.open[!finding.is_clear] { (finding.text) }
            }
            (list("warnings", &section.warnings))
            (list("notes", &section.notes))
            div.body.beside[!section.claims.is_empty()] {
                div.figures data-section=(section.id) data-level=(if is_alone { "3" } else { "4" }) {
                    @if !section.figures.is_empty() {
                        noscript {
                            p { "The plots are drawn by a script; their numbers stand in the tables below." }
                        }
                    }
                }
                @if !section.claims.is_empty() {
                    div.sayings {
                        (heading(is_alone, "What the paper says"))
                        ul.claims {
                            @for (number, claim) in section.claims.iter().enumerate() {
                                (claim_html(claim, &source(claim), Some(claim_id(section, number))))
                            }
                        }
                    }
                }
            }
            (machine::html(section, is_alone))
            @for (number, table) in section.tables.iter().enumerate() {
                @let is_open = number == 0 && is_alone && table.rows.len() <= 50;
                (table_html(table, &format!("{}-table-{number}", section.id), is_open))
            }
            @if !section.failures.is_empty() {
                details.failures open {
                    summary { "Runs that failed (" (section.failures.len()) ")" }
                    (list("notes", &section.failures))
                }
            }
            (asked_html(section))
        }
    }
}

/// Heading within a section. It is one level higher if the page has only one section.
pub(super) fn heading(is_alone: bool, text: &str) -> Markup {
    html! { @if is_alone { h3.small { (text) } } @else { h4 { (text) } } }
}

fn class(verdict: &str) -> String {
    verdict.replace(' ', "-")
}

fn source(claim: &ClaimLine) -> Markup {
    html! { @if let Some(source) = &claim.source { span.source { (source) } } }
}

/// HTML of a claim. If `id` is given, it includes the combinations of swept values that were
/// checked.
fn claim_html(claim: &ClaimLine, source: &Markup, id: Option<String>) -> Markup {
    let with_cells = id.is_some();
    html! {
        li id=[id] {
            span class={ "verdict " (class(&claim.verdict)) } { (claim.verdict) } " "
            span.text { (claim.text) " " (source) }
            p.reason { (sentence(&claim.reason)) }
            @if with_cells && claim.cells.len() > 1 {
                details {
                    summary { "All " (claim.cells.len()) " scenarios of it" }
                    ul.cells {
                        @for (holds, words) in &claim.cells {
                            @let (class, word) = match holds {
                                Some(true) => ("yes", "holds"),
                                Some(false) => ("no", "fails"),
                                None => ("open", "open"),
                            };
                            li class=(class) { b { (word) } " " (words) }
                        }
                    }
                }
            }
        }
    }
}

fn table_html(table: &ReportTable, id: &str, is_open: bool) -> Markup {
    let caption = sentence(&table.caption);
    let is_number = |column: usize| table.rows.first().is_some_and(|row| row[column].number);
    html! {
        details.numbers open[is_open] {
            summary { (table.title) " " span { (table.file) } }
            style { (PreEscaped(narrow(table, id))) }
            div.scroll tabindex="0" role="region" aria-label=(caption) {
                table id=(id) {
                    caption { span { (caption) } }
                    thead {
                        tr {
                            @for (column, (name, meaning)) in table.columns.iter().enumerate() {
                                th.n[is_number(column)] scope="col" title=[(!meaning.is_empty()).then_some(meaning)] {
                                    (breakable(name))
                                }
                            }
                        }
                    }
                    tbody {
                        @for row in &table.rows {
                            tr {
                                @for (column, cell) in row.iter().enumerate() {
                                    @let text = html! {
                                        (unbroken(&cell.text)) @if !cell.note.is_empty() { small { (cell.note) } }
                                    };
                                    @let marked = cell.number && cell.marked;
                                    @if column + 1 == table.keys {
                                        th.n[cell.number].marked[marked] scope="row" { (text) }
                                    } @else {
                                        td.n[cell.number].marked[marked] { (text) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
            @if table.more > 0 { p { (table.more) " more rows stand in " (table.file) "." } }
        }
    }
}

/// Makes the spaces around `±` and before `%` non-breaking.
fn unbroken(text: &str) -> String {
    text.replace(" ± ", "\u{a0}±\u{a0}").replace(" %", "\u{a0}%")
}

const CHARACTER: usize = 8;

const BETWEEN: usize = 23;

/// CSS for a table that is too wide for its container: each row becomes a block.
fn narrow(table: &ReportTable, id: &str) -> String {
    // `beside` is the class with which the script measures the full width of the columns.
    let own = format!("[id=\"{id}\"]:not(.beside)");
    let longest = |text: &str| text.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
    let column = |number: usize, name: &str| {
        let head = name.split_inclusive(['_', '.']).map(longest).max().unwrap_or(0);
        let cells = table.rows.iter().map(|row| longest(&unbroken(&row[number].text)));
        cells.max().unwrap_or(0).max(head) * CHARACTER + BETWEEN
    };
    let names = || table.columns.iter().map(|(name, _)| name.as_str()).enumerate();
    let width: usize = names().map(|(number, name)| column(number, name)).sum();
    let labels: String = names()
        .map(|(number, name)| {
            let text: String = name.chars().map(|c| format!("\\{:x} ", u32::from(c))).collect();
            format!("{own} tbody tr>:nth-child({})::before{{content:\"{text}\"}}\n", number + 1)
        })
        .collect();
    format!(
        "@media screen{{@container (max-width:{width}px){{\n{own},{own} tbody{{display:block}}\n\
         {own} thead{{position:absolute;clip-path:inset(50%)}}\n\
         {own} caption{{display:block}}\n\
         {own} tr{{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,18rem),1fr));gap:0 1.75rem;\
         padding:0.5rem 0}}\n\
         {own} tbody tr>*{{display:flex;justify-content:space-between;gap:1rem;padding:0.1rem 0;text-align:right;\
         white-space:normal}}\n{labels}}}}}"
    )
}

fn breakable(name: &str) -> Markup {
    html! {
        @for part in name.split_inclusive(['_', '.']) {
            (part) @if part.ends_with(['_', '.']) { wbr; }
        }
    }
}

fn asked_html(section: &Section) -> Markup {
    html! {
        details.asked {
            summary { "What was asked" }
            dl { @for fact in &section.facts { dt { (fact.name) } dd { (fact.text) } } }
            p { "To repeat it:" }
            pre { code { (section.command) } }
            p { "The study:" }
            pre tabindex="0" role="region" aria-label="The study" { code { (section.source.trim_end()) } }
        }
    }
}
