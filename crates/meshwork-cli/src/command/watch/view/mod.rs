//! View of a run at one instant. It can be drawn into a rectangle of any size.

use std::collections::BTreeMap;
use std::ops::Bound;

use meshwork::job::{Piece, Request, Time, WHOLE_SHARE};
use meshwork::observe::JobId;
use meshwork::topology::Node;
use meshwork_lab::text::visible::visible;
use meshwork_lab::watch::{EventKind, Held, NodeUse, RunEvent, Scene};

use super::canvas::{self, Canvas, Rect, Style};
use crate::picture::{Cell, Letters, Map};

/// Width in columns of the lists of waiting and running jobs.
const LISTS: usize = 34;

/// Number of blank columns between two sites, and between the machine and the lists of jobs.
const GAP: usize = 3;

/// Minimum number of lines for the lists of waiting and running jobs.
///
/// With fewer lines, the lists are not drawn.
const MIN_LISTS: usize = 4;

/// Number of lines kept for the lists of jobs if the map of the machine is too high for the page.
const KEPT_LISTS: usize = 8;

/// Height of the page below which the header is a single line.
const LOW: usize = 12;

/// Backgrounds on which a black letter is readable.
///
/// The number of letters is a multiple of the number of backgrounds, so that each letter always has
/// one colour.
const COLOURS: [u8; 26] = [
    203, 114, 75, 221, 177, 80, 216, 150, 111, 229, 211, 72, 180, 209, 157, 117, 227, 219, 87, 223,
    193, 147, 185, 225, 121, 187,
];

/// Number of processors above which a machine too large for the terminal is drawn smaller.
const MANY: usize = 4096;

/// Colour of a free processor in a map that is drawn without letters.
const FREE: u8 = 238;

/// Colour of the processors of jobs that are not chosen, in a map that is drawn without letters.
const OTHER: u8 = 244;

/// Marks for how much of a shared node is held, from an eighth to all of it.
const FILLS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

#[derive(Clone)]
pub(super) struct View {
    title: String,
    scene: Scene,
    letters: Letters,
    letter_of: BTreeMap<JobId, char>,
    latest: String,
    colours: bool,
    /// Number of waiting jobs that are scrolled out of view.
    scrolled: usize,
    /// Columns and rows of the map that are scrolled out of view.
    moved: (usize, usize),
    /// Job whose nodes are highlighted while it runs.
    chosen: Option<JobId>,
    /// Whether a processor may be drawn two columns wide, so that it looks about square.
    pub(super) is_square: bool,
    /// Seconds per unit of the run's clock, if known. Times are then also shown as days and hours.
    pub(super) seconds: Option<f64>,
}

/// Map of one site, with its position on the page.
struct Pane {
    x: usize,
    y: usize,
    site: usize,
    map: Map,
    /// Width of a processor in columns of the terminal.
    wide: usize,
    /// Rows of cells in one line of the terminal: two if half-block characters are used.
    rows: usize,
    /// Number of columns of the map that one terminal cell shows.
    ///
    /// A cell also shows `scale` rows of the map, or `2 * scale` rows if `scale` is above 1 and
    /// `rows` is 1.
    scale: usize,
}

/// Content of one cell of the drawing, which stands for a rectangle of the map.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    Blank,
    Label(char),
    /// Part of the map in which more processors are free than any one job holds.
    Free,
    /// Most nodes of the rectangle are out of service. This is shown only if jobs share nodes.
    Down,
    /// The job that holds the most processors of the rectangle, and at least as many as are free.
    Job(JobId),
}

impl View {
    pub(super) fn new(title: String, scene: Scene, colours: bool) -> View {
        View {
            title,
            scene,
            letters: Letters::default(),
            letter_of: BTreeMap::new(),
            latest: "nothing has happened yet".to_owned(),
            colours,
            scrolled: 0,
            moved: (0, 0),
            chosen: None,
            is_square: false,
            seconds: None,
        }
    }

