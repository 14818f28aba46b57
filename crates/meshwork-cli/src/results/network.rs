//! Prints the network of a study in words: settings that all scenarios share.

use meshwork_lab::study::expand::Point;
use meshwork_lab::text::shown;
use toml::Table;

use crate::output::{Output, Stop};

pub(crate) fn print(out: &mut Output, points: &[Point]) -> Result<(), Stop> {
    if let Some(words) = in_words(points) {
        out.paragraph(&words)?;
    }
    Ok(())
}

/// Settings that all scenarios share, if jobs send messages.
///
/// An example is `8 × 8 × 8 torus, network wormhole: pattern all_to_all, buffer 2`.
fn in_words(points: &[Point]) -> Option<String> {
    let of = |point: &Point| point.scenario.table()["network"].as_table().cloned();
    let networks: Vec<Table> = points.iter().filter_map(of).collect();
    if !points.iter().any(|point| point.scenario.sends()) {
        return None;
    }
    let mut words = Vec::new();
    let machine = points[0].scenario.topologies();
    if points.iter().all(|point| point.scenario.topologies() == machine) {
        let sites: Vec<String> = machine.iter().map(ToString::to_string).collect();
        words.push(sites.join(" + "));
    }
    let is_common = |key: &str| networks.iter().all(|other| other.get(key) == networks[0].get(key));
    let name =
        if is_common("name") { format!(" {}", shown(&networks[0]["name"])) } else { String::new() };
    words.push(format!("network{name}"));
    let parameters: Vec<String> = networks[0]
        .iter()
        .filter(|(key, _)| *key != "name" && is_common(key))
        .map(|(key, value)| {
            let value = value.get("name").unwrap_or(value);
            format!("{key} {}", shown(value))
        })
        .collect();
    let colon = if parameters.is_empty() { "" } else { ": " };
    Some(format!("{}{colon}{}", words.join(", "), parameters.join(", ")))
}
