//! A machine at one instant, whatever allocator gives out its nodes: who holds what until when, and who waits.
//!
//! It is that of a `stored` run, or what `meshwork place` has `saved`. Every question is put to the allocator itself, on copies
//! of the machine on which some jobs have ended or have been moved; `ways` says which are worth a question. [`explain`]
//! says why a job waits, and [`defrag`] what would make room.

pub mod defrag;
pub mod explain;
mod saved;
mod stored;
mod ways;

use meshwork::facility::SiteAhead;
use meshwork::job::{Cause, Job, Request, Time};
use meshwork::machine::Placement;
use meshwork::topology::Wiring;

pub use saved::is_saved;
pub use stored::RunName;

/// A job that holds nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Holder {
    /// What it is called.
    pub name: String,
    /// The job, as it would ask again.
    pub job: Job,
    /// The index of its site.
    pub site: usize,
    /// What it holds there.
    pub placement: Placement,
    /// Since when.
    pub since: Time,
    /// When it ends by its estimate, and not before now; none where nothing is known of it.
    pub until: Option<Time>,
}

/// A job that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiter {
    /// What it is called.
    pub name: String,
    /// The job.
    pub job: Job,
    /// By when it was promised a start, if it was.
    pub promised: Option<Time>,
}

/// A machine at one instant.
pub struct Instant {
    /// Its sites, with what is held.
    pub sites: Vec<SiteAhead>,
    /// Its sites with nothing held.
    pub empty: Vec<SiteAhead>,
    /// The instant.
    pub now: Time,
    /// Who holds nodes.
    pub running: Vec<Holder>,
    /// Who waits, in order of arrival.
    pub waiting: Vec<Waiter>,
    /// What a job waits for that could start; none where nobody decides who comes before it.
    pub held_up: Option<Cause>,
}

impl Instant {
    /// A job that asks for this now; nothing is known of its length.
    #[must_use]
    pub fn job(&self, request: Request) -> Job {
        Job::new(0, self.now, request, 1.0)
    }

    /// Whether it is known of any job that runs when it ends.
    #[must_use]
    pub fn knows_ends(&self) -> bool {
        self.running.iter().any(|holder| holder.until.is_some())
    }

    /// The site as it is without these jobs.
    fn without(&self, site: usize, jobs: &[usize]) -> SiteAhead {
        let mut ahead = self.sites[site].fork();
        let here = jobs.iter().map(|&job| &self.running[job]).filter(|own| own.site == site);
        here.for_each(|holder| ahead.release(&holder.placement));
        ahead
    }

    /// A placement in text; on several sites with the number of its site.
    #[must_use]
    pub fn text(&self, site: usize, placement: &Placement) -> String {
        const MOST: usize = 6;
        let grid = self.sites[site].site().grid();
        let place = if placement.blocks.len() > MOST {
            format!("{} nodes in {} blocks", placement.len(), placement.blocks.len())
        } else {
            placement.text(grid)
        };
        if self.sites.len() > 1 { format!("site {}, {place}", site + 1) } else { place }
    }
}

/// Reads what is to be made room for: `8x8x4`, a number of nodes, or `2^5`, a subcube.
///
/// # Errors
/// One sentence, if it is none of them.
pub fn request(text: &str) -> Result<Request, String> {
    let wrong = || {
        format!("`{text}` is no shape: sides, as 8x8x4, a number of nodes, or a subcube, as 2^5")
    };
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

/// What a job would ask for that holds this, of which nothing else is known.
fn as_held(placement: &Placement, site: &SiteAhead) -> Request {
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
