//! `meshwork traffic`: the network alone.

use meshwork::network::traffic::{self, Carried, Offered, TRAFFIC};
use meshwork::network::wormhole::{ClassRule, Lanes, Preset, WormholeConfig};
use meshwork::registry::{Problem, entry};
use meshwork::topology::Topology;
use meshwork_lab::traffic::{Point, sweep};
use serde_json::{Value as Json, json};

use crate::args::Traffic;
use crate::number::align;
use crate::output::{Ended, Output, Stop, Verdict};
use crate::table::{Column, print as print_table};
use meshwork_lab::findings::number::{Rounded, significant};

/// Lets every load through the network and prints what became of it.
pub(crate) fn run(out: &mut Output, arguments: &Traffic) -> Ended {
    let mut loads = offered(arguments)?;
    if !arguments.json {
        // All that the network can carry is what it carries when it is offered all that there can be.
        loads.push(Offered { load: 1.0, ..loads[0].clone() });
    }
    let threads = arguments.threads.unwrap_or(0);
    let bytes = loads[0].memory().map_err(|problem| blame(&problem))?;
    let what = format!("--dims: the network of a {} takes", loads[0].topology);
    arguments.memory.check_at_once(bytes, threads, loads.len() as u64, &what)?;
    let points =
        sweep(&loads, arguments.threads.unwrap_or(0)).map_err(|problem| blame(&problem))?;
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

fn offered(arguments: &Traffic) -> Result<Vec<Offered>, Stop> {
    let topology = topology(arguments)?;
    let about = traffic::FAMILY
        .find("traffic", &arguments.traffic)
        .map_err(|problem| Stop::Wrong(format!("--traffic: {problem}")))?;
    let usual = WormholeConfig::default();
    // A torus needs two classes of channels; elsewhere one channel will do, and is simulated faster.
    let channels = if topology.grid().is_wrapped() { 2 } else { 1 };
    let setting = WormholeConfig {
        preset: match arguments.timing.as_str() {
            "booksim" => Preset::Booksim,
            _ => Preset::Procsimity,
        },
        router_delay: arguments.router_delay.unwrap_or(usual.router_delay),
        packet_length: arguments.packet.unwrap_or(usual.packet_length),
        buffer: arguments.buffer.unwrap_or(usual.buffer),
        virtual_channels: arguments.vcs.unwrap_or(channels),
        class_rule: match arguments.class.as_str() {
            "dateline" => ClassRule::Dateline,
            _ => ClassRule::Static,
        },
        lanes: match arguments.lanes.as_str() {
            "independent" => Lanes::Independent,
            _ => Lanes::Shared,
        },
    };
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

fn topology(arguments: &Traffic) -> Result<Topology, Stop> {
    let dims = &arguments.dims;
    let refused = |sentence: &dyn std::fmt::Display| Stop::Wrong(format!("--dims: {sentence}"));
    let made = match (arguments.topology.as_str(), dims.as_slice()) {
        ("mesh", _) => Topology::mesh(dims),
        ("torus", _) => Topology::torus(dims),
        (_, &[dimension]) => Topology::hypercube(dimension),
        (_, sides) if sides.iter().all(|&side| side == 2) => {
            Topology::hypercube(sides.len() as u32)
        }
        _ => return Err(refused(&"a hypercube has one number, its dimension, such as --dims 6")),
    };
    made.map_err(|error| refused(&error))
}

/// A problem as a sentence that begins with the argument that is to blame.
fn blame(problem: &Problem) -> Stop {
    let argument = match problem.path.as_str() {
        "packet_length" => "--packet",
        "buffer" => "--buffer",
        "virtual_channels" => "--vcs",
        "router_delay" => "--router-delay",
        "lanes" => "--lanes",
        "load" => "--loads",
        "traffic" => "--traffic",
        // The threads, or a network that has stopped.
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

fn print(out: &mut Output, loads: &[f64], points: &[Point]) -> Result<(), Stop> {
    let column = |header: &str, of: &dyn Fn(&Point) -> Option<f64>| {
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
