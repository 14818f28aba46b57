//! Tests of jobs that send messages, in the three networks that simulate messages.
//!
//! Known properties of these networks are checked.

use std::collections::BTreeSet;

use crate::common::{
    job, machines, random_jobs, refusal, run, scenario, submissions, value, watched,
};
use meshwork::alloc::ALLOCATORS;
use meshwork::job::{Job, Request, Time};
use meshwork::machine::{Block, Placement};
use meshwork::network::pattern::PATTERNS;
use meshwork::network::{NETWORKS, RunKey, Work};
use meshwork::observe::{Event, JobId, Messages};
use meshwork::rng::Stream;
use meshwork::scenario::{Outcome, Scenario};
use meshwork::topology::Wiring;

const SENDING: [&str; 3] = ["hops", "link_load", "wormhole"];

fn alone(machine: &str, network: &str, allocator: &str, seed: u64, processors: u32) -> Outcome {
    let text = format!(
        "seed = {seed}\nmachine = {{ {machine} }}\nnetwork = {{ {network} }}\nallocator = '{allocator}'"
    );
    run(&scenario(&text), vec![job(0.0, Request::Nodes(processors), 1.0)]).0
}

/// Service time in cycles, which must be a whole number.
fn service(outcome: &Outcome) -> u64 {
    let cycles = value(outcome, "service").unwrap();
    assert!(cycles.fract().abs() < 1e-9, "{cycles}");
    cycles as u64
}

const CUBE: &str = "topology = 'torus', dims = [8, 8, 8]";

/// Compares the run time of a job with the time that another program found for the same model.
///
/// The job sends 511 packets, each after the delivery of the one before. The times of the packets,
/// and one cycle between consecutive packets, sum to 18,419 cycles.
#[test]
fn one_to_all_on_the_whole_torus_takes_what_the_model_says() {
    for buffer in [2, 8] {
        let network = format!(
            "name = 'wormhole', pattern = 'one_to_all', send = 'delivered', buffer = {buffer}"
        );
        assert_eq!(service(&alone(CUBE, &network, "naive", 1, 512)), 18_419);
    }
    // Packets are sent one after the other. Each takes the time until it has left its node, which
    // is 11 cycles if whole packets fit into buffers. The last packet takes the time until its
    // arrival. The numbers hold for a root that is 3 links from its last destination, as with this
    // seed. For another root, the path of the last packet differs.
    for (buffer, cycles) in [(2, 10_133), (8, 5_633)] {
        let network = format!("name = 'wormhole', pattern = 'one_to_all', buffer = {buffer}");
        assert_eq!(service(&alone(CUBE, &network, "naive", 20, 512)), cycles);
    }
    let network = "name = 'wormhole', pattern = 'one_to_all', buffer = 8";
    for seed in 1..6 {
        let service = service(&alone(CUBE, network, "naive", seed, 512));
        let last = service - 510 * 11 - 11;
        assert!((4..=48).contains(&last) && last.is_multiple_of(4), "{service}");
    }
}

/// Run times must agree within 3 %, because the other program draws other random numbers.
///
/// Random numbers decide the order of packets that arrive in one cycle. They also decide in which
/// direction a packet goes to a node half way around a ring.
#[test]
fn all_to_all_on_the_whole_torus_takes_about_what_it_did_elsewhere() {
    for (send, cycles) in [("injected", 35_691.0), ("delivered", 40_572.0)] {
        let network = format!("name = 'wormhole', destinations = 'rotate', send = '{send}'");
        let took = service(&alone(CUBE, &network, "naive", 1, 512)) as f64;
        assert!((took / cycles - 1.0).abs() < 0.03, "{send}: {took} for {cycles}");
    }
}

