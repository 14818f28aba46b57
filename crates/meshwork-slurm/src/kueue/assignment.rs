//! Nodes of the pods of a Kueue workload.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::HOST;

/// Number of pods on each node, from a topology assignment. It is `None` if the lowest level is
/// above the nodes, or if no topology was requested. Two formats are read: `domains` of `v1beta1`,
/// and `slices` of `v1beta2`, whose names may be given in full, or with a common beginning and end.
pub(super) fn hosts(assignment: &Json) -> Result<Option<BTreeMap<String, u64>>, String> {
    let levels: Vec<&str> = list(assignment, "levels").filter_map(Json::as_str).collect();
    let Some(level) = levels.iter().position(|&level| level == HOST) else { return Ok(None) };
    let mut pods = BTreeMap::new();
    for domain in list(assignment, "domains") {
        let host = list(domain, "values").nth(level).and_then(Json::as_str);
        let host = host.ok_or("has a domain without the name of its node")?;
        *pods.entry(host.to_owned()).or_default() += count(domain.get("count"))?;
    }
    for slice in list(assignment, "slices") {
        let domains = count(slice.get("domainCount"))? as usize;
        let values = list(slice, "valuesPerLevel").nth(level);
        let hosts = values_of(values.ok_or("has a slice without the names of its nodes")?, domains);
        let counts = counts_of(slice, domains)?;
        if hosts.len() != domains || counts.len() != domains {
            return Err(format!(
                "has a slice of {domains} domains with {} names and {} counts of pods",
                hosts.len(),
                counts.len()
            ));
        }
        for (host, count) in hosts.into_iter().zip(counts) {
            *pods.entry(host).or_default() += count;
        }
    }
    Ok(Some(pods).filter(|pods| !pods.is_empty()))
}

fn list<'a>(object: &'a Json, key: &str) -> impl Iterator<Item = &'a Json> {
    object.get(key).and_then(Json::as_array).into_iter().flatten()
}

fn count(value: Option<&Json>) -> Result<u64, String> {
    value.and_then(Json::as_u64).ok_or_else(|| "has a count that is no whole number".to_owned())
}

/// Label values of the domains in a slice.
///
/// Either all domains have one value, or their values differ in a part between a common prefix and
/// suffix.
fn values_of(values: &Json, domains: usize) -> Vec<String> {
    let universal = values.get("universalValue").or_else(|| values.get("universal"));
    if let Some(one) = universal.and_then(Json::as_str) {
        return vec![one.to_owned(); domains];
    }
    let values = values.get("individual").unwrap_or(values);
    let part = |key: &str| values.get(key).and_then(Json::as_str).unwrap_or_default();
    let (prefix, suffix) = (part("prefix"), part("suffix"));
    let roots = list(values, "roots").filter_map(Json::as_str);
    roots.map(|root| format!("{prefix}{root}{suffix}")).collect()
}

fn counts_of(slice: &Json, domains: usize) -> Result<Vec<u64>, String> {
    let counts = slice.get("podCounts");
    let universal = slice
        .get("universalPodCount")
        .or_else(|| counts.and_then(|counts| counts.get("universal")));
    if universal.is_some() {
        return Ok(vec![count(universal)?; domains]);
    }
    let counts = counts.and_then(|counts| counts.get("individual")).or(counts);
    let counts = counts.and_then(Json::as_array).into_iter().flatten();
    counts.map(|one| count(Some(one))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_forms_of_an_assignment_say_the_same() {
        let expected = BTreeMap::from([("r1-a".to_owned(), 2), ("r1-b".to_owned(), 2)]);
        let forms = [
            json!({ "levels": [HOST], "domains": [
                { "values": ["r1-a"], "count": 2 }, { "values": ["r1-b"], "count": 2 }] }),
            json!({ "levels": ["rack", HOST], "domains": [
                { "values": ["r1", "r1-a"], "count": 2 }, { "values": ["r1", "r1-b"], "count": 2 }] }),
            json!({ "levels": [HOST], "slices": [{ "domainCount": 2,
                "valuesPerLevel": [{ "roots": ["r1-a", "r1-b"] }], "podCounts": [2, 2] }] }),
            json!({ "levels": ["rack", HOST], "slices": [{ "domainCount": 2,
                "valuesPerLevel": [{ "universalValue": "r1" }, { "prefix": "r1-", "roots": ["a", "b"] }],
                "universalPodCount": 2 }] }),
            json!({ "levels": [HOST], "slices": [
                { "domainCount": 1, "valuesPerLevel": [{ "universal": "r1-a" }], "podCounts": { "universal": 2 } },
                { "domainCount": 1, "valuesPerLevel": [{ "individual": { "prefix": "r1-", "roots": ["b"] } }],
                  "podCounts": { "individual": [2] } }] }),
        ];
        for form in forms {
            assert_eq!(hosts(&form), Ok(Some(expected.clone())), "{form}");
        }
    }

    #[test]
    fn what_names_no_node_and_what_cannot_be_read() {
        let racks = json!({ "levels": ["rack"], "domains": [{ "values": ["r1"], "count": 2 }] });
        assert_eq!(hosts(&racks), Ok(None));
        let short = json!({ "levels": [HOST], "slices": [{ "domainCount": 2,
            "valuesPerLevel": [{ "roots": ["a"] }], "podCounts": [2, 2] }] });
        assert!(hosts(&short).unwrap_err().contains("2 domains with 1 names and 2 counts"));
        let wrong = json!({ "levels": [HOST], "domains": [{ "values": ["a"], "count": "two" }] });
        assert!(hosts(&wrong).unwrap_err().contains("no whole number"));
    }
}
