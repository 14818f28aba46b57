//! The page itself.

use std::fmt::Write;

use super::{ClaimLine, Overview, Report, Section, Table, machine};
use crate::visible::{visible_json, visible_text};
use crate::watch::recording;

static STYLE: &str = include_str!("../../assets/report.css");

/// The scripts, in the order in which they build on one another.
static SCRIPTS: &[&str] = &[
    include_str!("../../assets/vendor/d3.min.js"),
    include_str!("../../assets/vendor/plot.umd.min.js"),
    include_str!("../../assets/report.js"),
];

/// Nothing may be fetched, whatever stands in the page.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                      img-src data:; base-uri 'none'; form-action 'none'";

/// Writes the whole page.
pub(super) fn page(report: &Report) -> String {
    let mut out = String::new();
    let title = escaped(&report.title);
    put(&mut out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    put(&mut out, &format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n"));
    put(&mut out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    put(&mut out, "<meta name=\"color-scheme\" content=\"light dark\">\n");
    put(
        &mut out,
        &format!("<title>{title} · Meshwork</title>\n<link rel=\"icon\" href=\"data:,\">\n"),
    );
    let has_maps = report.sections.iter().any(|section| !section.recordings.is_empty());
    let maps = if has_maps { recording::STYLE } else { "" };
    put(&mut out, &format!("<style>\n{STYLE}{maps}</style>\n</head>\n<body>\n"));
    put(&mut out, "<a class=\"skip\" href=\"#results\">Skip to the results</a>\n");
    put(&mut out, &format!("<header>\n<h1>{title}</h1>\n"));
    if !report.about.is_empty() {
        put(&mut out, &format!("<p class=\"lead\">{}</p>\n", escaped(&sentence(&report.about))));
    }
    list(&mut out, "notes", &report.warnings);
    put(&mut out, "</header>\n");
    if report.sections.len() > 1 {
        contents(&mut out, report);
    }
    put(&mut out, "<main id=\"results\">\n");
    if let Some(overview) = &report.overview {
        put(&mut out, &overview_table(overview, report));
    }
    let is_alone = report.sections.len() == 1;
    // The title of the page says which paper it is.
    let key = report.sections.first().and_then(|section| section.paper.as_ref());
    let is_one_paper =
        key.is_some() && report.sections.iter().all(|section| section.paper.as_ref() == key);
    let mut paper = None;
    for section in &report.sections {
        if !is_alone && !is_one_paper && section.paper != paper {
            paper.clone_from(&section.paper);
            put(&mut out, &paper_heading(report, section));
        }
        put(&mut out, &section_html(section, is_alone));
    }
    put(&mut out, "</main>\n<footer><p>Made by Meshwork ");
    put(&mut out, env!("CARGO_PKG_VERSION"));
    put(&mut out, ". Every number stands in full in the files beside this page.</p></footer>\n");
    put(&mut out, "<script type=\"application/json\" id=\"report-data\">");
    put(&mut out, &embedded(report.data()));
    put(&mut out, "</script>\n");
    for script in SCRIPTS {
        put(&mut out, &format!("<script>\n{script}\n</script>\n"));
    }
    if has_maps {
        let (script, start) = (recording::SCRIPT, machine::START);
        put(&mut out, &format!("<script>\n{script}\n{start}\n</script>\n"));
    }
    put(&mut out, "</body>\n</html>\n");
    out
}

fn put(out: &mut String, text: &str) {
    out.push_str(text);
}

/// JSON that cannot end the element that it stands in, all of whose texts can be seen.
pub(super) fn embedded(value: serde_json::Value) -> String {
    visible_json(value).to_string().replace('<', "\\u003c")
}

/// A text for HTML, in an element or in the quotes of an attribute.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible_text(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

/// A text with its first letter large and a full stop at its end.
fn sentence(text: &str) -> String {
    let mut letters = text.trim().chars();
    let mut text: String =
        letters.next().map_or_else(String::new, |c| c.to_uppercase().chain(letters).collect());
    if !text.is_empty() && !text.ends_with(['.', '?', '!', '…']) {
        text.push('.');
    }
    text
}

pub(super) fn list(out: &mut String, class: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    put(out, &format!("<ul class=\"{class}\">\n"));
    for line in lines {
        put(out, &format!("<li>{}</li>\n", escaped(line)));
    }
    put(out, "</ul>\n");
}

/// The sections of a page with several.
fn contents(out: &mut String, report: &Report) {
    put(out, "<nav aria-label=\"Contents\"><details><summary>Contents</summary>\n<ul>\n");
    for section in &report.sections {
        let paper = section.paper.as_deref().map_or_else(String::new, |paper| format!("{paper}, "));
        let what = section.description.as_deref().unwrap_or_default();
        let _ = writeln!(
            out,
            "<li><a href=\"#{}\">{}{}</a> <span>{}</span></li>",
            escaped(&section.id),
            escaped(&paper),
            escaped(&section.title),
            escaped(what)
        );
    }
    put(out, "</ul>\n</details></nav>\n");
}

fn paper_heading(report: &Report, section: &Section) -> String {
    let Some(key) = &section.paper else {
        return "<h2 class=\"paper\">Other studies</h2>\n".to_owned();
    };
    let papers = report.overview.iter().flat_map(|overview| &overview.papers);
    let Some(line) = papers.into_iter().find(|line| line.key == *key) else {
        return format!("<h2 class=\"paper\">{}</h2>\n", escaped(key));
    };
    format!(
        "<h2 class=\"paper\" id=\"paper-{}\"><span>{}</span> {}</h2>\n",
        escaped(key),
        escaped(&line.authors),
        escaped(&line.title)
    )
}

/// How the claims fare, paper by paper, and why where they are not borne out.
fn overview_table(overview: &Overview, report: &Report) -> String {
    let mut out = String::from(
        "<section class=\"overview\" aria-labelledby=\"overview\">\n<h2 id=\"overview\">Which claims \
         hold</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"overview\">\n\
         <table class=\"verdicts\">\n<thead><tr><th scope=\"col\">paper</th>",
    );
    for verdict in &overview.verdicts {
        let class = verdict.replace(' ', "-");
        let _ = write!(
            out,
            "<th scope=\"col\" class=\"n\"><span class=\"verdict {class}\">{verdict}</span></th>"
        );
    }
    out += "</tr></thead>\n<tbody>\n";
    for paper in &overview.papers {
        let _ = write!(
            out,
            "<tr><th scope=\"row\"><a href=\"#{}\">{}</a></th>",
            escaped(&report.sections[paper.sections[0]].id),
            escaped(&paper.authors)
        );
        for number in &paper.counts {
            let class = if *number == 0 { "n none" } else { "n" };
            let _ = write!(out, "<td class=\"{class}\">{number}</td>");
        }
        out += "</tr>\n";
    }
    out += "</tbody>\n</table>\n</div>\n";
    for paper in overview.papers.iter().filter(|paper| !paper.others.is_empty()) {
        let _ = write!(
            out,
            "<details><summary>{}: what is not borne out, and why</summary>\n<ul class=\"claims\">\n",
            escaped(&paper.authors)
        );
        for (section, claim, _) in &paper.others {
            let section = &report.sections[*section];
            let source =
                format!(" <a href=\"#{}\">{}</a>", escaped(&section.id), escaped(&section.title));
            out += &claim_html(&section.claims[*claim], &source, false);
        }
        out += "</ul>\n</details>\n";
    }
    out + "</section>\n"
}

fn section_html(section: &Section, is_alone: bool) -> String {
    let id = escaped(&section.id);
    let mut out = format!("<section class=\"study\" id=\"{id}\" aria-labelledby=\"{id}-title\">\n");
    if is_alone {
        let _ = writeln!(out, "<h2 id=\"{id}-title\" class=\"hidden\">Results</h2>");
    } else {
        let _ = writeln!(out, "<h3 id=\"{id}-title\">{}</h3>", escaped(&section.title));
        if let Some(description) = &section.description {
            let _ = writeln!(out, "<p class=\"lead\">{}</p>", escaped(&sentence(description)));
        }
    }
    if let Some(runs) = section.facts.first() {
        let _ = writeln!(out, "<p class=\"runs\">{}</p>", escaped(&sentence(&runs.text)));
    }
    list(&mut out, "notes", &section.notes);
    let beside = if section.claims.is_empty() { "" } else { " beside" };
    let _ = writeln!(out, "<div class=\"body{beside}\">");
    let _ = writeln!(out, "<div class=\"figures\" data-section=\"{id}\">");
    if !section.figures.is_empty() {
        out += "<noscript><p>The plots are drawn by a script; their numbers stand in the tables \
                below.</p></noscript>\n";
    }
    out += "</div>\n";
    if !section.claims.is_empty() {
        out += "<div class=\"sayings\">\n<h4>What the paper says</h4>\n<ul class=\"claims\">\n";
        for claim in &section.claims {
            let source = claim.source.as_deref().map_or_else(String::new, |source| {
                format!(" <span class=\"source\">{}</span>", escaped(source))
            });
            out += &claim_html(claim, &source, true);
        }
        out += "</ul>\n</div>\n";
    }
    out += "</div>\n";
    out += &machine::html(section);
    for (number, table) in section.tables.iter().enumerate() {
        let is_open = number == 0 && (is_alone && table.rows.len() <= 50);
        out += &table_html(table, &format!("{id}-table-{number}"), is_open);
    }
    if !section.failures.is_empty() {
        let _ = writeln!(
            out,
            "<details class=\"failures\" open><summary>Runs that failed ({})</summary>",
            section.failures.len()
        );
        list(&mut out, "notes", &section.failures);
        out += "</details>\n";
    }
    out += &asked_html(section);
    out + "</section>\n"
}

fn claim_html(claim: &ClaimLine, source: &str, with_cells: bool) -> String {
    let class = claim.verdict.replace(' ', "-");
    let mut out = format!(
        "<li><span class=\"verdict {class}\">{}</span> <span class=\"text\">{}{source}</span>\n",
        escaped(&claim.verdict),
        escaped(&claim.text)
    );
    let _ = writeln!(out, "<p class=\"reason\">{}</p>", escaped(&sentence(&claim.reason)));
    if with_cells && claim.cells.len() > 1 {
        let _ = writeln!(
            out,
            "<details><summary>All {} scenarios of it</summary>\n<ul class=\"cells\">",
            claim.cells.len()
        );
        for (holds, words) in &claim.cells {
            let (class, word) = match holds {
                Some(true) => ("yes", "holds"),
                Some(false) => ("no", "fails"),
                None => ("open", "open"),
            };
            let _ = writeln!(out, "<li class=\"{class}\"><b>{word}</b> {}</li>", escaped(words));
        }
        out += "</ul></details>\n";
    }
    out + "</li>\n"
}

/// A table behind its caption.
fn table_html(table: &Table, id: &str, is_open: bool) -> String {
    let open = if is_open { " open" } else { "" };
    let caption = escaped(&sentence(&table.caption));
    let mut out = format!(
        "<details class=\"numbers\"{open}><summary>{} <span>{}</span></summary>\n<div class=\"scroll\" \
         tabindex=\"0\" role=\"region\" aria-label=\"{caption}\">\n<table id=\"{id}\">\n\
         <caption><span>{caption}</span></caption>\n<thead><tr>",
        escaped(&table.title),
        table.file
    );
    for (number, (name, meaning)) in table.columns.iter().enumerate() {
        let is_number = table.rows.first().is_some_and(|row| row[number].number);
        let class = if is_number { " class=\"n\"" } else { "" };
        let title = if meaning.is_empty() {
            String::new()
        } else {
            format!(" title=\"{}\"", escaped(meaning))
        };
        // A long name may be broken where its words meet.
        let name = escaped(name).replace('_', "_<wbr>").replace('.', ".<wbr>");
        let _ = write!(out, "<th scope=\"col\"{class}{title}>{name}</th>");
    }
    out += "</tr></thead>\n<tbody>\n";
    for row in &table.rows {
        out += "<tr>";
        for (number, cell) in row.iter().enumerate() {
            let class = match (cell.number, cell.marked) {
                (false, _) => "",
                (true, false) => " class=n",
                (true, true) => " class=\"n marked\"",
            };
            let mut text = escaped(&cell.text);
            if !cell.note.is_empty() {
                let _ = write!(text, "<small>{}</small>", escaped(&cell.note));
            }
            if number + 1 == table.keys {
                let _ = write!(out, "<th scope=row{class}>{text}</th>");
            } else {
                let _ = write!(out, "<td{class}>{text}</td>");
            }
        }
        out += "</tr>\n";
    }
    out += "</tbody>\n</table>\n</div>\n";
    if table.more > 0 {
        let _ = writeln!(out, "<p>{} more rows stand in {}.</p>", table.more, table.file);
    }
    out + "</details>\n"
}

fn asked_html(section: &Section) -> String {
    let mut out =
        String::from("<details class=\"asked\"><summary>What was asked</summary>\n<dl>\n");
    for fact in &section.facts {
        let _ = writeln!(out, "<dt>{}</dt><dd>{}</dd>", escaped(&fact.name), escaped(&fact.text));
    }
    let _ = writeln!(
        out,
        "</dl>\n<p>To repeat it:</p>\n<pre><code>{}</code></pre>\n<p>The study:</p>\n<pre \
         tabindex=\"0\" role=\"region\" aria-label=\"The study\"><code>{}</code></pre>\n</details>",
        escaped(&section.command),
        escaped(section.source.trim_end())
    );
    out
}
