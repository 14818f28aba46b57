use meshwork::job::Job;
use meshwork::machine::{Block, NodePart, PartAmounts, Parts, Placement};
use meshwork::topology::Topology;
use meshwork::topology::types::{NodeType, NodeTypes};

use super::*;

fn happening(at: f64, id: u64, what: EventKind) -> RunEvent {
    RunEvent { at: Time::new(at), id: JobId(id), what }
}

fn job(number: u64, sides: &[u32]) -> Job {
    let request = Request::block(sides);
    Job::new(number, Time::ZERO, request, 1.0)
}

fn started(base: u32, sides: &[u32]) -> EventKind {
    let block = Block { base, sides: sides.into() };
    EventKind::Started { site: 0, placement: Placement::from(block) }
}

/// Small mesh with two running jobs and a waiting job.
fn view(colours: bool) -> View {
    let scene = Scene::new(vec![Topology::mesh(&[6, 4]).unwrap()]);
    let mut view = View::new("small".to_owned(), scene, colours);
    for happening in [
        happening(0.0, 0, EventKind::Arrived(job(1, &[3, 2]))),
        happening(0.0, 0, started(0, &[3, 2])),
        happening(1.5, 1, EventKind::Arrived(job(2, &[2, 2]))),
        happening(1.5, 1, started(4, &[2, 2])),
        happening(2.0, 2, EventKind::Arrived(job(3, &[6, 4]))),
    ] {
        view.apply(&happening);
    }
    view
}

/// View of a mesh on which one job holds a block from node `base` on.
fn holding(mesh: &[u32], base: u32, held: &[u32], colours: bool) -> View {
    let scene = Scene::new(vec![Topology::mesh(mesh).unwrap()]);
    let mut view = View::new(String::new(), scene, colours);
    view.apply(&happening(0.0, 0, EventKind::Arrived(job(1, held))));
    view.apply(&happening(0.0, 0, started(base, held)));
    view
}

fn drawn(view: &View, width: u16, height: u16) -> Vec<String> {
    let mut page = Canvas::blank(width, height);
    view.draw(page.area, &mut page);
    page.lines()
}

#[test]
fn a_wide_page_has_the_lists_beside_the_machine() {
    assert_eq!(
        drawn(&view(false), 70, 14),
        [
            "small",
            "time 2 · 2 running, 1 waiting, 0 finished",
            "utilization 42 % (mean 29 %) · fragmentation 0 % (mean 0 %)",
            "job 3 (6x4) arrives",
            "",
            "6 × 4 mesh, 10 held   waiting 1",
            "AAA.BB                       3       6x4  since 0",
            "AAA.BB",
            "......                running 2",
            "......                A      1       3x2  since 0",
            "                      B      2       2x2  since 1.500",
            "",
            "",
            "",
        ]
    );
}

#[test]
fn a_narrow_page_has_them_below_and_a_low_one_says_what_is_cut_off() {
    let narrow = drawn(&view(false), 40, 20);
    assert_eq!(narrow[5..9], ["6 × 4 mesh, 10 held", "AAA.BB", "AAA.BB", "......"]);
    assert_eq!(narrow[11..13], ["waiting 1", "       3       6x4  since 0"]);
    assert_eq!(
        drawn(&view(false), 40, 5),
        [
            "time 2 · 2 running, 1 waiting, 0 finish…",
            "6 × 4 mesh, 10 held",
            "AAA.BB",
            "AAA.BB",
            "cut off: 19 × 3 of 19 × 5"
        ]
    );
    assert_eq!(drawn(&view(false), 5, 5)[2], "AAA.B");
}

#[test]
fn a_machine_that_is_too_high_has_two_rows_in_a_line_where_there_are_colours() {
    let high = |colours: bool| holding(&[8, 20], 8, &[8, 1], colours);
    let mut page = Canvas::blank(60, 18);
    let view = high(true);
    view.draw(page.area, &mut page);
    assert!(!page.lines().concat().contains("cut off"), "{:#?}", page.lines());
    let job = view.colour('A').background;
    assert_eq!(page[(0, 6)].character, Some('▀'));
    assert_eq!((page[(0, 6)].style.foreground, page[(0, 6)].style.background), (Some(FREE), job));
    assert_eq!((page[(7, 15)].character, page[(7, 15)].style.background), (Some('▀'), Some(FREE)));
    assert!(
        drawn(&high(false), 60, 18).concat().contains("cut off"),
        "letters need lines of their own"
    );
}

