//! `meshwork traffic`: measures a network under random traffic, without jobs.

use meshwork::catalogue::Catalogue;
use meshwork::network::traffic::{self, Carried, Offered, TRAFFIC};
use meshwork::network::wormhole::{ClassRule, Lanes, Preset, Routing, Upward, WormholeConfig};
use meshwork::presets::MachineEntry;
use meshwork::registry::{Problem, entry};
use meshwork::scenario::SITE_FAMILY;
use meshwork::topology::{Topology, TopologyEntry};
use meshwork_lab::traffic::{LoadPoint, sweep};
use serde_json::{Value as Json, json};
use toml::{Table, Value};

use super::place::machine;
use crate::args::Traffic;
use crate::number::align;
use crate::output::{Ended, Output, Stop, Verdict};
use crate::table::{Column, print as print_table};
use meshwork_lab::text::number::{Rounded, significant};

pub(crate) fn run(out: &mut Output, catalogue: &Catalogue, arguments: &Traffic) -> Ended {
    let mut loads = offered(catalogue, arguments)?;
    if !arguments.json {
        // Add the load 1, the maximum that can be offered: the throughput at this load is the
        // saturation throughput.
        loads.push(Offered { load: 1.0, ..loads[0].clone() });
    }
    let threads = arguments.threads.unwrap_or(0);
    let bytes = loads[0].memory().map_err(|problem| blame(arguments, &problem))?;
    let what = format!("--topology: the network of a {} takes", loads[0].topology);
    arguments.memory.check_at_once(bytes, threads, loads.len() as u64, &what)?;
    let points = sweep(&loads, arguments.threads.unwrap_or(0))
        .map_err(|problem| blame(arguments, &problem))?;
    if arguments.json {
        for (load, point) in arguments.loads.iter().zip(&points) {
            out.json(&as_json(*load, &point.carried))?;
        }
        return Ok(Verdict::Done);
    }
    let (full, points) = points.split_last().expect("at least the full load was offered");
    headline(out, arguments, &loads[0])?;
    print(out, &arguments.loads, points)?;
    out.line("")?;
    out.line(&format!(
        "saturation throughput: {} flits per node and cycle, accepted when 1 is offered",
        significant(full.carried.accepted, 4)
    ))?;
    Ok(Verdict::Done)
}

fn offered(catalogue: &Catalogue, arguments: &Traffic) -> Result<Vec<Offered>, Stop> {
    let topology = topology(catalogue, arguments)?;
    let about = traffic::FAMILY
        .find("traffic", &arguments.traffic)
        .map_err(|problem| Stop::Wrong(format!("--traffic: {problem}")))?;
    let usual = WormholeConfig::default();
    let setting = WormholeConfig {
        preset: match arguments.timing.as_str() {
            "booksim" => Preset::Booksim,
            _ => Preset::Procsimity,
        },
        router_delay: arguments.router_delay.unwrap_or(usual.router_delay),
        packet_length: arguments.packet.unwrap_or(usual.packet_length),
        buffer: arguments.buffer.unwrap_or(usual.buffer),
        class_rule: match arguments.class.as_str() {
            "dateline" => ClassRule::Dateline,
            _ => ClassRule::Static,
        },
        lanes: match arguments.lanes.as_str() {
            "independent" => Lanes::Independent,
            _ => Lanes::Shared,
        },
        upward: match arguments.upward.as_str() {
            "fixed" => Upward::Fixed,
            _ => Upward::Random,
        },
        routing: match arguments.routing.as_str() {
            "valiant" => Routing::Valiant,
            "ugal" => Routing::Ugal,
            _ => Routing::Minimal,
        },
        ugal_threshold: arguments.ugal_threshold,
        local_latency: arguments.local_latency,
        global_latency: arguments.global_latency,
        ..usual
    };
    // A network with one virtual channel is simulated faster, so it is used if one channel
    // suffices.
    let least = if topology.grid().is_wrapped() { 2 } else { 1 };
    let channels = setting.usual_channels(&topology).max(least);
    let setting = WormholeConfig { virtual_channels: arguments.vcs.unwrap_or(channels), ..setting };
    let warmup = arguments.warmup.unwrap_or(arguments.cycles / 4);
    if warmup >= arguments.cycles {
        return Err(Stop::Wrong(format!(
            "--warmup {warmup}: this leaves none of the {} cycles of --cycles to measure",
            arguments.cycles
        )));
    }
    let offered = |&load: &f64| Offered {
        topology: topology.clone(),
        setting,
        traffic: entry(TRAFFIC, about.name),
        load,
        warmup,
        cycles: arguments.cycles - warmup,
        seed: arguments.seed,
    };
    Ok(arguments.loads.iter().map(offered).collect())
}