    pub(super) fn pan(&mut self, columns: isize, rows: isize) {
        let (x, y) = self.moved;
        let (_, (across, down)) = self.panes(usize::MAX / 2, (1, 1));
        self.moved = (
            x.saturating_add_signed(columns).min(across.saturating_sub(1)),
            y.saturating_add_signed(rows).min(down.saturating_sub(1)),
        );
    }

    /// Scrolls the list of waiting jobs by a number of lines: downwards if it is positive.
    pub(super) fn scroll(&mut self, lines: isize) {
        let last = self.scene.waiting().len().saturating_sub(1);
        self.scrolled = self.scrolled.min(last).saturating_add_signed(lines).min(last);
    }

    /// Chooses the next or the previous running job, whose nodes then stand out.
    ///
    /// After the last job, no job is chosen.
    pub(super) fn choose(&mut self, is_next: bool) {
        let running = self.scene.running();
        let found = match self.chosen {
            Some(id) if is_next => running.range((Bound::Excluded(id), Bound::Unbounded)).next(),
            Some(id) => running.range(..id).next_back(),
            None if is_next => running.first_key_value(),
            None => running.last_key_value(),
        };
        self.chosen = found.map(|(&id, _)| id);
    }

    pub(super) fn scroll_like(&mut self, other: &View) {
        (self.scrolled, self.moved, self.chosen) = (other.scrolled, other.moved, other.chosen);
    }

    pub(super) fn scene(&self) -> &Scene {
        &self.scene
    }

    pub(super) fn apply(&mut self, happening: &RunEvent) {
        self.latest = self.sentence(happening);
        match happening.what {
            EventKind::Started { .. } => {
                self.letter_of.insert(happening.id, self.letters.take());
            }
            EventKind::Finished | EventKind::Interrupted => {
                if let Some(letter) = self.letter_of.remove(&happening.id) {
                    self.letters.give_back(letter);
                }
            }
            _ => {}
        }
        self.scene.apply(happening);
    }

    pub(super) fn end(&mut self, end: Time) {
        self.scene.advance(end);
        "the run has ended".clone_into(&mut self.latest);
    }

    /// Advances the clock without an event.
    pub(super) fn wait_until(&mut self, instant: Time) {
        self.scene.advance(instant);
    }

    fn sentence(&self, happening: &RunEvent) -> String {
        let does = match &happening.what {
            EventKind::Down { site, node } => {
                return format!("{} goes out of service", self.place(*site, *node));
            }
            EventKind::Up { site, node } => {
                return format!("{} is in service again", self.place(*site, *node));
            }
            EventKind::Arrived(_) => "arrives".to_owned(),
            EventKind::Refused(_) => "does not fit the machine and is refused".to_owned(),
            EventKind::TurnedAway => "is turned away".to_owned(),
            EventKind::Started { site, placement } => {
                let topology = &self.scene.topologies()[*site];
                let at = placement.blocks.first();
                let at = at.map_or_else(String::new, |block| {
                    let corner = topology.grid().coordinates(block.base);
                    let corner: Vec<String> = corner.iter().map(u32::to_string).collect();
                    format!(" at {}", corner.join(","))
                });
                let several = self.scene.topologies().len() > 1;
                let on = if several { format!(" on site {}", site + 1) } else { String::new() };
                format!("starts{on}{at}")
            }
            EventKind::Moved { placement } => format!("goes on with {}", placement.len()),
            EventKind::Finished => "ends".to_owned(),
            EventKind::Interrupted => "is interrupted and waits again".to_owned(),
        };
        let id = happening.id;
        let job = match &happening.what {
            EventKind::Arrived(job) | EventKind::Refused(job) => Some(job),
            _ => {
                let waiting = self.scene.waiting().get(&id);
                waiting.or_else(|| Some(&self.scene.running().get(&id)?.job))
            }
        };
        match job {
            Some(job) => format!("job {} ({}) {does}", number(id, job.number), job.request),
            None => format!("job {} {does}", id.0 + 1),
        }
    }

