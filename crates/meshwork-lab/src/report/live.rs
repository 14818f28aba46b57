//! The page of a study that is still running: the same page, which asks for more as more is known.

use super::Report;

/// Before the results.
const MAIN: &str = "<main id=\"results\">\n";

/// After them.
const AFTER: &str = "</main>\n";

impl Report {
    /// What stands between the head of the page and its end: the results, as HTML.
    #[must_use]
    pub fn results(&self) -> String {
        results_of(&self.html()).to_owned()
    }

    /// The page with more in it: some HTML before the results, and at its end a style and a script, which may
    /// ask the server that the page came from, and nobody else.
    #[must_use]
    pub fn live(&self, before: &str, style: &str, script: &str) -> String {
        let page = self.html();
        let page =
            page.replacen("default-src 'none';", "default-src 'none'; connect-src 'self';", 1);
        let page = page.replacen(MAIN, &format!("{before}\n{MAIN}"), 1);
        let (page, end) = page.rsplit_once("</body>").unwrap_or((&page, ""));
        format!("{page}<style>\n{style}</style>\n<script>\n{script}</script>\n</body>{end}")
    }
}

fn results_of(page: &str) -> &str {
    let inside = page.split_once(MAIN).map_or("", |(_, after)| after);
    inside.split_once(AFTER).map_or(inside, |(results, _)| results)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        Report {
            title: "</main> & <body>".to_owned(),
            about: "default-src 'none';".to_owned(),
            overview: None,
            sections: Vec::new(),
            warnings: Vec::new(),
        }
    }

    #[test]
    fn a_live_page_is_the_page_with_more_in_it() {
        let (page, live) = (report().html(), report().live("<p>before", "p {}\n", "run()\n"));
        let without = live
            .replacen(" connect-src 'self';", "", 1)
            .replacen("<p>before\n", "", 1)
            .replacen("<style>\np {}\n</style>\n<script>\nrun()\n</script>\n", "", 1);
        assert!(without == page);
        let places = ["connect-src 'self'", "<p>before", "<main id", "</main>", "p {}", "run()"];
        assert!(places.map(|text| live.find(text).expect(text)).is_sorted());
    }

    #[test]
    fn the_results_are_what_stands_in_the_main_part() {
        let page = report().html();
        let results = report().results();
        assert!(page.contains(&format!("{MAIN}{results}{AFTER}")));
        assert!(!results.contains("<main") && !results.contains("</main"));
    }
}