#[test]
fn a_large_machine_is_drawn_smaller_until_it_is_scrolled() {
    let large = |colours: bool| holding(&[320, 320], 0, &[320, 100], colours);
    // Letters stand for twice as many rows as columns, so that the picture keeps its shape.
    let page = drawn(&large(false), 120, 40);
    assert_eq!(page[39], "one cell is 5 × 10 processors");
    let letters = "A".repeat(64);
    assert!(page[6..16].iter().all(|line| line.starts_with(&letters)), "{page:#?}");
    assert!(page[16].starts_with(&".".repeat(64)) && page.concat().contains("waiting 0"));
    let page = drawn(&large(true), 120, 40);
    assert_eq!(page[39], "one cell is 5 × 5 processors");
    assert!(page[6].starts_with(&"▀".repeat(64)) && !page[6].starts_with(&"▀".repeat(65)));
    // In a frame of text, the lists of jobs are below the map, which may take the whole width.
    let view = large(false);
    let page = drawn(&view, 100, view.height(100) as u16);
    assert!(!page.concat().contains("cut off") && page[6].starts_with(&"A".repeat(80)));
    let mut view = large(true);
    view.pan(1, 0);
    assert!(drawn(&view, 120, 40)[39].starts_with("cut off: 120 × "));
}

#[test]
fn a_page_of_any_size_is_drawn() {
    let view = view(true);
    for (width, height) in (0..60).flat_map(|width| (0..24).map(move |height| (width, height))) {
        drawn(&view, width, height);
    }
    let needed = view.height(40);
    assert!(!drawn(&view, 40, needed as u16).concat().contains("cut off"));
}

#[test]
fn the_queue_is_always_seen_and_can_be_scrolled() {
    let mut view =
        View::new(String::new(), Scene::new(vec![Topology::mesh(&[30, 60]).unwrap()]), false);
    for id in 0..40 {
        view.apply(&happening(2.0, id, EventKind::Arrived(job(id + 1, &[30, 60]))));
    }
    let page = drawn(&view, 50, 30);
    assert_eq!(page[5], "30 × 60 mesh,    0 held");
    assert!(page.iter().any(|line| line == "waiting 40"), "{page:#?}");
    assert!(page[29].starts_with("cut off: 30 × 15 of 30 × 61"), "{page:#?}");
    let first = |view: &View| {
        let page = drawn(view, 50, 30);
        let line = page.iter().position(|line| line.starts_with("waiting 40")).unwrap();
        (page[line].clone(), page[line + 1].trim().split(' ').next().unwrap().to_owned())
    };
    view.scroll(3);
    assert_eq!(first(&view), ("waiting 40, behind the first 3".to_owned(), "4".to_owned()));
    view.scroll(-1);
    assert_eq!(first(&view).1, "3");
    view.scroll(1000);
    assert_eq!(first(&view).1, "40", "the last one stays in sight");
    view.scroll(-1000);
    assert_eq!(first(&view), ("waiting 40".to_owned(), "1".to_owned()));
}

#[test]
fn colours_are_one_for_each_letter_or_none() {
    let page = |colours: bool| {
        let mut page = Canvas::blank(70, 14);
        view(colours).draw(page.area, &mut page);
        page
    };
    let coloured = page(true);
    let background = |x, y| coloured[(x, y)].style.background;
    assert_eq!(background(0, 6), background(2, 7), "one job");
    assert_eq!(background(0, 6), background(22, 9), "and its line in the list");
    assert_ne!(background(0, 6), background(4, 6), "another job");
    let plain = page(false);
    let places = (0..14).flat_map(|y| (0..70).map(move |x| (x, y)));
    assert!(places.into_iter().all(|at| plain[at].style == Style::PLAIN));
}

#[test]
fn a_job_that_moves_keeps_its_letter() {
    let mut view = view(false);
    let placement = Placement::from(Block { base: 12, sides: [6, 2].as_slice().into() });
    view.apply(&happening(3.0, 0, EventKind::Moved { placement }));
    let page = drawn(&view, 70, 14);
    assert_eq!(page[3], "job 1 (3x2) goes on with 12");
    assert_eq!(
        page[6..10].iter().map(|line| &line[..6]).collect::<Vec<_>>(),
        ["....BB", "....BB", "AAAAAA", "AAAAAA"]
    );
    view.apply(&happening(4.0, 0, EventKind::Finished));
    view.apply(&happening(4.0, 2, EventKind::TurnedAway));
    view.end(Time::new(5.0));
    let page = drawn(&view, 70, 14);
    assert_eq!(page[1], "time 5 · 1 running, 0 waiting, 1 finished, 1 refused");
    assert_eq!(page[3], "the run has ended");
    assert!(page[8].starts_with("......"));
}