    /// Text with the coordinates of a node and, if there are several sites, its site.
    fn place(&self, site: usize, node: Node) -> String {
        let grid = self.scene.topologies()[site].grid();
        let corner: Vec<String> = grid.coordinates(node).iter().map(u32::to_string).collect();
        let several = self.scene.topologies().len() > 1;
        let on = if several { format!(" of site {}", site + 1) } else { String::new() };
        format!("node {}{on}", corner.join(","))
    }

    /// Whether several jobs can share a node of the machine.
    ///
    /// A shared node is drawn in two columns. The first has the letter of the job that holds most
    /// of the node. The second shows how much of the node is held.
    fn is_shared(&self) -> bool {
        self.scene.topologies().iter().any(|site| site.types().is_some())
    }

    /// Number of lines for showing the whole machine and a few jobs at the given width.
    pub(super) fn height(&self, width: usize) -> usize {
        let fits = |scale: &usize| self.panes(width, (1, *scale)).1.0 <= width;
        let scale = self.scales().find(fits).unwrap_or(1);
        let (_, (across, down)) = self.panes(width, (1, scale));
        let beside = width >= across + GAP + LISTS;
        self.header().len() + 1 + if beside { down.max(LOW) } else { down + 1 + LOW }
    }

    /// Draws the view into `area`. Parts that do not fit are left out or cut off.
    pub(super) fn draw(&self, area: Rect, page: &mut Canvas) {
        let (width, height) = (usize::from(area.width), usize::from(area.height));
        let header = self.header();
        let words = if height < LOW { &header[1..2] } else { &header[..] };
        for (y, line) in words.iter().enumerate() {
            let bold = self.style(Style::BOLD);
            let style = if y == 0 { bold } else { Style::PLAIN };
            put(page, area, 0, y, &fitted(line, width), style);
        }
        let top = words.len() + usize::from(height >= LOW);
        // The queue is always visible: if the machine is too high, some lines below it are kept for
        // the queue.
        let kept = |is_beside: bool| {
            if is_beside || height < LOW + KEPT_LISTS { 0 } else { KEPT_LISTS + 1 }
        };
        let seen = |rows: usize, scale: usize| {
            let (panes, (across, down)) = self.panes(width, (rows, scale));
            let is_beside = across + GAP + LISTS <= width;
            let is_whole = across <= width && top + down + kept(is_beside) <= height;
            (panes, (across, down), is_beside, is_whole)
        };
        let mut drawn = seen(1, 1);
        let rows = if self.colours && !self.is_shared() { 2 } else { 1 };
        if !drawn.3 && height >= LOW {
            let smaller = self.scales().map(|scale| seen(rows, scale)).find(|drawn| drawn.3);
            drawn = smaller.unwrap_or_else(|| seen(rows, 1));
        }
        let (panes, (across, down), is_beside, is_whole) = drawn;
        let scale = panes.iter().map(|pane| pane.scale).max().unwrap_or(1);
        // The last line of the page says so if a cell stands for several processors.
        let height = height - usize::from(scale > 1 && is_whole);
        let kept = kept(is_beside);
        // If something is cut off, the last line of the page says so.
        let bottom = if is_whole { height } else { height.saturating_sub(1) };
        let shown = bottom.saturating_sub(top + kept).min(down);
        let machine = Rect { height: (top + shown) as u16, ..area };
        for pane in &panes {
            self.draw_pane(pane, top, machine, page);
        }
        if !is_whole {
            let more = if self.is_square { " · shift and arrows move" } else { "" };
            let note =
                format!("cut off: {} × {shown} of {across} × {down}{more}", across.min(width));
            put(page, area, 0, bottom, &note, self.style(Style::DIM));
        }
        if scale > 1 {
            let closer = if self.is_square { " · shift and arrows look closer" } else { "" };
            let down = if rows == 2 { scale } else { 2 * scale };
            let what = if self.is_shared() { "nodes" } else { "processors" };
            let note = format!("one cell is {scale} × {down} {what}{closer}");
            put(page, area, 0, height, &note, self.style(Style::DIM));
        }
        let body = Rect { height: bottom as u16, ..area };
        let (x, y) = if is_beside { (across + GAP, top) } else { (0, top + shown + 1) };
        for (row, (line, style)) in self.lists(bottom.saturating_sub(y)).iter().enumerate() {
            put(page, body, x, y + row, line, *style);
        }
    }