/// Packets of one sender follow each other, and never wait for one another in buffers of two flits.
#[test]
fn one_job_that_sends_one_to_all_takes_the_same_in_every_network() {
    let mut distinct = BTreeSet::new();
    for machine in
        [CUBE, "topology = 'mesh', dims = [9, 7]", "topology = 'hypercube', dimension = 6"]
    {
        let topology = scenario(&format!("machine = {{ {machine} }}")).topologies().remove(0);
        for entry in ALLOCATORS.iter().filter(|entry| entry.works_on(&topology)) {
            for (send, buffer) in ["injected", "delivered"]
                .into_iter()
                .flat_map(|send| [1, 2, 3, 8].map(|b| (send, b)))
            {
                for seed in 1..4 {
                    let processors = 3 + 13 * seed as u32;
                    let processors = if machine == CUBE { 2 * processors } else { processors };
                    let took = SENDING.map(|name| {
                        let network = format!(
                            "name = '{name}', pattern = 'one_to_all', send = '{send}', buffer = {buffer}, \
                             destinations = 'shuffle'"
                        );
                        let outcome = alone(machine, &network, entry.about.name, seed, processors);
                        (outcome.finished == 1).then(|| service(&outcome))
                    });
                    let place = format!("{machine} {} {send} {buffer} {seed}", entry.about.name);
                    let [Some(hops), Some(link_load), Some(wormhole)] = took else {
                        assert_eq!(took, [None; 3], "{place}: refused, as it has no such block");
                        continue;
                    };
                    distinct.insert(hops);
                    assert_eq!(hops, link_load, "{place}");
                    if buffer > 1 {
                        assert_eq!(hops, wormhole, "{place}");
                    } else {
                        // At half the rate a head may catch up with the tail before it.
                        assert!(wormhole.abs_diff(hops) <= hops / 100, "{place}: {took:?}");
                    }
                }
            }
        }
    }
    assert!(distinct.len() > 100, "placements differ: {}", distinct.len());
}

/// Ends of jobs that start at time 0 on the given blocks, in order.
fn ends(text: &str, jobs: impl IntoIterator<Item = Vec<Block>>) -> Vec<f64> {
    let mut network = scenario(text).setup(0).unwrap().network;
    for (slot, blocks) in jobs.into_iter().enumerate() {
        let at = Placement { blocks: blocks.into_iter().collect(), parts: None };
        let key = RunKey { id: JobId(slot as u64), slot: slot as u32 };
        network.start(Time::ZERO, key, Work { left: 1.0, rate: 1.0 }, 0, &at).unwrap();
    }
    let mut ends = Vec::new();
    while let Some((at, key)) = network.next_finish(None).unwrap() {
        network.finish(at, key);
        ends.push(at.units());
    }
    ends
}

/// Each job has two columns of a mesh: adjacent ones, or columns that alternate with the other
/// job's.
#[test]
fn jobs_slow_each_other_where_their_messages_share_links() {
    let service = |name: &str, columns: [&[u32]; 2]| {
        let text = format!(
            "machine = {{ topology = 'mesh', dims = [8, 2] }}
             network = {{ name = '{name}', iterations = 10, packet_length = 16 }}"
        );
        let column = |&x: &u32| Block { base: x, sides: [1, 2].as_slice().into() };
        let ends = ends(&text, columns.map(|columns| columns.iter().map(column).collect()));
        ends.into_iter().fold(0.0, f64::max)
    };
    for (name, is_slowed) in [("hops", false), ("link_load", true), ("wormhole", true)] {
        let apart = service(name, [&[0, 1, 2, 3], &[4, 5, 6, 7]]);
        let mixed = service(name, [&[0, 2, 4, 6], &[1, 3, 5, 7]]);
        let mixed_alone = service(name, [&[0, 2, 4, 6], &[]]);
        assert!(apart <= mixed, "{name}: {apart} {mixed}");
        assert_eq!(mixed_alone < mixed, is_slowed, "{name}: {mixed_alone} {mixed}");
    }
}

