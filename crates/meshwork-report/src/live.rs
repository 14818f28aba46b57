//! Page of a running study, which requests updates.

use super::{Report, html};

impl Report {
    pub fn results(&self) -> String {
        html::results(self).into_string()
    }

    /// Page of a running study. Its script may send requests only to the server of the page.
    pub fn live(&self) -> String {
        html::page(self, true)
    }
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
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_live_page_is_the_page_with_more_in_it() {
        let (page, live) = (report().html(), report().live());
        let (begin, end) = ("<section class=\"live\"", "</section>\n");
        let inside = &live[live.find(begin).unwrap()..];
        let inside = &inside[..inside.find(end).unwrap() + end.len()];
        let without = live.replacen(" connect-src 'self';", "", 1).replacen(inside, "", 1);
        assert!(without == page);
        let places = ["connect-src 'self'", begin, "<main id", "</main>", "<script"];
        assert!(places.map(|text| live.find(text).expect(text)).is_sorted());
    }

    #[test]
    fn the_results_are_what_stands_in_the_main_part() {
        let page = report().html();
        let results = report().results();
        assert!(page.contains(&format!("<main id=\"results\">{results}</main>")));
        assert!(!results.contains("<main") && !results.contains("</main"));
    }
}