    fn header(&self) -> Vec<String> {
        let scene = &self.scene;
        let mut counts = format!(
            "time {}{} · {} running, {} waiting, {} finished",
            clock(scene.now()),
            self.seconds.map_or_else(String::new, |unit| days(scene.now().units() * unit)),
            scene.running().len(),
            scene.waiting().len(),
            scene.finished()
        );
        if scene.unserved() > 0 {
            counts.push_str(&format!(", {} refused", scene.unserved()));
        }
        let means = scene.means();
        let share = |now: f64, mean: Option<f64>| {
            let mean =
                mean.map_or_else(String::new, |mean| format!(" (mean {:.0} %)", 100.0 * mean));
            format!("{:.0} %{mean}", 100.0 * now)
        };
        let shares = format!(
            "utilization {} · fragmentation {}",
            share(scene.utilization(), means.map(|(utilization, _)| utilization)),
            share(scene.fragmentation(), means.map(|(_, fragmentation)| fragmentation))
        );
        vec![self.title.clone(), counts, shares, self.latest.clone()]
    }

    /// Position of each site's map, and the total width and height.
    ///
    /// Maps stand side by side if they fit into `width` columns. A line of the terminal shows
    /// `rows` rows of cells. If `scale` is 1, a cell shows one processor. Otherwise, the one or two
    /// cells of a character show `scale` × `2 * scale` processors, because a character is twice as
    /// high as it is wide.
    fn panes(&self, width: usize, (rows, scale): (usize, usize)) -> (Vec<Pane>, (usize, usize)) {
        let mut panes = Vec::new();
        let (mut x, mut y, mut below, mut across) = (0, 0, 0, 0);
        for (site, topology) in self.scene.topologies().iter().enumerate() {
            let is_shared = topology.types().is_some();
            let map = Map::new(topology, if is_shared { width / 2 } else { width });
            let (map_width, map_height) = map.size();
            let map_width = map_width.div_ceil(scale);
            let in_line = if scale > 1 { 2 * scale } else { rows };
            // A processor gets two columns only if there is still room for the lists beside the
            // map.
            let is_roomy = self.is_square && in_line == 1 && 2 * map_width + GAP + LISTS <= width;
            let wide = if is_roomy || is_shared { 2 } else { 1 };
            let map_width = wide * map_width;
            let pane_width = map_width.max(self.heading(site, &[]).chars().count());
            if x > 0 && x + pane_width > width {
                (x, y) = (0, below + 1);
            }
            panes.push(Pane { x, y, site, map, wide, rows, scale });
            below = below.max(y + 1 + map_height.div_ceil(in_line));
            across = across.max(x + pane_width);
            x += pane_width + GAP;
        }
        (panes, (across, below))
    }

    /// Heading above the map of a site. Its length does not depend on which nodes are held.
    ///
    /// If jobs share nodes, `uses` has the use of each node. If `uses` is empty, nothing counts as
    /// held.
    fn heading(&self, site: usize, uses: &[NodeUse]) -> String {
        let topology = &self.scene.topologies()[site];
        let which = if self.scene.topologies().len() > 1 {
            format!("site {}: ", site + 1)
        } else {
            String::new()
        };
        // Pad to a constant width, so that the layout does not change with the number of held
        // nodes.
        if let Some(types) = topology.types() {
            let kinds =
                [(0, "cores", 1), (2, "GPUs", WHOLE_SHARE), (1, "MiB", 1), (3, "of `other`", 1)];
            let totals = types.totals();
            let kinds = kinds.into_iter().filter(|(at, ..)| totals[*at] > 0);
            let words = kinds.map(|(at, name, unit)| {
                let held: u64 = uses.iter().map(|used| used.held[at]).sum();
                let all = totals[at];
                let percent = 100.0 * held as f64 / (all as f64 * f64::from(unit));
                format!("{percent:>3.0} % of {all} {name}")
            });
            return format!("{which}{topology}, {} held", words.collect::<Vec<_>>().join(", "));
        }
        let nodes = topology.grid().nodes();
        let held = nodes - self.scene.free_on(site);
        format!("{which}{topology}, {held:>width$} held", width = nodes.to_string().len())
    }