/// Two jobs share a link and send over it all the time.
///
/// So each job takes as many cycles as the two jobs together have flits.
#[test]
fn a_shared_link_carries_one_flit_in_a_cycle_and_no_more() {
    let (messages, flits) = (100, 64);
    let ends = |name: &str, far: &[u32]| -> Vec<f64> {
        let text = format!(
            "machine = {{ topology = 'mesh', dims = [4] }}
             network = {{ name = '{name}', pattern = 'ring', iterations = {messages},
                          packet_length = {flits}, buffer = 8 }}"
        );
        let one = |base| Block { base, sides: [1].as_slice().into() };
        ends(&text, far.iter().map(|&x| vec![one(x), one(x + 2)]))
    };
    let both = f64::from(2 * messages * flits);
    let shared = ends("link_load", &[0, 1]);
    assert_eq!(shared.len(), 2);
    assert!(shared.iter().all(|end| (end - both).abs() < 1e-6), "{shared:?}");
    let alone = ends("link_load", &[0]);
    assert_eq!(alone, ends("hops", &[0]), "alone nobody is slowed");
    assert_eq!(ends("hops", &[0, 1]), [alone[0], alone[0]]);
    // The flit-level network holds the link from the grant of a virtual channel until the tail has
    // passed, and cannot be faster.
    let wormhole = ends("wormhole", &[0, 1]);
    assert!(wormhole[1] >= both && wormhole[1] < 1.1 * both, "{wormhole:?}");
}

/// Metrics of packets are consistent, and the number of packets does not depend on the network.
#[test]
fn every_network_runs_every_pattern() {
    let mut runs = 0;
    for (machine, topology) in machines() {
        if topology.wiring() == Wiring::Flat {
            continue;
        }
        for pattern in PATTERNS {
            let mut packets = Vec::new();
            for network in SENDING {
                for allocator in ["naive", "first_fit"] {
                    for more in [
                        "",
                        ", send = 'delivered', think_time = 7",
                        ", num_messages = 9, iterations = 2",
                    ] {
                        let name = pattern.about.name;
                        let text = format!(
                            "machine = {{ {machine} }}\nallocator = '{allocator}'
                             network = {{ name = '{network}', pattern = '{name}'{more} }}"
                        );
                        let mut jobs = random_jobs(&topology, 12, 3.0, 1);
                        // Powers of two suit all patterns, and a block of 1 × … × 4 exists
                        // everywhere.
                        for (i, job) in jobs.iter_mut().enumerate() {
                            job.request = Request::Nodes(if i % 3 == 0 { 1 } else { 4 });
                        }
                        let (outcome, count) = counted(&scenario(&text), jobs);
                        assert_eq!(outcome.finished, 12, "{text}");
                        let held = allocator == "naive";
                        if held && more.is_empty() {
                            packets.push(count.packets);
                        }
                        let hops = value(&outcome, "hops");
                        assert!(hops.unwrap() >= 1.0, "{text}");
                        let latency = value(&outcome, "packet_latency").unwrap();
                        assert!(latency >= value(&outcome, "network_latency").unwrap());
                        assert!(value(&outcome, "blocking_time").unwrap() >= 0.0);
                        assert!(value(&outcome, "link_utilization").unwrap() <= 1.0);
                        runs += 1;
                    }
                }
            }
            assert!(packets.windows(2).all(|pair| pair[0] == pair[1]), "{packets:?}");
        }
    }
    assert!(runs > 1000, "{runs}");
}

fn counted(scenario: &Scenario, jobs: Vec<Job>) -> (Outcome, Messages) {
    let mut count = Messages::default();
    let outcome = watched(scenario, jobs, |_, event| {
        if let Event::Finished(running) = event {
            let messages = running.messages();
            count.packets += messages.packets;
            count.hops += messages.hops;
        }
    });
    (outcome, count)
}

#[test]
fn a_job_without_messages_ends_as_it_starts() {
    for network in SENDING {
        let network = format!("name = '{network}'");
        let outcome = alone("topology = 'mesh', dims = [4, 4]", &network, "naive", 1, 1);
        assert_eq!(service(&outcome), 0);
        assert_eq!(value(&outcome, "packet_latency"), None);
    }
}

/// A job that starts between two cycles begins to send messages in the next cycle.
///
/// So a network is never simulated beyond the next arrival.
#[test]
fn a_start_between_two_cycles_waits_for_the_next_one() {
    let text = "machine = { topology = 'mesh', dims = [8, 1] }\nallocator = 'naive'
                network = { name = 'wormhole', pattern = 'ring' }";
    let at = |arrival| job(arrival, Request::Nodes(2), 1.0);
    let (_, transcript) = run(&scenario(text), vec![at(0.5), at(3.0), at(10.25), at(10.25)]);
    let ends: Vec<&str> =
        transcript.lines().filter_map(|line| line.split_once(" finished").map(|l| l.0)).collect();
    // Two neighbours send each other a packet, which takes 4 · 1 + 11 cycles.
    assert_eq!(ends, ["16", "18", "26", "26"]);
}

