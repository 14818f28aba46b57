//! Builds topologies of three-dimensional tori, with their regions and placements.

use meshwork::alloc::listed::anchors::{self, Anchors, Shape};
use meshwork::alloc::listed::criteria::Criterion;
use meshwork::geometry::NodeSet;
use meshwork::topology::{MAX_NODES, Node};

use super::{Builder, NamedNodes, Structure};
use crate::finding::Fatal;
use crate::topology::{ListedPlacement, Region, SlurmTopology, SlurmTorus, by};
use meshwork::job::hostlist::names;

impl Builder<'_> {
    pub(super) fn toruses(
        &mut self,
        topology: &SlurmTopology,
        toruses: &[SlurmTorus],
    ) -> Result<Structure, Fatal> {
        if toruses.is_empty() {
            let slurm = "fatal: No torus3d configurations found";
            return self.fatal(topology.line, "this topology lists no toruses", &[slurm]);
        }
        let (mut named, mut built): (Vec<NamedNodes>, Vec<anchors::Torus>) =
            (Vec::new(), Vec::new());
        for torus in toruses {
            let name = torus.name.clone().filter(|name| !name.is_empty());
            let shown = name.as_deref().unwrap_or("(null)");
            let refused = format!("fatal: Torus3d ({shown}) has invalid configuration");
            let Some(name) = name.clone() else {
                let first = "error: Torus3d configuration missing name";
                return self.fatal(torus.line, "this torus has no name", &[first, &refused]);
            };
            let cells = self.cells(torus, &name, &refused)?;
            let mut nodes = NodeSet::empty(self.hosts.count());
            for node in cells.iter().copied().flatten() {
                if nodes.contains(node) {
                    let host = self.hosts.name(node);
                    let says = format!(
                        "the torus {name} has the node {host} twice: boxes with both of its cells are never given"
                    );
                    self.findings.warn(torus.line, says);
                }
                nodes.insert(node);
            }
            if let Some(other) = named.iter().find(|other| other.name == name) {
                let says = format!("a torus is named {name} here and in line {}", other.line);
                let slurm = format!("fatal: Torus3d ({name}) has already been defined");
                return self.fatal(torus.line, says, &[&slurm]);
            }
            if let Some(other) = named.iter().find(|other| other.nodes.meets(&nodes)) {
                let mut shared = other.nodes.clone();
                shared.intersect(&nodes);
                let listed = self.hosts.listed(&shared);
                let says = format!("the toruses {} and {name} both have {listed}", other.name);
                let slurm = format!("fatal: Torus3d ({name}) and ({}) share nodes", other.name);
                return self.fatal(torus.line, says, &[&slurm]);
            }
            let shapes = self.shapes(torus, &refused)?;
            let Ok(whole) = anchors::Torus::new(torus.dims, cells, &shapes) else {
                return self.too_large(torus);
            };
            named.push(NamedNodes { name, line: torus.line, nodes });
            built.push(whole);
        }
        self.warn_of_unknown(topology, "torus3d");
        let anchors = Anchors::new(self.hosts.count(), built, &Criterion::SLURM);
        Ok(Structure::Torus3d(anchors, named))
    }

    fn too_large<T>(&mut self, torus: &SlurmTorus) -> Result<T, Fatal> {
        let says = format!(
            "a torus of {} has more than {MAX_NODES} cells, the most that a machine has here",
            by(torus.dims)
        );
        self.fatal(torus.line, says, &[])
    }

    /// Node at each position of a torus, if there is one. The coordinate x runs fastest.
    fn cells(
        &mut self,
        torus: &SlurmTorus,
        name: &str,
        refused: &str,
    ) -> Result<Vec<Option<Node>>, Fatal> {
        let dims = torus.dims;
        if torus.nodes.is_some() && !torus.regions.is_empty() {
            let says = format!("the torus {name} has nodes and regions, but may have one of them");
            let first = "error: Torus3d configuration cannot specify both nodes and regions";
            return self.fatal(torus.line, says, &[first, refused]);
        }
        if dims.contains(&0) {
            let says =
                format!("the torus {name} has the sides {}, but each is at least 1", by(dims));
            let first = "error: Torus3d configuration requires non-zero x,y,z";
            return self.fatal(torus.line, says, &[first, refused]);
        }
        let count: u64 = dims.iter().copied().map(u64::from).product();
        if let Some(list) = &torus.nodes {
            let names = names(&list.text).or_else(|says| {
                let first = "error: hostlist_create error on torus3d nodes";
                self.fatal(list.line, says, &[first, refused])
            })?;
            if names.len() as u64 != count {
                let says = format!(
                    "the torus {name} of {} has {count} cells, but {} nodes are listed",
                    by(dims),
                    names.len()
                );
                let first = format!(
                    "error: Torus3d dimensions {}={count} do not match node count {}",
                    by(dims),
                    names.len()
                );
                return self.fatal(list.line, says, &[&first, refused]);
            }
            return Ok(self.nodes(&names));
        }
        if count > u64::from(MAX_NODES) {
            return self.too_large(torus);
        }
        let mut cells = vec![None; count as usize];
        // Another region may fill a cell whose named node does not exist.
        for region in &torus.regions {
            self.region(torus, region, &mut cells, refused)?;
        }
        if torus.regions.is_empty() {
            self.findings.warn(
                torus.line,
                format!("the torus {name} has no nodes: nothing is placed on it"),
            );
        }
        Ok(cells)
    }

    fn region(
        &mut self,
        torus: &SlurmTorus,
        region: &Region,
        cells: &mut [Option<Node>],
        refused: &str,
    ) -> Result<(), Fatal> {
        let (sides, dims, anchor) = (torus.dims, region.dims, region.anchor);
        let Some(list) = region.nodes.as_ref().filter(|list| !list.text.is_empty()) else {
            let first = "error: Torus3d region missing nodes";
            return self.fatal(region.line, "this region has no nodes", &[first, refused]);
        };
        if (0..3).any(|axis| anchor[axis] + dims[axis] > sides[axis]) {
            let says = format!(
                "a region of {} at {anchor:?} does not lie within a torus of {}",
                by(dims),
                by(sides)
            );
            let first = "error: Torus3d region dims exceed torus dimensions";
            return self.fatal(region.line, says, &[first, refused]);
        }
        let names = names(&list.text).or_else(|says| {
            let first = "error: hostlist_create error on torus3d region nodes";
            self.fatal(list.line, says, &[first, refused])
        })?;
        let count: u64 = dims.iter().copied().map(u64::from).product();
        if names.len() as u64 != count {
            let says = format!(
                "a region of {} has {count} cells, but {} nodes are listed",
                by(dims),
                names.len()
            );
            let first = "error: Torus3d region node count does not match dims";
            return self.fatal(region.line, says, &[first, refused]);
        }
        for (place, node) in (0_u32..).zip(self.nodes(&names)) {
            let within = [place % dims[0], place / dims[0] % dims[1], place / dims[0] / dims[1]];
            let at = |axis: usize| anchor[axis] + within[axis];
            let cell = at(0) + sides[0] * (at(1) + sides[1] * at(2));
            if node.is_none() {
                continue;
            }
            if cells[cell as usize].is_some() {
                let says =
                    format!("a region of {} at {anchor:?} lies over an earlier one", by(dims));
                let first = "error: Torus3d region overlaps existing nodes";
                return self.fatal(region.line, says, &[first, refused]);
            }
            cells[cell as usize] = node;
        }
        Ok(())
    }

    fn shapes(&mut self, torus: &SlurmTorus, refused: &str) -> Result<Vec<Shape>, Fatal> {
        let shapes = torus.placements.iter().map(|own| self.shape(torus, own, refused));
        let shapes = shapes.collect::<Result<Vec<Shape>, Fatal>>()?;
        if shapes.is_empty() {
            let says =
                "this torus has no placements: its nodes are given one by one, whatever lies where";
            self.findings.warn(torus.line, says);
        }
        Ok(shapes)
    }

    fn shape(
        &mut self,
        torus: &SlurmTorus,
        placement: &ListedPlacement,
        refused: &str,
    ) -> Result<Shape, Fatal> {
        let ListedPlacement { line, dims, mut spacing, seed } = *placement;
        if dims.contains(&0) {
            let says = format!("a placement of {} has an empty side: each is at least 1", by(dims));
            let first = "error: Torus3d placement dims must be non-zero";
            return self.fatal(line, says, &[first, refused]);
        }
        let exceeds = |three: [u32; 3]| (0..3).any(|axis| three[axis] > torus.dims[axis]);
        if exceeds(dims) {
            let says = format!(
                "a placement of {} is larger than the torus of {}",
                by(dims),
                by(torus.dims)
            );
            let first = "error: Torus3d placement dims exceed torus dimensions";
            return self.fatal(line, says, &[first, refused]);
        }
        if exceeds(spacing) {
            let says = format!(
                "an anchor spacing of {} is larger than the torus of {}",
                by(spacing),
                by(torus.dims)
            );
            let first = "error: Torus3d placement anchor_spacing must be within torus dimensions";
            return self.fatal(line, says, &[first, refused]);
        }
        if (0..3).any(|axis| seed[axis] >= torus.dims[axis]) {
            let says = format!(
                "an anchor seed of {} lies outside the torus of {}",
                by(seed),
                by(torus.dims)
            );
            return self.fatal(line, says, &[refused]);
        }
        for (step, side) in spacing.iter_mut().zip(dims) {
            if *step == 0 {
                *step = side;
            }
        }
        Ok(Shape { sides: dims, spacing, seed })
    }
}
