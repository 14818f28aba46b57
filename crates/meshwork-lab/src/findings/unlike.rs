//! Parameters that compared strategies have in common, but with different values.
//!
//! This may be due to defaults. For example, first fit does not turn a requested block, but
//! adaptive scan does. So the differences are shown with the results.

use std::fmt;

use meshwork::catalogue::Catalogue;
use meshwork::registry::{DefaultValue, Family, Param};
use meshwork::{alloc, network, sched, select, sizing};
use toml::{Table, Value};

use crate::study::expand::Point;
use crate::study::words::short;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlike {
    pub key: String,
    pub parameter: String,
    /// Values of the parameter, each with the names of the strategies that use it, in sweep order.
    pub values: Vec<(String, Vec<String>)>,
}

impl fmt::Display for Unlike {
    /// Writes one line, such as `rotation: never for first_fit, if_needed for adaptive_scan`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.parameter)?;
        for (index, (value, names)) in self.values.iter().enumerate() {
            let separator = if index > 0 { ", " } else { "" };
            let names = match &names[..] {
                [one] => one.clone(),
                [more @ .., last] => format!("{} and {last}", more.join(", ")),
                [] => String::new(),
            };
            write!(f, "{separator}{value} for {names}")?;
        }
        Ok(())
    }
}

/// Parameters that differ between the strategies that a swept key such as `allocator` compares.
pub fn unlike(catalogue: &Catalogue, points: &[Point]) -> Vec<Unlike> {
    let Some(first) = points.first() else { return Vec::new() };
    let keys = first.swept.iter().map(|(key, _)| key);
    keys.filter_map(|key| Some((key, family(key)?)))
        .flat_map(|(key, family)| in_family(key, (catalogue, family), points))
        .collect()
}

fn family(key: &str) -> Option<&'static Family> {
    match key {
        "allocator" => Some(&alloc::FAMILY),
        "scheduler" => Some(&sched::FAMILY),
        "order" => Some(&alloc::parts::orders::FAMILY),
        "within" => Some(&alloc::parts::within::FAMILY),
        "sizing" => Some(&sizing::FAMILY),
        "selector" => Some(&select::FAMILY),
        "network" => Some(&network::FAMILY),
        _ => None,
    }
}

type List<'a> = (&'a Catalogue, &'static Family);

struct Compared<'a> {
    label: String,
    table: &'a Table,
}

fn in_family(key: &str, family: List<'_>, points: &[Point]) -> Vec<Unlike> {
    let compared = compared(key, points);
    let names = compared.iter().filter_map(|strategy| name(strategy.table));
    if names.collect::<std::collections::BTreeSet<_>>().len() < 2 {
        return Vec::new();
    }
    let is_swept = |parameter: &str| {
        let inner = format!("{key}.{parameter}");
        points[0].swept.iter().any(|(swept, _)| {
            *swept == inner || swept.strip_prefix(&inner).is_some_and(|rest| rest.starts_with('.'))
        })
    };
    let mut found = Vec::new();
    let mut done: Vec<(&str, String)> = Vec::new();
    for strategy in &compared {
        for param in declared(family, strategy.table) {
            let kind = (param.name, param.kind.to_string());
            if is_swept(param.name) || done.contains(&kind) {
                continue;
            }
            let having = having(family, &compared, &kind);
            done.push(kind);
            // The labels of two forms of one strategy already tell them apart.
            let differ = having.iter().any(|(own, value)| {
                having
                    .iter()
                    .any(|(other, theirs)| name(own.table) != name(other.table) && value != theirs)
            });
            if differ {
                found.push(Unlike {
                    key: key.to_owned(),
                    parameter: param.name.to_owned(),
                    values: grouped(having),
                });
            }
        }
    }
    found
}

