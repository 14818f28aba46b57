//! Shortest unambiguous texts for values of a study, for use in tables and plots.

use toml::{Table, Value};

use crate::study::{Study, same};
use crate::text::shown;

/// Short forms of the values of a swept key: names with parameters, sizes, or names of files.
pub fn short(key: &str, values: &[&Value]) -> Vec<String> {
    let brief: Vec<String> = values.iter().map(|value| one(key, value)).collect();
    let is_told_apart = |i: usize| {
        (0..values.len()).all(|j| brief[i] != brief[j] || shown(values[i]) == shown(values[j]))
    };
    (0..values.len())
        .map(|i| if is_told_apart(i) { brief[i].clone() } else { shown(values[i]) })
        .collect()
}

/// Shortest ends of paths that still differ from each other, such as `bf30.conf`. Paths are cut
/// only at slashes. Equal paths are returned in full.
///
/// ```
/// use meshwork_lab::study::words::short_paths;
/// let short = short_paths(&["a/x/t.yaml".into(), "b/x/t.yaml".into(), "b/u.yaml".into()]);
/// assert_eq!(short, ["a/x/t.yaml", "b/x/t.yaml", "u.yaml"]);
/// ```
pub fn short_paths(paths: &[String]) -> Vec<String> {
    let ends = |path: &str, end: &str| {
        path.ends_with(end) && (path == end || path[..path.len() - end.len()].ends_with('/'))
    };
    let short = |path: &String| {
        let mut starts = path.rmatch_indices('/').map(|(at, _)| &path[at + 1..]);
        let is_own = |end: &&str| {
            !end.is_empty() && paths.iter().filter(|other| ends(other, end)).count() == 1
        };
        let own = starts.find(is_own);
        own.unwrap_or(path).to_owned()
    };
    paths.iter().map(short).collect()
}

pub fn short_label(study: &Study, swept: &[(String, Value)]) -> String {
    let word = |(key, value): &(String, Value)| {
        let axis = study.sweep.iter().find(|axis| axis.key == *key);
        let values: Vec<&Value> = axis.map_or(vec![value], |axis| axis.values.iter().collect());
        let place = values.iter().position(|other| same(other, value)).unwrap_or_default();
        format!("{key} = {}", short(key, &values).swap_remove(place))
    };
    swept.iter().map(word).collect::<Vec<_>>().join(", ")
}

fn one(key: &str, value: &Value) -> String {
    match value {
        Value::Table(table) => component(table),
        Value::String(path) if key.ends_with("path") => {
            path.rsplit('/').next().unwrap_or(path).to_owned()
        }
        Value::Array(list) if key.ends_with("dims") => sides(list),
        _ => shown(value),
    }
}

fn component(table: &Table) -> String {
    if let Some(sites) = table.get("sites").and_then(Value::as_array) {
        let sites = sites.iter().map(|site| site.as_table().map_or_else(|| shown(site), component));
        return sites.collect::<Vec<_>>().join(" + ");
    }
    let key = if table.contains_key("topology") { "topology" } else { "name" };
    let mut words: Vec<String> = table.get(key).map(shown).into_iter().collect();
    let mut parameters = Vec::new();
    for (name, value) in table {
        match (name.as_str(), value) {
            (own, _) if own == key => {}
            ("dims", Value::Array(list)) if key == "topology" => words.push(sides(list)),
            ("dims" | "processors" | "dimension", _) if key == "topology" => {
                words.push(shown(value));
            }
            (_, Value::Table(inner)) => parameters.push(format!("{name}={}", component(inner))),
            _ => parameters.push(format!("{name}={}", shown(value))),
        }
    }
    if !parameters.is_empty() {
        words.push(format!("({})", parameters.join(", ")));
    }
    words.join(" ")
}

fn sides(list: &[Value]) -> String {
    list.iter().map(shown).collect::<Vec<_>>().join("x")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short_of(key: &str, list: &str) -> Vec<String> {
        let table: Table = format!("values = {list}").parse().unwrap();
        let values: Vec<&Value> = table["values"].as_array().unwrap().iter().collect();
        short(key, &values)
    }

    #[test]
    fn components_are_names_with_their_parameters() {
        assert_eq!(
            short_of("sizing", "['exact', { name = 'rsr', max_folds = 2, stretch = 'folds' }]"),
            ["exact", "rsr (max_folds=2, stretch=folds)"]
        );
        assert_eq!(
            short_of(
                "machine",
                "[{ topology = 'mesh', dims = [16, 8] }, { topology = 'flat', processors = 128, speed = 2.0 },
                  { sites = [{ topology = 'hypercube', dimension = 5 }, { topology = 'torus', dims = 4 }] }]"
            ),
            ["mesh 16x8", "flat 128 (speed=2.0)", "hypercube 5 + torus 4"]
        );
        assert_eq!(short_of("machine.dims", "[[8, 8], 9]"), ["8x8", "9"]);
        assert_eq!(
            short_of("workload.runtimes", "[{ name = 'uniform', inner = { name = 'x', y = 1 } }]"),
            ["uniform (inner=x (y=1))"]
        );
    }

    #[test]
    fn what_would_look_the_same_is_written_out() {
        assert_eq!(short_of("workload.path", "['a/x.swf', 'b/y.swf']"), ["x.swf", "y.swf"]);
        assert_eq!(
            short_of("workload.path", "['a/x.swf', 'b/x.swf', 'c/y.swf']"),
            ["a/x.swf", "b/x.swf", "y.swf"]
        );
        assert_eq!(short_of("workload.path", "['a/x.swf', 'a/x.swf']"), ["x.swf", "x.swf"]);
    }
}