#[test]
fn long_lists_say_how_many_more_there_are() {
    let mut view = view(false);
    for id in 3..40 {
        view.apply(&happening(2.0, id, EventKind::Arrived(job(id + 1, &[6, 4]))));
    }
    let page = drawn(&view, 70, 20);
    assert_eq!(page[5], "6 × 4 mesh, 10 held   waiting 38");
    let more = page.iter().find(|line| line.contains("more")).unwrap();
    let shown = page.iter().filter(|line| line.contains(" 6x4 ")).count();
    assert!(more.ends_with(&format!("and {} more", 38 - shown)), "{page:#?}");
    assert!(page[19].contains("B      2"), "what runs has room too: {page:#?}");
}

/// The view of four shared nodes of eight cores and two GPUs, which two jobs use in part.
fn shared() -> View {
    let (name, islands) = ("a".to_owned(), 1);
    let kind = NodeType { name, cpu: 8, mem: 100, gpu: 2, islands, ..NodeType::default() };
    let part = |node, cores, mem, gpus: &[(u32, u32)]| {
        let amounts = PartAmounts { cores: vec![cores], mem, other: 0, gpus: gpus.to_vec() };
        NodePart::new(node, 1, &amounts, &kind)
    };
    let on = |nodes: Block, parts: Vec<NodePart>, cores| {
        let parts = Some(Box::new(Parts { parts, cores }));
        EventKind::Started { site: 0, placement: Placement { parts, ..nodes.into() } }
    };
    let two = on(
        Block { base: 0, sides: [2].as_slice().into() },
        vec![part(0, 2, 0, &[(0, 1000)]), part(1, 8, 0, &[])],
        10,
    );
    let one =
        on(Block { base: 0, sides: [1].as_slice().into() }, vec![part(0, 1, 70, &[(1, 500)])], 1);
    let types = NodeTypes::new(vec![kind.clone()], vec![0; 4]);
    let topology = Topology::flat(4).unwrap().with_types(types);
    let mut view = View::new("shared".to_owned(), Scene::new(vec![topology]), false);
    for happening in [
        happening(0.0, 0, EventKind::Arrived(job(1, &[1]))),
        happening(0.0, 0, two),
        happening(1.0, 1, EventKind::Arrived(job(2, &[1]))),
        happening(1.0, 1, one),
        happening(2.0, u64::MAX, EventKind::Down { site: 0, node: 3 }),
    ] {
        view.apply(&happening);
    }
    view
}

#[test]
fn a_shared_node_has_the_letter_of_its_largest_job_and_how_much_is_held() {
    // On the first node the first job has half of the GPUs, and the second one 70 % of the memory.
    let page = drawn(&shared(), 140, 14);
    assert_eq!(
        page[5..7],
        [
            "flat machine of 4 processors,  34 % of 32 cores,  19 % of 8 GPUs,  18 % of 400 MiB held   waiting 0",
            "0   B▆A█. x",
        ]
    );
}

#[test]
fn the_nodes_of_the_chosen_job_stand_out() {
    let nodes = |view: &View| drawn(view, 140, 14)[6].clone();
    let mut view = shared();
    view.choose(true);
    assert_eq!(nodes(&view), "0   A▆A█. x");
    view.choose(true);
    assert_eq!(nodes(&view), "0   B▆-█. x");
    view.choose(false);
    assert_eq!(nodes(&view), "0   A▆A█. x");
    view.apply(&happening(3.0, 0, EventKind::Finished));
    assert_eq!(nodes(&view), "0   B▆. . x", "a job that has ended is no longer chosen");
    view.choose(true);
    view.choose(true);
    assert_eq!(nodes(&view), "0   B▆. . x", "after the last job, none is chosen");
}

#[test]
fn a_machine_of_many_shared_nodes_is_drawn_smaller() {
    let types = NodeTypes::new(
        vec![NodeType { cpu: 1, islands: 1, ..NodeType::default() }],
        vec![0; 90_000],
    );
    let topology = Topology::mesh(&[300, 300]).unwrap().with_types(types);
    let view = View::new(String::new(), Scene::new(vec![topology]), true);
    let page = drawn(&view, 120, 40);
    assert_eq!(page[39], "one cell is 6 × 12 nodes");
    assert!(page[6].starts_with(&". ".repeat(50)[..99]), "{page:#?}");
}