    fn draw_pane(&self, pane: &Pane, top: usize, area: Rect, page: &mut Canvas) {
        let bold = self.style(Style::BOLD);
        let mut uses = self.scene.node_uses(pane.site);
        let heading = self.heading(pane.site, uses.as_deref().unwrap_or_default());
        put(page, area, pane.x, top + pane.y, &heading, bold);
        let (width, height) = pane.map.size();
        let first = top + pane.y + 1;
        let Pane { wide, rows, scale, .. } = *pane;
        let (passed_x, passed_y) = if scale > 1 { (0, 0) } else { self.moved };
        // Height of a cell in rows of the map.
        let high = if scale > 1 && rows == 1 { 2 * scale } else { scale };
        if let (Some(uses), Some((id, held))) = (&mut uses, self.chosen())
            && held.site == pane.site
        {
            let nodes = held.placement.nodes(self.scene.topologies()[pane.site].grid());
            nodes.iter().for_each(|&node| uses[node as usize].most = Some(id));
        }
        let (columns, lines) = (width.div_ceil(scale) * wide, height.div_ceil(high * rows));
        for y in 0..lines.min(usize::from(area.height).saturating_sub(first)) {
            for x in 0..columns.min(usize::from(area.width).saturating_sub(pane.x)) {
                let corner = |row: usize| (x / wide * scale + passed_x, row * high + passed_y);
                let of = |row: usize| self.seen(pane, corner(row), (scale, high), uses.as_deref());
                let cell = match (rows, &uses) {
                    (_, Some(uses)) if x % wide == 1 => {
                        let fill = View::fill(pane, corner(y), (scale, high), uses);
                        fill.map(|fill| (fill, self.fill_style(of(y))))
                    }
                    (1, _) => self.whole(pane, of(y), x),
                    _ => self.halves(of(2 * y), of(2 * y + 1)),
                };
                let Some((character, style)) = cell else { continue };
                let at = (area.x + (pane.x + x) as u16, area.y + (first + y) as u16);
                page[at] = canvas::Cell { character: Some(character), style };
            }
        }
    }

    /// Scales at which the machine may be drawn, beginning with 1.
    ///
    /// Scale *n* draws *n* columns of the map as one cell. Only scale 1 is possible for a small
    /// machine, and for a map that the user has scrolled.
    fn scales(&self) -> impl Iterator<Item = usize> {
        let nodes = self.scene.topologies().iter().map(|own| own.grid().nodes() as usize);
        let is_large = nodes.sum::<usize>() > MANY && self.moved == (0, 0);
        1..=if is_large { 64 } else { 1 }
    }

    /// Content to draw for a rectangle of a map, given by the rectangle's corner and size.
    ///
    /// If jobs share nodes, the argument `uses` has the use of each node.
    fn seen(
        &self,
        pane: &Pane,
        (x, y): (usize, usize),
        (wide, high): (usize, usize),
        uses: Option<&[NodeUse]>,
    ) -> Seen {
        let mut counts: BTreeMap<Seen, usize> = BTreeMap::new();
        for row in y..y + high {
            for column in x..x + wide {
                match pane.map.cell(column, row) {
                    Cell::Node(node) => {
                        let owner = match uses {
                            Some(uses) => uses[node as usize].most,
                            None => self.scene.owner(pane.site, node),
                        };
                        let is_down = || uses.is_some() && self.scene.is_down(pane.site, node);
                        let free = || if is_down() { Seen::Down } else { Seen::Free };
                        *counts.entry(owner.map_or_else(free, Seen::Job)).or_default() += 1;
                    }
                    Cell::Label(label) => return Seen::Label(label),
                    Cell::Blank => {}
                }
            }
        }
        let most = counts.into_iter().max_by_key(|(_, count)| *count);
        most.map_or(Seen::Blank, |(seen, _)| seen)
    }

