//! Gives values consistent colours in all plots of a page.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::Section;
use super::views::{EQUAL, FigureView};

const COLOURS: usize = 10;

type Colours = BTreeMap<(String, String), usize>;

/// Gives each value of a swept key the same colour in all sections, if possible.
pub(super) fn agree(sections: &mut [Section]) {
    let mut known = Colours::new();
    for section in sections {
        let mut named: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
        for view in section.figures.iter().flat_map(|figure| &figure.views) {
            for (key, number, name) in coloured(view) {
                let names = named.entry(key.to_owned()).or_default();
                if !names.iter().any(|(_, other)| other == name) {
                    names.push((number, name.to_owned()));
                }
            }
        }
        let mut own = Colours::new();
        for (key, mut names) in named {
            names.sort();
            let place = |name: &String| (key.clone(), name.clone());
            let mut taken: BTreeSet<usize> = BTreeSet::new();
            for (_, name) in &names {
                if let Some(&colour) = known.get(&place(name))
                    && taken.insert(colour)
                {
                    own.insert(place(name), colour);
                }
            }
            for (_, name) in &names {
                if let Entry::Vacant(vacant) = own.entry(place(name)) {
                    let colour = (0..COLOURS).find(|colour| !taken.contains(colour)).unwrap_or(0);
                    taken.insert(colour);
                    vacant.insert(colour);
                    known.entry(place(name)).or_insert(colour);
                }
            }
        }
        for view in section.figures.iter_mut().flat_map(|figure| &mut figure.views) {
            repaint(view, &own);
        }
    }
}

fn coloured(view: &FigureView) -> Vec<(&str, usize, &str)> {
    if let Some(key) = &view.colour {
        let of = view.series.iter().map(|line| (&*key.key, line.colour, first_name(&line.name)));
        return of.collect();
    }
    let names = view.x.names.iter().zip(&view.x.colours);
    names.map(|(name, &colour)| (&*view.x.key, colour, &**name)).collect()
}

/// First of the names that share one line of a plot. It decides the colour of the line.
fn first_name(name: &str) -> &str {
    name.split(EQUAL).next().unwrap_or(name)
}

fn repaint(view: &mut FigureView, own: &Colours) {
    let find = |key: &str, name: &str| own.get(&(key.to_owned(), name.to_owned())).copied();
    if let Some(key) = &view.colour {
        for line in &mut view.series {
            line.colour = find(&key.key, first_name(&line.name)).unwrap_or(line.colour);
        }
        return;
    }
    for (name, colour) in view.x.names.iter().zip(&mut view.x.colours) {
        *colour = find(&view.x.key, name).unwrap_or(*colour);
    }
}