/// Distinct strategies that are values of a swept key, in the order of the sweep.
fn compared<'a>(key: &str, points: &'a [Point]) -> Vec<Compared<'a>> {
    let mut distinct: Vec<(&Value, &Table)> = Vec::new();
    for point in points {
        let written = point.swept.iter().find(|(swept, _)| swept == key).map(|(_, value)| value);
        let resolved = point.scenario.table().get(key).and_then(Value::as_table);
        if let (Some(written), Some(resolved)) = (written, resolved)
            && distinct.iter().all(|(before, _)| *before != written)
        {
            distinct.push((written, resolved));
        }
    }
    let written: Vec<&Value> = distinct.iter().map(|(written, _)| *written).collect();
    let labels = short(key, &written);
    labels.into_iter().zip(distinct).map(|(label, (_, table))| Compared { label, table }).collect()
}

fn name(table: &Table) -> Option<&str> {
    table.get("name")?.as_str()
}

fn declared((catalogue, family): List<'_>, table: &Table) -> impl Iterator<Item = &'static Param> {
    let entry = name(table).and_then(|name| family.find_in(catalogue, "", name).ok());
    family.common.iter().chain(entry.map_or(&[][..], |about| about.params))
}

fn having<'a>(
    family: List<'_>,
    compared: &'a [Compared<'a>],
    (parameter, kind): &(&str, String),
) -> Vec<(&'a Compared<'a>, String)> {
    let value = |strategy: &Compared<'_>| {
        let has = |param: &&Param| param.name == *parameter && param.kind.to_string() == *kind;
        let param = declared(family, strategy.table).find(has)?;
        match (strategy.table.get(*parameter), &param.default) {
            (Some(value), _) => Some(short(parameter, &[value]).concat()),
            (None, DefaultValue::Absent(meaning)) => Some((*meaning).to_owned()),
            (None, DefaultValue::Is(_) | DefaultValue::Required) => None,
        }
    };
    compared.iter().filter_map(|strategy| Some((strategy, value(strategy)?))).collect()
}

fn grouped(having: Vec<(&Compared<'_>, String)>) -> Vec<(String, Vec<String>)> {
    let mut values: Vec<(String, Vec<String>)> = Vec::new();
    for (strategy, value) in having {
        match values.iter_mut().find(|(known, _)| *known == value) {
            Some((_, names)) => names.push(strategy.label.clone()),
            None => values.push((value, vec![strategy.label.clone()])),
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::expand::expand;
    use crate::tests::{study, synthetic};

    fn lines(rest: &str) -> Vec<String> {
        let head = "machine = { topology = 'mesh', dims = [4, 4] }\n\
                    measure = { jobs = 50, metrics = ['wait'] }";
        let study = study(&synthetic(head, 0.5, rest));
        unlike(&study.catalogue, &expand(&study).unwrap()).iter().map(Unlike::to_string).collect()
    }

    #[test]
    fn a_default_that_differs_is_told() {
        assert_eq!(
            lines("[sweep]\nallocator = ['first_fit', 'adaptive_scan', 'boundary_search']"),
            ["rotation: never for first_fit and boundary_search, if_needed for adaptive_scan"]
        );
        assert_eq!(lines("[sweep]\nallocator = ['first_fit', 'boundary_search']"), [""; 0]);
    }

    #[test]
    fn what_is_the_same_for_all_or_has_a_column_is_not() {
        let swept = "[sweep]\nallocator = ['first_fit', 'adaptive_scan']\n\
                     'allocator.rotation' = ['never', 'best']";
        assert_eq!(lines(swept), [""; 0]);
        let one = "[sweep]\nallocator = ['first_fit', { name = 'first_fit', rotation = 'best' }]";
        assert_eq!(lines(one), [""; 0], "one strategy, whose labels say it");
        let forms = "[sweep]\nallocator = ['random', 'paging', { name = 'paging', page = 1 }]";
        assert_eq!(lines(forms), [""; 0]);
        assert_eq!(lines("[sweep]\nscheduler = ['fcfs', 'easy']"), [""; 0]);
    }

    #[test]
    fn what_is_given_is_told_with_the_rest() {
        let given =
            "[sweep]\nallocator = ['first_fit', { name = 'frame_sliding', rotation = 'best' }]";
        assert_eq!(
            lines(given),
            ["rotation: never for first_fit, best for frame_sliding (rotation=best)"]
        );
    }
}
