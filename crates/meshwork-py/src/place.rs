//! Topologies and placements for Python, and conversion of requests and placements from Python.

use std::sync::Arc;

use meshwork::catalogue::Catalogue;
use meshwork::job::{Dims, Request};
use meshwork::machine::{Block, NodePart, PartAmounts, Placement as Nodes};
use meshwork::pool::{PlacedBlock, Pool};
use meshwork::registry::with_article;
use meshwork::topology::Topology as Wired;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PySequence, PyString, PyTuple};
use toml::Table;

use crate::buffer::{Buffer, Memory};
use crate::error::{OrWrong, wrong};
use crate::values::{from_table, numbers, repr, to_toml};

/// The wiring of a machine's processors, and their coordinates.
///
/// A topology is immutable and can be pickled.
///
/// Examples
/// --------
/// >>> import meshwork as mw
/// >>> grid = mw.torus(4, 4).topology
/// >>> grid.kind, grid.dims, grid.coordinates(5), grid.distance(0, 3)
/// ('torus', (4, 4), (1, 1), 1)
#[pyclass(frozen, module = "meshwork", eq)]
#[derive(Clone, PartialEq)]
pub(crate) struct Topology(pub(crate) Arc<Wired>);

#[pymethods]
impl Topology {
    /// The kind of topology.
    ///
    /// One of mesh, torus, hypercube, flat, fat_tree, dragonfly, twisted_torus and multiprocessor.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.wiring().name()
    }

    /// The sides of the grid, dimension 0 first.
    #[getter]
    fn dims<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.grid().sides())
    }

    /// The number of processors.
    #[getter]
    fn nodes(&self) -> u32 {
        self.0.grid().nodes()
    }

    /// Return the number of the node at these coordinates; dimension 0 runs fastest.
    fn node(&self, coordinates: &Bound<'_, PyAny>) -> PyResult<u32> {
        let at: Vec<u32> = coordinates.extract()?;
        let grid = self.0.grid();
        let is_on_it = at.len() == grid.dimensions()
            && at.iter().zip(grid.sides()).all(|(at, side)| at < side);
        if is_on_it {
            Ok(grid.node(&at))
        } else {
            Err(wrong(format!("{} is no node of a {}", repr(coordinates), self.0)))
        }
    }

    /// Return the coordinates of a node.
    fn coordinates<'py>(&self, py: Python<'py>, node: u32) -> PyResult<Bound<'py, PyTuple>> {
        self.known(node)?;
        PyTuple::new(py, self.0.grid().coordinates(node))
    }

    /// The number of routers.
    ///
    /// A grid with one processor at each point has one router for each node.
    #[getter]
    fn routers(&self) -> u32 {
        self.0.wires().map_or(1, |wires| wires.routers())
    }

    /// Return the router to which a node is attached.
    fn router(&self, node: u32) -> PyResult<u32> {
        self.known(node)?;
        Ok(self.0.wires().map_or(0, |wires| node / wires.nodes_each()))
    }

    /// Return all pairs of linked routers, the lower number first.
    ///
    /// The list is empty for a flat machine.
    fn links(&self) -> Vec<(u32, u32)> {
        let Some(wires) = self.0.wires() else { return Vec::new() };
        let beyond = |router: u32| {
            let ports = 0..wires.ports();
            let ends = ports.filter_map(move |port| Some(wires.link(router, port)?.router));
            let mut ends: Vec<u32> = ends.filter(|&other| other > router).collect();
            ends.sort_unstable();
            ends.dedup();
            ends.into_iter().map(move |other| (router, other))
        };
        (0..wires.routers()).flat_map(beyond).collect()
    }

    /// Return the length of a shortest path between two nodes, in links between routers.
    fn distance(&self, a: u32, b: u32) -> PyResult<u32> {
        self.known(a)?;
        self.known(b)?;
        Ok(self.0.distance(a, b))
    }

    fn __repr__(&self) -> String {
        format!("Topology({})", self.0)
    }

    /// Builds the topology that the table `machine` of a study describes.
    #[staticmethod]
    fn _from_table(table: &Bound<'_, PyAny>) -> PyResult<Topology> {
        let mut document = Table::new();
        document.insert("machine".to_owned(), to_toml(table, "machine")?);
        let pool = Pool::read_in(&Catalogue::standard(), &document).or_wrong()?;
        Ok(Topology(Arc::new(pool.site().topology().clone())))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        let table = slf.get().0.table().ok_or_else(|| {
            PyTypeError::new_err(format!(
                "a {} that no study describes cannot be pickled",
                slf.get().0
            ))
        })?;
        Ok((slf.getattr("_from_table")?, (from_table(slf.py(), table)?,)))
    }

    // A topology is immutable, so a copy is the object itself.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyDict>) -> Py<Self> {
        slf
    }
}

impl Topology {
    fn known(&self, node: u32) -> PyResult<()> {
        if node < self.0.nodes() {
            return Ok(());
        }
        Err(PyIndexError::new_err(format!("{node} is no node of a {}", self.0)))
    }
}

