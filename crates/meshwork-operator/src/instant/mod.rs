//! State of a machine with any allocator at one instant: running jobs with their ends, and queue.
//!
//! `stored` reads the state from a stored run, and `saved` from a saved state of `meshwork place`.
//! All results come from the allocator itself. It is queried on copies of the machine on which jobs
//! have ended or moved. `ways` selects the sets of jobs for which a copy is worth a query.
//! [`explain`] finds why a job waits, and [`defrag`] finds moves that would let it start.

pub mod defrag;
pub mod explain;
mod saved;
mod stored;
mod ways;

use meshwork::facility::SiteAhead;
use meshwork::job::{Cause, Job, Request, Time, WHOLE_SHARE};
use meshwork::machine::Placement;
use meshwork::topology::Wiring;
use meshwork::workload::table;

use meshwork_lab::text::number::plural;

pub use saved::is_saved;
pub use stored::RunName;

#[derive(Clone, Debug, PartialEq)]
pub struct PlacedJob {
    pub name: String,
    pub job: Job,
    pub site: usize,
    pub placement: Placement,
    pub since: Time,
    /// Estimated end of the job, which is never before the instant of the state; `None` if unknown.
    pub until: Option<Time>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WaitingJob {
    pub name: String,
    pub job: Job,
    pub promised: Option<Time>,
}

pub struct Instant {
    pub sites: Vec<SiteAhead>,
    pub empty: Vec<SiteAhead>,
    pub now: Time,
    pub running: Vec<PlacedJob>,
    pub waiting: Vec<WaitingJob>,
    /// Reason why jobs wait although they could start; `None` if the state has no scheduler.
    pub held_up: Option<Cause>,
}

impl Instant {
    /// Job with the given request and an unknown run time, submitted at the examined instant.
    pub fn job(&self, request: Request) -> Job {
        Job::new(0, self.now, request, 1.0)
    }

    pub fn knows_ends(&self) -> bool {
        self.running.iter().any(|holder| holder.until.is_some())
    }

    /// Copy of a site on which the jobs in `jobs` have ended.
    fn without(&self, site: usize, jobs: &[usize]) -> SiteAhead {
        let mut ahead = self.sites[site].fork();
        let here = jobs.iter().map(|&job| &self.running[job]).filter(|own| own.site == site);
        here.for_each(|holder| ahead.release(&holder.placement));
        ahead
    }

    /// Text of a placement, with the number of its site if there are several sites.
    pub fn text(&self, site: usize, placement: &Placement) -> String {
        const MOST: usize = 6;
        let grid = self.sites[site].site().grid();
        let mut place = if placement.blocks.len() > MOST {
            format!("{} nodes in {} blocks", placement.node_count(), placement.blocks.len())
        } else {
            placement.text(grid)
        };
        if let Some(parts) = self.parts_text(site, placement) {
            place = format!("{parts} of {place}");
        }
        if self.sites.len() > 1 { format!("site {}, {place}", site + 1) } else { place }
    }
}

impl Instant {
    /// Cores, memory and GPUs of a placement; `None` if it holds whole nodes.
    fn parts_text(&self, site: usize, placement: &Placement) -> Option<String> {
        let types = self.sites[site].site().topology().types()?;
        let parts = placement.parts.as_ref()?;
        let (mut mem, mut shares) = (0_u64, 0_u64);
        for part in &parts.parts {
            mem += u64::from(part.amounts(types.of(part.node)).mem);
            shares += types.of(part.node).gpu_shares(&part.cells);
        }
        let mut words = vec![plural(parts.cores.into(), "core")];
        words.extend((mem > 0).then(|| format!("{mem} MiB")));
        let gpus = shares as f64 / f64::from(WHOLE_SHARE);
        let unit = if shares == u64::from(WHOLE_SHARE) { "GPU" } else { "GPUs" };
        words.extend((shares > 0).then(|| format!("{gpus} {unit}")));
        Some(words.join(", "))
    }
}

/// Parses a request: sides as in `8x8x4`, a number of nodes, a subcube as in `2^5`, or pieces.
///
/// Pieces are equal parts of nodes. They are written as in a table of jobs: `pieces=4 gpu=1`.
pub fn request(text: &str) -> Result<Request, String> {
    let wrong = || {
        format!(
            "`{text}` is no shape: sides, as 8x8x4, a number of nodes, a subcube, as 2^5, or pieces, as \
             \"pieces=4 gpu=1\""
        )
    };
    if text.contains('=') {
        return table::pieces_in_words(text).map_err(|says| format!("`{text}`: {says}"));
    }
    if let Some(dimension) = text.strip_prefix("2^") {
        let dimension = dimension.parse().ok().filter(|&dimension: &u32| dimension < 32);
        return dimension.map(Request::Subcube).ok_or_else(wrong);
    }
    let sides: Result<Vec<u32>, _> = text.split('x').map(str::parse::<u32>).collect();
    let sides = sides.map_err(|_| wrong())?;
    let nodes = sides.iter().try_fold(1_u32, |nodes, &side| nodes.checked_mul(side));
    if nodes.is_none_or(|nodes| nodes == 0) {
        return Err(wrong());
    }
    Ok(if let [nodes] = sides[..] { Request::Nodes(nodes) } else { Request::block(&sides) })
}

/// Request that matches a placement. It is needed because saved states contain no requests.
fn as_held(placement: &Placement, site: &SiteAhead) -> Request {
    if let (Some(types), Some(parts)) = (site.site().topology().types(), &placement.parts) {
        return Request::pieces(parts.as_pieces(types));
    }
    match (&placement.blocks[..], site.site().topology().wiring()) {
        ([block], Wiring::Mesh | Wiring::Torus) => Request::Block(block.sides.clone()),
        _ => Request::Nodes(placement.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_sides_a_number_or_a_subcube() {
        assert_eq!(request("8x8x4"), Ok(Request::block(&[8, 8, 4])));
        assert_eq!(request("12"), Ok(Request::Nodes(12)));
        assert_eq!(request("2^5"), Ok(Request::Subcube(5)));
        for wrong in ["", "0", "4x0", "4x", "x4", "2^", "2^99", "65536x65536", "-1", "3.5"] {
            assert!(request(wrong).unwrap_err().starts_with(&format!("`{wrong}` is no shape")));
        }
    }
}