    /// Character for the mean share of the nodes in a rectangle that is held; `None` if nothing is
    /// held.
    fn fill(
        pane: &Pane,
        (x, y): (usize, usize),
        (wide, high): (usize, usize),
        uses: &[NodeUse],
    ) -> Option<char> {
        let places = (y..y + high).flat_map(|row| (x..x + wide).map(move |column| (column, row)));
        let shares = places.filter_map(|(column, row)| match pane.map.cell(column, row) {
            Cell::Node(node) => Some(uses[node as usize].share),
            Cell::Label(_) | Cell::Blank => None,
        });
        let (sum, nodes) = shares.fold((0.0, 0), |(sum, nodes), share| (sum + share, nodes + 1));
        let mean = sum / f64::from(nodes.max(1));
        let eighths = if mean < 1.0 { ((8.0 * mean).ceil() as usize).min(7) } else { 8 };
        FILLS.get(eighths.checked_sub(1)?).copied()
    }

    fn whole(&self, pane: &Pane, cell: Seen, x: usize) -> Option<(char, Style)> {
        match cell {
            Seen::Job(id) if self.stands_back(id) => Some(('-', self.style(Style::DIM))),
            Seen::Job(id) => {
                let letter = self.letter(id);
                Some((letter, self.colour(letter)))
            }
            Seen::Free => Some(('.', self.style(Style::DIM))),
            Seen::Down => Some(('x', self.style(Style::DIM))),
            Seen::Label(_) if !x.is_multiple_of(pane.wide) => None,
            Seen::Label(label) => Some((label, self.style(Style::DIM))),
            Seen::Blank => None,
        }
    }

    /// Style of the mark beside a job's letter. It has the colour of the job.
    fn fill_style(&self, cell: Seen) -> Style {
        let foreground = match cell {
            Seen::Job(id) if !self.stands_back(id) => self.colour(self.letter(id)).background,
            _ => None,
        };
        Style { foreground, ..Style::PLAIN }
    }

    /// Half-block character that shows two cells of a map, one above the other, by two colours.
    fn halves(&self, upper: Seen, lower: Seen) -> Option<(char, Style)> {
        let colour = |cell: Seen| match cell {
            Seen::Free => Some(FREE),
            Seen::Job(id) if self.stands_back(id) => Some(OTHER),
            Seen::Job(id) => self.colour(self.letter(id)).background,
            Seen::Down | Seen::Label(_) | Seen::Blank => None,
        };
        if let (Seen::Label(label), _) | (_, Seen::Label(label)) = (upper, lower) {
            return Some((label, self.style(Style::DIM)));
        }
        match (colour(upper), colour(lower)) {
            (None, None) => None,
            (None, foreground) => Some(('▄', Style { foreground, ..Style::PLAIN })),
            (foreground, background) => {
                Some(('▀', Style { foreground, background, ..Style::PLAIN }))
            }
        }
    }

    /// Lines of the lists of jobs: the first waiting jobs, then the first running ones.
    fn lists(&self, lines: usize) -> Vec<(String, Style)> {
        if lines < MIN_LISTS {
            return Vec::new();
        }
        let bold = self.style(Style::BOLD);
        let (waiting, running) = (self.scene.waiting(), self.scene.running());
        let passed = self.scrolled.min(waiting.len().saturating_sub(1));
        let after = if passed > 0 { format!(", behind the first {passed}") } else { String::new() };
        let mut list = vec![(format!("waiting {}{after}", waiting.len()), bold)];
        // If a list does not fit, its last line says so.
        let available = (lines - 3).div_ceil(2).max(lines.saturating_sub(running.len() + 3));
        let left = waiting.len() - passed;
        let shown = if left > available { available.saturating_sub(1) } else { left };
        for (&id, job) in waiting.iter().skip(passed).take(shown) {
            let name = number(id, job.number);
            let line =
                format!("  {name:>6}  {:>8}  since {}", request(&job.request), clock(job.arrival));
            list.push((line, Style::PLAIN));
        }
        if shown < left {
            list.push((format!("  and {} more", left - shown), Style::PLAIN));
        }
        if list.len() + 3 > lines {
            return list;
        }
        list.push((String::new(), Style::PLAIN));
        list.push((format!("running {}", running.len()), bold));
        let available = lines - list.len();
        let shown =
            if running.len() > available { available.saturating_sub(1) } else { running.len() };
        for (&id, held) in running.iter().take(shown) {
            let letter = self.letter(id);
            let name = number(id, held.job.number);
            let asked = request(&held.job.request);
            let line = format!("{letter} {name:>6}  {asked:>8}  since {}", clock(held.since));
            list.push((line, self.colour(letter)));
        }
        if shown < running.len() {
            list.push((format!("  and {} more", running.len() - shown), Style::PLAIN));
        }
        list
    }