/// One sender has one packet in flight at a time, which takes 4 D + 11 cycles over D links.
#[test]
fn messages_are_counted_and_timed_by_hand() {
    let took = |more: &str, pattern: &str| {
        let network = format!("name = 'wormhole', pattern = '{pattern}', buffer = 8, {more}");
        service(&alone("topology = 'mesh', dims = [2]", &network, "naive", 1, 2))
    };
    assert_eq!(took("iterations = 1", "one_to_all"), 15);
    assert_eq!(took("iterations = 3", "one_to_all"), 22 + 15);
    assert_eq!(took("num_messages = 3", "one_to_all"), 22 + 15);
    assert_eq!(took("num_messages = 3, iterations = 2", "one_to_all"), 55 + 15);
    assert_eq!(took("iterations = 3, think_time = 5", "one_to_all"), 32 + 15);
    assert_eq!(took("iterations = 3, send = 'delivered'", "one_to_all"), 32 + 15);
    assert_eq!(took("iterations = 3, send = 'delivered', think_time = 5", "one_to_all"), 42 + 15);
    assert_eq!(took("num_messages = 1", "random"), 15);
    // Two processes send 3 messages in total, 2 of them by the first process.
    assert_eq!(took("num_messages = 3", "ring"), 11 + 15);
}

#[test]
fn exponential_quotas_have_their_mean() {
    let text = "machine = { topology = 'mesh', dims = [4, 4] }\nallocator = 'naive'
                network = { name = 'hops', pattern = 'ring', num_messages = 20, quota = 'exponential' }";
    let mut rng = Stream::new(1, 0, "sizes");
    let jobs = (0..2_000)
        .map(|i| job(f64::from(i) * 1e4, Request::Nodes(2 + rng.below(6) as u32), 1.0))
        .collect();
    let (_, count) = counted(&scenario(text), jobs);
    let mean = count.packets as f64 / 2_000.0;
    // Rounding up adds 0.5 to the mean of 20. The standard error is 0.45.
    assert!((mean - 20.5).abs() < 1.5, "{mean}");
}

/// A moved or resized job sends later messages from its new nodes, and every message arrives.
#[test]
fn jobs_that_are_moved_lose_no_message() {
    for network in SENDING {
        let runs = |scheduler: &str| {
            let text = format!(
                "machine = {{ topology = 'hypercube', dimension = 4 }}\nallocator = 'buddy'
                 scheduler = '{scheduler}'\nnetwork = {{ name = '{network}' }}"
            );
            let cubes = [3, 2, 4, 1, 3, 2, 3, 0, 4, 2];
            let jobs = cubes
                .iter()
                .enumerate()
                .map(|(i, &k)| job(20.0 * i as f64, Request::Subcube(k), 100.0))
                .collect();
            counted(&scenario(&text), jobs)
        };
        let (_, still) = runs("fcfs");
        let messages = |k: u32| u64::from((1_u32 << k) * ((1 << k) - 1));
        let expected: u64 = [3, 2, 4, 1, 3, 2, 3, 0, 4, 2].into_iter().map(messages).sum();
        assert_eq!(still.packets, expected, "{network}");
        for scheduler in meshwork::sched::SCHEDULERS.iter().filter(|s| s.about.name == "folding") {
            assert_eq!(runs(scheduler.about.name).0.finished, 10, "{network}");
        }
    }
}

#[test]
fn what_a_network_cannot_run_is_refused_in_a_sentence() {
    let torus = "machine = { topology = 'torus', dims = [4, 4] }\n";
    for (text, sentence) in [
        (
            format!("{torus}network = {{ name = 'wormhole', virtual_channels = 1 }}"),
            "a torus with 1 virtual channel can deadlock, since packets on a ring can wait for each other in a \
             circle: give an even number of virtual channels, 2 or more",
        ),
        (
            format!("{torus}network = {{ name = 'wormhole', packet_length = 0 }}"),
            "`network.packet_length` is 0, but must be a whole number from 1 to 65536",
        ),
        (
            format!("{torus}network = {{ name = 'hops', buffer = 0 }}"),
            "`network.buffer` is 0, but must be a whole number from 1 to 65536",
        ),
        (
            "machine = { topology = 'flat', processors = 8 }\nnetwork = 'link_load'".to_owned(),
            "messages need links between processors, and the machine is a flat machine of 8 processors: a mesh, \
             torus or hypercube has them",
        ),
        (
            "machine = { sites = [{ topology = 'mesh', dims = [4] }, { topology = 'mesh', dims = [5] }] }
             network = 'wormhole'"
                .to_owned(),
            "the network `wormhole` simulates the links of one site, and the machine has 2",
        ),
    ] {
        assert_eq!(refusal(&text), sentence);
    }
}