fn topology(catalogue: &Catalogue, arguments: &Traffic) -> Result<Topology, Stop> {
    if let Some(text) = &arguments.machine {
        let table = machine(catalogue, text).map(|machine| match machine.as_str() {
            Some(name) => Value::Table(catalogue.entry::<MachineEntry>(name).tables().0),
            None => machine,
        });
        return table
            .and_then(|table| {
                wired(catalogue, "machine", &table).map_err(|problem| problem.message)
            })
            .map_err(|sentence| Stop::Wrong(format!("--machine {text}: {sentence}")));
    }
    let wiring = &arguments.wiring;
    let list = |numbers: &[u32]| -> Option<Value> {
        let numbers = numbers.iter().map(|&number| Value::Integer(number.into()));
        Some(Value::Array(numbers.collect())).filter(|list| list.as_array() != Some(&Vec::new()))
    };
    let number = |number: Option<u32>| number.map(|number| Value::Integer(number.into()));
    let wrap = wiring.wrap.iter().map(|&word| Value::Boolean(word)).collect();
    let mut given: Table = [
        ("wrap", Some(Value::Array(wrap)).filter(|_| !wiring.wrap.is_empty())),
        ("processors_per_node", number(wiring.processors_per_node)),
        ("arity", list(&wiring.arity)),
        ("levels", number(wiring.levels)),
        ("taper", wiring.taper.map(Value::Float)),
        ("p", number(wiring.p)),
        ("a", number(wiring.a)),
        ("h", number(wiring.h)),
    ]
    .into_iter()
    .filter_map(|(key, value)| Some((key.to_owned(), value?)))
    .collect();
    let dims = wiring.dims.as_slice();
    let name = arguments.topology.as_str();
    let wrong_dims = |sentence: &str| Stop::Wrong(format!("--dims: {sentence}"));
    match (name, dims) {
        ("mesh" | "torus" | "tofu", []) => {
            let says =
                "the network is missing: --machine, such as torus:8x8, or --dims, such as 8,8";
            return Err(Stop::Wrong(format!("`meshwork traffic`: {says}")));
        }
        // Use the error message of `Topology::mesh`, because its sides are the numbers of `--dims`.
        ("mesh" | "torus" | "tofu", _) if dims.contains(&0) => {
            let error = Topology::mesh(dims).err().map_or_else(String::new, |e| e.to_string());
            return Err(wrong_dims(&error));
        }
        ("hypercube", _) => {
            let dimension = match *dims {
                [dimension] => dimension,
                _ if !dims.is_empty() && dims.iter().all(|&side| side == 2) => dims.len() as u32,
                _ => {
                    return Err(wrong_dims(
                        "a hypercube has one number, its dimension, such as --dims 6",
                    ));
                }
            };
            given.extend(number(Some(dimension)).map(|number| ("dimension".to_owned(), number)));
        }
        _ => given.extend(list(dims).map(|sides| ("dims".to_owned(), sides))),
    }
    given.insert("topology".to_owned(), name.into());
    wired(catalogue, "", &Value::Table(given)).map_err(|problem| {
        let option = match problem.path.as_str() {
            "" => format!("--topology {name}"),
            "dimension" => "--dims".to_owned(),
            key => format!("--{}", key.replace('_', "-")),
        };
        Stop::Wrong(format!("{option}: {}", problem.message))
    })
}

/// Topology of a site that is described as in a study.
fn wired(catalogue: &Catalogue, path: &str, site: &Value) -> Result<Topology, Problem> {
    let params = SITE_FAMILY.resolve_in(catalogue, path, site)?;
    (catalogue.entry::<TopologyEntry>(params.name()).build)(&params)
}

/// Sentence that begins with the command-line option at fault.
fn blame(arguments: &Traffic, problem: &Problem) -> Stop {
    let argument = match problem.path.as_str() {
        "packet_length" => "--packet",
        "buffer" => "--buffer",
        "virtual_channels" => "--vcs",
        "router_delay" => "--router-delay",
        "lanes" => "--lanes",
        "local_latency" => "--local-latency",
        "global_latency" => "--global-latency",
        "load" => "--loads",
        "traffic" => "--traffic",
        // The problem is in the machine that `--machine` gives.
        "" | "topology" if arguments.machine.is_some() => "--machine",
        "topology" => "--topology",
        // No option is at fault: threads cannot be started, or the network deadlocks.
        _ => return Stop::Failed(problem.message.clone()),
    };
    Stop::Wrong(format!("{argument}: {problem}"))
}

fn as_json(load: f64, carried: &Carried) -> Json {
    json!({
        "load": load,
        "accepted": carried.accepted,
        "latency": carried.latency,
        "network_latency": carried.network_latency,
        "hops": carried.hops,
        "cycles": carried.cycles,
        "flit_hops": carried.flit_hops,
    })
}

fn headline(out: &mut Output, arguments: &Traffic, offered: &Offered) -> Result<(), Stop> {
    let WormholeConfig { packet_length, buffer, virtual_channels, .. } = offered.setting;
    let plural =
        |number: u32, word: &str| format!("{number} {word}{}", if number == 1 { "" } else { "s" });
    out.headline(&format!(
        "{}, {} traffic, timing of {}: packets of {}, buffers of {}, {}",
        offered.topology,
        offered.traffic.about.name,
        arguments.timing,
        plural(packet_length, "flit"),
        plural(buffer, "flit"),
        plural(virtual_channels, "virtual channel"),
    ))
}

fn print(out: &mut Output, loads: &[f64], points: &[LoadPoint]) -> Result<(), Stop> {
    let column = |header: &str, of: &dyn Fn(&LoadPoint) -> Option<f64>| {
        let figures: Vec<Rounded> =
            points.iter().map(|point| Rounded::new(of(point), None)).collect();
        Column::numbers(header, align(&figures))
    };
    let offered: Vec<Rounded> = loads.iter().map(|&load| Rounded::new(Some(load), None)).collect();
    let keys = [Column::numbers("load", align(&offered))];
    let columns = [
        column("accepted", &|point| Some(point.carried.accepted)),
        column("latency", &|point| point.carried.latency),
        column("network_latency", &|point| point.carried.network_latency),
        column("blocking", &|point| point.carried.blocking),
        column("hops", &|point| point.carried.hops),
        column("link_utilization", &|point| Some(point.carried.utilization)),
        column("Mflit_hops_per_cpu_s", &|point| {
            let rate = point.carried.flit_hops as f64 / point.cpu_seconds / 1e6;
            rate.is_finite().then_some(rate)
        }),
    ];
    print_table(out, &keys, &columns, &[])
}