    fn chosen(&self) -> Option<(JobId, &Held)> {
        self.chosen.and_then(|id| Some((id, self.scene.running().get(&id)?)))
    }

    /// Whether the user has chosen a running job other than `id`.
    fn stands_back(&self, id: JobId) -> bool {
        self.chosen().is_some_and(|(chosen, _)| chosen != id)
    }

    fn letter(&self, id: JobId) -> char {
        self.letter_of.get(&id).copied().unwrap_or('?')
    }

    fn colour(&self, letter: char) -> Style {
        // Upper-case and lower-case letters have different colours: lower case is shifted by half
        // the palette.
        let place = (letter.to_ascii_uppercase() as usize).saturating_sub(usize::from(b'A'));
        let place = if letter.is_ascii_lowercase() { place + COLOURS.len() / 2 } else { place };
        let colour = COLOURS[place % COLOURS.len()];
        self.style(Style::on(colour))
    }

    /// Returns `style` if colours are on, else the plain style.
    pub(super) fn style(&self, style: Style) -> Style {
        if self.colours { style } else { Style::PLAIN }
    }
}

/// Number of a job in the workload. If it has none, its number in the order of arrival.
fn number(id: JobId, number: u64) -> u64 {
    if number > 0 { number } else { id.0 + 1 }
}

/// Text of a request, cut to the width of its column; amounts of pieces are written in full.
fn request(request: &Request) -> String {
    let Request::Pieces(pieces) = request else { return fitted(&request.to_string(), 8) };
    let amounts = |piece: &Piece| {
        let cells = piece.cells().into_iter().filter(|(name, _)| ["cpu", "gpu"].contains(name));
        let words: Vec<String> = cells.map(|(name, amount)| format!("{amount} {name}")).collect();
        format!("{}x({})", piece.count, words.join(", "))
    };
    pieces.roles.iter().map(amounts).collect::<Vec<_>>().join(" + ")
}

/// Text of a time with at most three decimals, so that every advance of the clock is visible.
fn clock(instant: Time) -> String {
    let units = instant.units();
    if units.fract() == 0.0 { format!("{units}") } else { format!("{units:.3}") }
}

/// Converts seconds to a text such as ` (day 26, 20:36:13)`.
fn days(seconds: f64) -> String {
    let all = seconds.round().max(0.0) as u64;
    let (day, rest) = (all / 86_400, all % 86_400);
    format!(" (day {day}, {:02}:{:02}:{:02})", rest / 3600, rest / 60 % 60, rest % 60)
}

/// Cuts a line to `width` characters. An ellipsis marks the cut.
pub(super) fn fitted(line: &str, width: usize) -> String {
    if line.chars().count() <= width || width == 0 {
        return line.to_owned();
    }
    line.chars().take(width - 1).chain(['…']).collect()
}

/// Writes a text, cut off at the right edge of `area`.
fn put(page: &mut Canvas, area: Rect, x: usize, y: usize, text: &str, style: Style) {
    if x < usize::from(area.width) && y < usize::from(area.height) {
        let available = usize::from(area.width) - x;
        page.write(area.x + x as u16, area.y + y as u16, &visible(text), available, style);
    }
}

#[cfg(test)]
mod tests;