/// A set of processors for one job, as blocks in the order of the job's ranks.
///
/// A placement is immutable and can be pickled.
///
/// Examples
/// --------
/// >>> import meshwork as mw
/// >>> block = mw.Pool(mw.mesh(4, 4)).allocate((2, 2))
/// >>> block.blocks, block.nodes.tolist()
/// ([((0, 0), (2, 2))], [0, 1, 4, 5])
#[pyclass(frozen, module = "meshwork", eq, hash)]
#[derive(Clone)]
pub(crate) struct Placement {
    pub(crate) nodes: Nodes,
    pub(crate) topology: Arc<Wired>,
}

impl PartialEq for Placement {
    fn eq(&self, other: &Placement) -> bool {
        self.nodes == other.nodes && self.topology == other.topology
    }
}

impl std::hash::Hash for Placement {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.nodes.hash(state);
    }
}

impl Placement {
    pub(crate) fn text(&self) -> String {
        self.nodes.text(self.topology.grid())
    }
}

#[pymethods]
impl Placement {
    /// The blocks of the placement, each as the coordinates of its lowest corner and its sides.
    #[getter]
    fn blocks<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Vec<(Bound<'py, PyTuple>, Bound<'py, PyTuple>)>> {
        let grid = self.topology.grid();
        let block = |block: &Block| {
            Ok((PyTuple::new(py, grid.coordinates(block.base))?, PyTuple::new(py, &block.sides)?))
        };
        self.nodes.blocks.iter().map(block).collect()
    }

    /// The parts of nodes in the placement; `None` if it consists of whole nodes.
    ///
    /// Each part is a dictionary. It has the number of the `node`, the number of the job's `pieces`
    /// on it, the `cores` in each island (a group of the node's cores), `mem`, `other`, and `gpus`:
    /// the index of each GPU, with the thousandths of the GPU that are held.
    #[getter]
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Bound<'py, PyDict>>>> {
        let (Some(types), Some(parts)) = (self.topology.types(), &self.nodes.parts) else {
            return Ok(None);
        };
        let one = |part: &NodePart| {
            let PartAmounts { cores, mem, other, gpus } = part.amounts(types.of(part.node));
            let dict = PyDict::new(py);
            dict.set_item("node", part.node)?;
            dict.set_item("pieces", part.pieces)?;
            dict.set_item("cores", cores)?;
            dict.set_item("mem", mem)?;
            dict.set_item("other", other)?;
            dict.set_item("gpus", gpus)?;
            Ok(dict)
        };
        parts.parts.iter().map(one).collect::<PyResult<_>>().map(Some)
    }

    /// The numbers of the placement's nodes, in the order of the job's ranks.
    #[getter]
    fn nodes(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let nodes = self.nodes.nodes(self.topology.grid());
        let nodes: Arc<[i64]> = nodes.into_iter().map(i64::from).collect();
        Buffer::list(Memory::FixedWholes(nodes)).array(py)
    }

    /// The coordinates of the placement's nodes, one row for each, in the order of the job's ranks.
    #[getter]
    fn coordinates(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let grid = self.topology.grid();
        let nodes = self.nodes.nodes(grid);
        let all = nodes.iter().flat_map(|&node| grid.coordinates(node).into_iter().map(i64::from));
        Buffer::rows(Memory::FixedWholes(all.collect()), grid.dimensions()).array(py)
    }

    /// The dispersal of the placement: the share of its bounding box that it does not hold.
    ///
    /// The bounding box is the smallest block that contains all nodes of the placement. The
    /// dispersal is 0 for a single block.
    #[getter]
    fn dispersal(&self) -> f64 {
        self.nodes.dispersal(self.topology.grid())
    }

    /// Builds a placement from blocks.
    #[staticmethod]
    #[pyo3(signature = (topology, blocks, parts = None))]
    fn _from_blocks(
        topology: &Bound<'_, Topology>,
        blocks: &Bound<'_, PyAny>,
        parts: Option<&str>,
    ) -> PyResult<Placement> {
        let topology = Arc::clone(&topology.get().0);
        let mut nodes = placement(blocks, &topology)?;
        nodes.parts = parts.map(serde_json::from_str).transpose().map_err(wrong)?;
        Ok(Placement { nodes, topology })
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Topology, Bound<'py, PyAny>, Option<String>))> {
        let topology = Topology(Arc::clone(&slf.get().topology));
        let parts = slf.get().nodes.parts.as_ref().map(serde_json::to_string);
        let parts = parts.transpose().map_err(wrong)?;
        Ok((slf.getattr("_from_blocks")?, (topology, slf.getattr("blocks")?, parts)))
    }

    fn __len__(&self) -> usize {
        self.nodes.len() as usize
    }

    fn __str__(&self) -> String {
        self.text()
    }

    fn __repr__(&self) -> String {
        format!("Placement({:?})", self.text())
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyDict>) -> Py<Self> {
        slf
    }
}