/// The pattern `fft` needs a power of two.
///
/// Sizes that a study draws are known when the study is read, sizes in logs only when their jobs
/// start.
#[test]
fn a_butterfly_of_other_counts_is_refused_as_soon_as_they_are_known() {
    let sentence =
        "the pattern `fft` needs a number of processors that is a power of two, and a job has ";
    let read = |machine: &str, allocator: &str, workload: &str| {
        let text = format!(
            "machine = {{ {machine} }}\nallocator = '{allocator}'\nmeasure = {{ jobs = 9 }}
             network = {{ name = 'hops', pattern = 'fft' }}
             workload = {{ name = 'synthetic', load = 0.1, runtimes = {{ name = 'constant', value = 1.0 }}, {workload} }}"
        );
        Scenario::read(&text.parse().unwrap()).map(|_| ()).map_err(|problem| {
            assert_eq!(problem.path, "network.pattern");
            problem.message.strip_prefix(sentence).unwrap().to_owned()
        })
    };
    let (mesh, cube) =
        ("topology = 'mesh', dims = [16, 16]", "topology = 'hypercube', dimension = 6");
    let count = |more: &str| format!("sizes = {{ form = 'count', {more} }}");
    let refused = |has: &str| Err(has.to_owned());
    let all = count("name = 'uniform'");
    assert_eq!(read(mesh, "naive", &all), refused("3"));
    assert_eq!(read(cube, "noncubic", &all), refused("3"));
    assert_eq!(read(cube, "buddy", &all), Ok(()), "counts are rounded up to subcubes");
    assert_eq!(read(mesh, "buddy_2d", &all), Ok(()), "and to squares");
    assert_eq!(read(mesh, "first_fit", "sizes = 'uniform'"), refused("3"));
    assert_eq!(read(cube, "first_fit", "sizes = 'uniform'"), Ok(()));
    let powers = "name = 'discrete', min = 1, probabilities = [0.5, 0.25, 0, 0.25]";
    assert_eq!(read(mesh, "naive", &count(powers)), Ok(()));
    // 128 processors in the squarest block are 16 x 8, and 129 are 13 x 10.
    let large = count("name = 'constant', value = 128");
    assert_eq!(read(mesh, "naive", &large), Ok(()));
    assert_eq!(read(mesh, "first_fit", &large), Ok(()));
    let odd = count("name = 'constant', value = 129");
    assert_eq!(read(mesh, "naive", &odd), refused("129"));
    assert_eq!(read(mesh, "first_fit", &odd), refused("130"));
    assert_eq!(read(mesh, "first_fit", &format!("{large}, shape = 'exact'")), Ok(()));
    assert_eq!(
        read(mesh, "naive", &format!("{all}, split_above = 0.5")),
        Ok(()),
        "parts are not known"
    );
    for network in SENDING {
        let text = format!(
            "machine = {{ topology = 'mesh', dims = [4, 4] }}\nallocator = 'naive'
             network = {{ name = '{network}', pattern = 'fft' }}"
        );
        let scenario = scenario(&text);
        let jobs = submissions(vec![job(0.0, Request::Nodes(6), 1.0)]);
        let error = scenario.run_on(scenario.setup(0).unwrap(), jobs, &mut ()).unwrap_err();
        assert_eq!(error.to_string(), format!("{sentence}6"));
    }
}

#[test]
fn networks_say_whether_jobs_send_messages() {
    for entry in NETWORKS {
        assert_eq!(entry.sends, SENDING.contains(&entry.about.name));
    }
}