/// Reads a request: a number of processors, sides of a block, or a text such as `"2^k"` or `"3x5"`.
pub(crate) fn request(given: &Bound<'_, PyAny>) -> PyResult<Request> {
    let wrong_one = || {
        wrong(format!(
            "the request is {}, but must be a number of processors such as 7, the sides of a block such as (3, 5), or \
             a text such as \"3x5\", or \"2^3\" for a subcube",
            repr(given)
        ))
    };
    if let Ok(count) = given.cast::<PyInt>() {
        return count.extract().map(Request::Nodes).map_err(|_| wrong_one());
    }
    if let Ok(text) = given.cast::<PyString>() {
        return written(&text.to_string()).ok_or_else(wrong_one);
    }
    if let Some(sides) = numbers::<u32>(given).filter(|sides| !sides.is_empty()) {
        return Ok(Request::block(&sides));
    }
    match given.call_method0("__index__") {
        Ok(count) => count.extract().map(Request::Nodes).map_err(|_| wrong_one()),
        Err(_) => Err(wrong_one()),
    }
}

fn written(text: &str) -> Option<Request> {
    if let Some(dimension) = text.strip_prefix("2^") {
        return dimension.parse().ok().filter(|&d| d < 32).map(Request::Subcube);
    }
    if !text.contains('x') {
        return text.parse().ok().map(Request::Nodes);
    }
    let sides: Option<Vec<u32>> = text.split('x').map(|side| side.trim().parse().ok()).collect();
    Some(Request::block(&sides?))
}

/// Converts a request to Python: a number of processors, or a tuple with the sides of a block.
///
/// A subcube, or a count with constraints, becomes its number of processors.
pub(crate) fn request_for<'py>(py: Python<'py>, request: &Request) -> PyResult<Bound<'py, PyAny>> {
    match request {
        Request::Nodes(count) => Ok(count.into_pyobject(py)?.into_any()),
        Request::Block(sides) => Ok(PyTuple::new(py, sides)?.into_any()),
        Request::Subcube(_) | Request::Constrained(_) | Request::Pieces(_) => {
            Ok(request.nodes().into_pyobject(py)?.into_any())
        }
    }
}

/// Reads a placement that Python gives in one of three forms.
///
/// It is a [`Placement`], one or several blocks `(base, sides)`, or a list of node numbers. Node
/// numbers are in the order of the job's ranks.
pub(crate) fn placement(given: &Bound<'_, PyAny>, topology: &Wired) -> PyResult<Nodes> {
    if let Ok(placement) = given.cast::<Placement>() {
        let placement = placement.get();
        // Node numbers have another meaning on another machine.
        if *placement.topology != *topology {
            return Err(wrong(format!(
                "{} is a placement on {}, but must be one on this {topology}",
                placement.text(),
                with_article(&placement.topology)
            )));
        }
        return Ok(placement.nodes.clone());
    }
    if let Ok(block) = one_block(given) {
        return PlacedBlock::placement(&[block], topology).map_err(wrong);
    }
    if let Ok(blocks) = given.cast::<PySequence>()
        && let Ok(blocks) = blocks
            .try_iter()?
            .take(topology.nodes() as usize + 1)
            .map(|block| one_block(&block?))
            .collect::<PyResult<Vec<_>>>()
        && !blocks.is_empty()
    {
        return PlacedBlock::placement(&blocks, topology).map_err(wrong);
    }
    let listed =
        if given.hasattr("tolist")? { given.call_method0("tolist")? } else { given.clone() };
    let Some(nodes) = numbers::<i64>(&listed) else {
        return Err(wrong(format!(
            "{} is no placement: it must be a block as (base, sides), a list of such, or the numbers of nodes",
            repr(given)
        )));
    };
    let grid = topology.grid();
    let width = grid.sides()[0];
    let mut placement = Nodes::default();
    let mut next = None;
    for node in nodes {
        let node =
            u32::try_from(node).ok().filter(|&node| node < grid.nodes()).ok_or_else(|| {
                wrong(format!(
                    "{node} is no node of a {topology}, whose nodes are 0 to {}",
                    grid.nodes() - 1
                ))
            })?;
        // Consecutive nodes of a row form one block.
        match placement.blocks.last_mut() {
            Some(block) if next == Some(node) => block.sides[0] += 1,
            _ => {
                let sides = Dims::from_elem(1, grid.dimensions());
                placement.blocks.push(Block { base: node, sides });
            }
        }
        next = Some(node + 1).filter(|next| next % width != 0);
    }
    if placement.blocks.is_empty() {
        return Err(wrong("a placement has at least one node, and this one has none"));
    }
    Ok(placement)
}

fn one_block(given: &Bound<'_, PyAny>) -> PyResult<PlacedBlock> {
    let (base, dims): (Bound<'_, PyAny>, Bound<'_, PyAny>) = given.extract()?;
    match (numbers(&base), numbers(&dims)) {
        (Some(base), Some(dims)) => Ok(PlacedBlock { base, dims }),
        _ => Err(wrong(format!("{} is no block", repr(given)))),
    }
}
