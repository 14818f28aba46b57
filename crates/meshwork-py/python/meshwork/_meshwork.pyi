"""Types of the compiled part of Meshwork, for type checkers."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, final

import numpy
from numpy.typing import NDArray
from typing_extensions import Self

__version__: str

Request = int | str | Sequence[int] | Mapping[str, Any]
Block = tuple[tuple[int, ...], tuple[int, ...]]

def ask(words: Sequence[str]) -> tuple[str, bool]: ...
def main(words: Sequence[str]) -> int: ...
def version() -> tuple[str, int]: ...
def register(kind: str, class_: type, facts: dict[str, Any]) -> None: ...
def conform(kind: str, name: str) -> tuple[list[int], tuple[str, str] | None]: ...
def registered() -> list[tuple[str, str]]: ...
def run_shard(
    folder: Path, shard: tuple[int, int], deal: Path, threads: int, max_memory: int | None, digests: Sequence[str]
) -> tuple[int, int, list[str], list[str], BaseException | None]: ...
def collect(folder: Path, parquet: bool) -> tuple[int, int, int, list[str], list[str]]: ...
def figures(folder: Path) -> list[tuple[str, str]]: ...
def job_columns(names: Sequence[str], what: str) -> tuple[list[str], list[str]]: ...
def text_cell(text: str) -> str: ...
def check_jobs(text: str, what: str) -> None: ...
def rows_as_csv(source: object, what: str) -> tuple[str, list[str]]: ...

@final
class Buffer:
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...

@final
class Topology:
    """The wiring of a machine's processors, and their coordinates.

    A topology is immutable and can be pickled.

    Examples
    --------
    >>> import meshwork as mw
    >>> grid = mw.torus(4, 4).topology
    >>> grid.kind, grid.dims, grid.coordinates(5), grid.distance(0, 3)
    ('torus', (4, 4), (1, 1), 1)
    """

    @property
    def kind(self) -> str:
        """The kind of topology.

        One of mesh, torus, hypercube, flat, fat_tree, dragonfly, twisted_torus and multiprocessor.
        """
    @property
    def dims(self) -> tuple[int, ...]:
        """The sides of the grid, dimension 0 first."""
    @property
    def nodes(self) -> int:
        """The number of processors."""
    def node(self, coordinates: Sequence[int]) -> int:
        """Return the number of the node at these coordinates; dimension 0 runs fastest."""
    def coordinates(self, node: int) -> tuple[int, ...]:
        """Return the coordinates of a node."""
    @property
    def routers(self) -> int:
        """The number of routers.

        A grid with one processor at each point has one router for each node.
        """
    def router(self, node: int) -> int:
        """Return the router to which a node is attached."""
    def links(self) -> list[tuple[int, int]]:
        """Return all pairs of linked routers, the lower number first.

        The list is empty for a flat machine.
        """
    def distance(self, a: int, b: int) -> int:
        """Return the length of a shortest path between two nodes, in links between routers."""
    def __eq__(self, other: object) -> bool: ...

@final
class Placement:
    """A set of processors for one job, as blocks in the order of the job's ranks.

    A placement is immutable and can be pickled.

    Examples
    --------
    >>> import meshwork as mw
    >>> block = mw.Pool(mw.mesh(4, 4)).allocate((2, 2))
    >>> block.blocks, block.nodes.tolist()
    ([((0, 0), (2, 2))], [0, 1, 4, 5])
    """

    @property
    def blocks(self) -> list[Block]:
        """The blocks of the placement, each as the coordinates of its lowest corner and its sides."""
    @property
    def parts(self) -> list[dict[str, Any]] | None:
        """The parts of nodes in the placement; `None` if it consists of whole nodes.

        Each part is a dictionary. It has the number of the `node`, the number of the job's `pieces`
        on it, the `cores` in each island (a group of the node's cores), `mem`, `other`, and `gpus`:
        the index of each GPU, with the thousandths of the GPU that are held.
        """
    @property
    def nodes(self) -> NDArray[numpy.int64]:
        """The numbers of the placement's nodes, in the order of the job's ranks."""
    @property
    def coordinates(self) -> NDArray[numpy.int64]:
        """The coordinates of the placement's nodes, one row for each, in the order of the job's ranks."""
    @property
    def dispersal(self) -> float:
        """The dispersal of the placement: the share of its bounding box that it does not hold.

        The bounding box is the smallest block that contains all nodes of the placement. The
        dispersal is 0 for a single block.
        """
    def __len__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

PlacementLike = Placement | Block | Sequence[Block] | Sequence[int] | NDArray[Any]

class Pool:
    """The processors of one machine, and the allocator that assigns them."""

    def __new__(cls, document: Mapping[str, Any]) -> Self: ...
    def allocate(self, wanted: Request) -> Placement | None:
        """Allocate processors for a request; return `None` if the allocator finds no placement now.

        A request is a number of processors, the sides of a block, or a text such as `"3x5"` for a
        block and `"2^3"` for a subcube. On a machine whose nodes jobs share, a request may be a
        mapping with the columns of pieces, such as `{"pieces": 4, "gpu": 1}`.
        """
    def can(self, wanted: Request) -> Placement | None:
        """Return the placement that `allocate` would make now, without changing anything."""
    def could_hold(self, wanted: Request) -> bool:
        """Return whether the empty machine could hold a request. If not, waiting is useless."""
    def adopt(self, held: PlacementLike) -> Placement:
        """Hold the processors of a placement that the pool itself has not allocated."""
    def release(self, held: PlacementLike) -> None:
        """Release an allocated or adopted placement, as a whole."""
    def room(self, ratio: list[int] | None = None) -> dict[str, Any]: ...
    def advance(self, to: float) -> None:
        """Advance the clock of the pool to the time `to`; only allocators that use ages need the
        time.
        """
    def snapshot_json(self) -> str: ...
    def restore_json(self, text: str) -> None: ...
    def drawing(self) -> str:
        """Draw the machine: `.` for a free node, `#` for a held one."""
    @property
    def held(self) -> list[Placement]:
        """The held placements, ordered by first node."""
    @property
    def topology(self) -> Topology:
        """The topology of the machine."""
    @property
    def site(self) -> Site:
        """The machine as seen by a strategy."""
    @property
    def free_nodes(self) -> int:
        """The number of free nodes."""
    @property
    def now(self) -> float:
        """The current time of the pool."""
    @property
    def table(self) -> dict[str, Any]:
        """The configuration of the pool, with every default filled in."""

@final
class Site:
    """A site as seen by a strategy, as arrays that follow every change without copies.

    Nodes have the numbers 0, 1, 2, … along dimension 0 first, then along dimension 1, and so on.

    Examples
    --------
    >>> import meshwork as mw
    >>> pool = mw.Pool(mw.mesh(4, 2))
    >>> held = pool.allocate((2, 1))
    >>> pool.site.free_numbers.tolist(), pool.site.free.shape
    ([2, 3, 4, 5, 6, 7], (4, 2))
    """

    @property
    def free(self) -> NDArray[numpy.bool_]:
        """Whether each node is free, as an array with the node's coordinates as indices."""
    @property
    def free_numbers(self) -> NDArray[numpy.int64]:
        """The numbers of the free nodes, in ascending order; dimension 0 runs fastest.

        The time is proportional to the number of nodes.
        """
    @property
    def holder(self) -> NDArray[numpy.int32]:
        """The number of the allocation that holds each node; −1 if the node is free.

        The array has the node's coordinates as indices. Allocations are counted from 0.
        """
    @property
    def since(self) -> NDArray[numpy.float64]:
        """The time at which each node was allocated; NaN if the node is free.

        The array has the node's coordinates as indices.
        """
    @property
    def topology(self) -> Topology:
        """The topology of the site."""
    @property
    def dims(self) -> tuple[int, ...]:
        """The sides of the grid, dimension 0 first."""
    @property
    def nodes(self) -> int:
        """The number of nodes."""
    @property
    def free_nodes(self) -> int:
        """The number of free nodes."""

@final
class Rng:
    """The random number stream of a strategy or a workload.

    The stream is a function of the seed and the replication.

    Examples
    --------
    >>> import meshwork as mw
    >>> @mw.register
    ... class Anywhere:
    ...     "Free nodes from one on that is drawn."
    ...     asks, finds, stateless = "nodes", "any_nodes", True
    ...     def choose(self, ask: mw.Ask):
    ...         free = ask.site.free_numbers
    ...         first = ask.rng.below(len(free) - ask.nodes + 1)
    ...         return free[first : first + ask.nodes]
    >>> len(mw.Pool(mw.mesh(4, 4), "anywhere", seed=1).allocate(3))
    3
    """

    def random(self) -> float:
        """Draw a number, uniform on (0, 1)."""
    def below(self, bound: int) -> int:
        """Draw an integer, uniform from 0 to `bound` - 1."""

@final
class Ask:
    """A request to an allocator, passed to its method `choose`.

    Examples
    --------
    >>> import meshwork as mw
    >>> @mw.register
    ... class Lowest:
    ...     "The free nodes with the lowest numbers."
    ...     asks, finds, stateless = "nodes", "any_nodes", True
    ...     def choose(self, ask: mw.Ask):
    ...         return ask.site.free_numbers[: ask.nodes]
    >>> mw.Pool(mw.mesh(4, 4), "lowest").allocate(6)
    Placement("0,0:4x1;0,1:2x1")
    """

    @property
    def request(self) -> int | tuple[int, ...]:
        """The request, in the form that the allocator declares with `asks`.

        A subcube is given as its number of nodes.
        """
    @property
    def nodes(self) -> int:
        """The number of requested nodes."""
    @property
    def site(self) -> Site:
        """The site on which the request is to be placed."""
    @property
    def now(self) -> float:
        """The current time."""
    @property
    def rng(self) -> Rng:
        """The allocator's own random number stream."""

@final
class Job:
    """A job as submitted; its run time is not visible.

    Examples
    --------
    >>> import meshwork as mw
    >>> @mw.register
    ... class Urgent:
    ...     "The most urgent first."
    ...     def schedule(self, cluster: mw.Cluster):
    ...         waiting = cluster.waiting.tolist()
    ...         for job in sorted(waiting, key=lambda job: -cluster.job(job).priority):
    ...             cluster.start(job)
    >>> jobs = {"submit": [0, 1, 1], "runtime": [5, 5, 5], "nodes": [4, 4, 4], "priority": [0, 0.1, 0.9]}
    >>> mw.Study(machine=mw.flat(4), workload=jobs, scheduler="urgent").run().jobs()["start"].tolist()
    [0.0, 10.0, 5.0]
    """

    @property
    def number(self) -> int:
        """The job number in the workload."""
    @property
    def submit(self) -> float:
        """The arrival time."""
    @property
    def estimate(self) -> float:
        """The run time estimated by the user."""
    @property
    def request(self) -> int | tuple[int, ...]:
        """The requested number of processors or sides of a block."""
    @property
    def nodes(self) -> int:
        """The number of requested processors."""
    @property
    def user(self) -> str | None:
        """The user, or `None` if the workload names none, or no component uses the owners of jobs.

        A scheduler in Python counts as a component that uses owners.
        """
    @property
    def group(self) -> str | None:
        """The user's group; `None` if the workload names none, or no component uses owners."""
    @property
    def application(self) -> str | None:
        """The application; `None` if the workload names none, or no component uses owners."""
    @property
    def queue(self) -> str | None:
        """The submission queue; `None` if the workload names none, or no component uses owners."""
    @property
    def partition(self) -> str | None:
        """The partition that the job requests, or `None` if it requests none.

        For a job without constraints, it is also `None` if no component uses owners.
        """
    @property
    def priority(self) -> float:
        """The priority, from 0 to 1; 0 if the workload has none."""
    @property
    def deadline(self) -> float | None:
        """The time by which the job should end, if it has a deadline."""
    @property
    def after(self) -> int | None:
        """The number of the job whose end triggered the submission, if there is such a job."""
    @property
    def think(self) -> float | None:
        """The think time from the end of the job `after` to the submission, or `None`."""
    @property
    def constraints(self) -> dict[str, Any]:
        """The constraints on the job's nodes, except for the partition.

        Keys are the columns of a table of jobs: `segment`, `switches`, `exclude`, …
        """

@final
class Guard:
    """A reservation for a waiting job, which backfilled jobs must not delay.

    Examples
    --------
    >>> import meshwork as mw
    >>> @mw.register
    ... class Backfills:
    ...     "EASY backfilling."
    ...     plans, serves_all = True, True
    ...     def schedule(self, cluster: mw.Cluster):
    ...         for job in cluster.waiting.tolist():
    ...             if not cluster.start(job):
    ...                 break
    ...         if cluster.head is not None and (guard := cluster.reserve(cluster.head)) is not None:
    ...             for job in cluster.waiting.tolist()[1:]:
    ...                 cluster.start(job, beside=guard)
    >>> jobs = {"submit": [0, 1, 2], "runtime": [9, 5, 3], "nodes": [3, 4, 1]}
    >>> mw.Study(machine=mw.flat(4), workload=jobs, scheduler="backfills").run().jobs()["start"].tolist()
    [0.0, 9.0, 2.0]
    """

    @property
    def at(self) -> float:
        """The reserved start time."""
    @property
    def site(self) -> int:
        """The index of the reserved site."""

@final
class Cluster:
    """The machine and its queue, passed to `schedule` and valid during that call.

    Jobs are identified by their position in the order of arrival. Every call costs some
    microseconds, so an array is faster than one call for each job.

    Examples
    --------
    >>> import meshwork as mw
    >>> @mw.register
    ... class Shortest:
    ...     "The shortest first, by estimates."
    ...     def schedule(self, cluster: mw.Cluster):
    ...         while cluster.waiting_jobs:
    ...             shortest = cluster.waiting[cluster.waiting_estimates.argmin()]
    ...             if not cluster.start(shortest):
    ...                 break
    >>> jobs = {"submit": [0, 1, 2], "runtime": [9, 5, 3], "nodes": [4, 4, 4]}
    >>> mw.Study(machine=mw.flat(4), workload=jobs, scheduler="shortest").run().jobs()["start"].tolist()
    [0.0, 12.0, 9.0]
    """

    @property
    def now(self) -> float:
        """The current time."""
    @property
    def arrivals(self) -> list[int]:
        """The jobs that joined the queue at this instant."""
    @property
    def departures(self) -> list[int]:
        """The jobs that ended at this instant."""
    @property
    def waiting(self) -> NDArray[numpy.int64]:
        """The waiting jobs, in order of arrival."""
    @property
    def waiting_nodes(self) -> NDArray[numpy.int64]:
        """The number of processors requested by each waiting job."""
    @property
    def waiting_estimates(self) -> NDArray[numpy.float64]:
        """The estimated run time of each waiting job."""
    @property
    def waiting_submits(self) -> NDArray[numpy.float64]:
        """The arrival time of each waiting job."""
    @property
    def running(self) -> NDArray[numpy.int64]:
        """The running jobs, ordered by expected end."""
    @property
    def running_nodes(self) -> NDArray[numpy.int64]:
        """The number of processors held by each running job."""
    @property
    def running_ends(self) -> NDArray[numpy.float64]:
        """The expected end of each running job."""
    @property
    def waiting_jobs(self) -> int:
        """The number of waiting jobs."""
    @property
    def head(self) -> int | None:
        """The waiting job at the head of the queue, or `None`."""
    @property
    def free_nodes(self) -> int:
        """The number of free processors on all sites."""
    @property
    def sites(self) -> int:
        """The number of sites."""
    def site(self, index: int) -> Site:
        """Return a snapshot of a site, which does not follow later changes."""
    def job(self, job: int) -> Job:
        """Return a waiting or running job."""
    def start(self, job: int, beside: Guard | None = None) -> bool:
        """Start a waiting job if it can be placed, and return whether it started.

        Selector, sizing and allocator choose the processors of the job. If the guard `beside` is
        given, the job starts only if it does not delay the reservation of that guard.
        """
    def reserve(self, job: int) -> Guard | None:
        """Reserve the earliest start of a waiting job, assuming that running jobs end at their
        estimates.

        Return the reservation as a guard, or `None` if the job can never start.
        """
    def promise(self, job: int, by: float) -> None:
        """Report to observers that a job was promised a start no later than `by`."""
    def turn_away(self, job: int) -> None:
        """Remove a waiting job from the queue without running it."""

@final
class Offers:
    """The sites' offers for a job, passed to `select` and valid during that call.

    Examples
    --------
    >>> import meshwork as mw
    >>> @mw.register
    ... class Roomiest:
    ...     "The site with most free processors."
    ...     stateless = True
    ...     def select(self, job: mw.Job, offers: mw.Offers, rng: mw.Rng):
    ...         rooms = sorted(offers.rooms(), key=lambda room: -room["free"])
    ...         return next((room["site"] for room in rooms if offers.at(room["site"])), None)
    >>> machine = mw.sites([mw.flat(4), mw.flat(8)])
    >>> jobs = {"submit": [0, 1], "runtime": [9, 9], "nodes": [2, 2]}
    >>> mw.Study(machine=machine, workload=jobs, selector="roomiest").run().jobs()["site"].tolist()
    [1, 1]
    """

    @property
    def sites(self) -> int:
        """The number of sites."""
    def at(self, site: int) -> tuple[Placement, float] | None:
        """Return the placement that a site proposes for the job, and the job's `stretch` there.

        The stretch is the expected run time divided by the requested run time. Return `None` if the
        site has no placement now.
        """
    def rooms(self) -> list[dict[str, Any]]:
        """Return a list with a dictionary for every site on which the job fits.

        A dictionary has the index of the `site`, its number of `nodes`, its number of `free`
        processors, the number of processors that the job would hold (`held`), and the `speed` of
        the site. This draws no random numbers.
        """
    def others(self) -> list[tuple[int, float]]:
        """Return the requested processors and the estimated run time of each other waiting job."""

@final
class Demand:
    """The request of a job and the load of the machine, passed to `sizes` and `fewest` of a sizing.

    Examples
    --------
    >>> import meshwork as mw
    >>> @mw.register
    ... class Halved:
    ...     "Half of the processors for twice as long, where the whole is not to be had."
    ...     stateless = True
    ...     def sizes(self, demand: mw.Demand):
    ...         return [(demand.wanted, 1.0), ((demand.wanted + 1) // 2, 2.0)]
    ...     def fewest(self, demand: mw.Demand):
    ...         return (demand.wanted + 1) // 2
    >>> jobs = {"submit": [0, 1], "runtime": [9, 9], "nodes": [6, 4]}
    >>> mw.Study(machine=mw.flat(8), workload=jobs, sizing="halved").run().jobs()["held"].tolist()
    [6, 2]
    """

    @property
    def request(self) -> int | tuple[int, ...]:
        """The request of the job, in the form that the site's allocator takes."""
    @property
    def wanted(self) -> int:
        """The number of requested processors."""
    @property
    def nodes(self) -> int:
        """The number of nodes of the site."""
    @property
    def running(self) -> int:
        """The number of running jobs."""
    @property
    def waiting(self) -> int:
        """The number of waiting jobs, including the job of this demand."""

@final
class Run:
    """A run of a job, active or just ended, passed to observers and metrics.

    Examples
    --------
    >>> import meshwork as mw
    >>> @mw.register
    ... class Idle:
    ...     "Processors that a job held and did not ask for."
    ...     unit = "processors"
    ...     def value(self, run: mw.Run, now: float):
    ...         return run.held - run.asked
    >>> jobs = {"submit": [0, 1], "runtime": [9, 9], "nodes": [3, 4]}
    >>> study = mw.Study(machine=mw.hypercube(4), workload=jobs, allocator="buddy", metrics=["idle"])
    >>> study.run().summary.row(0)["mean"]
    0.5
    """

    @property
    def id(self) -> int:
        """The position of the job in the order of arrival, by which a `Cluster` identifies it."""
    @property
    def job(self) -> Job:
        """The job that runs."""
    @property
    def site(self) -> int:
        """The index of the site on which the job runs."""
    @property
    def placement(self) -> Placement:
        """The processors that the job holds."""
    @property
    def asked(self) -> int:
        """The number of requested processors."""
    @property
    def held(self) -> int:
        """The number of held processors."""
    @property
    def start(self) -> float:
        """The start time of this run."""
    @property
    def expected_end(self) -> float:
        """The time at which the run is expected to end, according to the estimate."""
    @property
    def wait(self) -> float:
        """The time that the job has waited, without the time of its earlier runs."""
    @property
    def stretch(self) -> float:
        """Expected run time at the start of the job, divided by the requested run time.

        It depends on the number of processors that the job got, and on the speed of its site.
        """
    @property
    def rate(self) -> float:
        """The relative speed of the work: 1 unless the scheduler resizes jobs."""
    @property
    def dispersal(self) -> float:
        """The dispersal of the held processors: see `Placement.dispersal`."""
    @property
    def interruptions(self) -> int:
        """The number of interruptions of the job, including that of this run."""
    @property
    def lost(self) -> float:
        """The time of this run that was wasted by its interruption."""

@final
class State:
    """The state of the machine between two events, passed to `elapsed` of an observer.

    Examples
    --------
    >>> import meshwork as mw
    >>> @mw.register
    ... class Peak:
    ...     "The most processors that were held at once."
    ...     unit, most = "processors", 0
    ...     def elapsed(self, state: mw.State, begin: float, end: float):
    ...         self.most = max(self.most, state.held)
    ...     def result(self):
    ...         return self.most
    >>> jobs = {"submit": [0, 1], "runtime": [9, 9], "nodes": [3, 4]}
    >>> mw.Study(machine=mw.flat(8), workload=jobs, metrics=["peak"]).run().summary.row(0)["mean"]
    7.0
    """

    @property
    def nodes(self) -> int:
        """Number of processors of the whole machine."""
    @property
    def held(self) -> int:
        """Number of processors that jobs hold."""
    @property
    def asked(self) -> int:
        """Number of processors that the running jobs requested."""
    @property
    def surplus(self) -> int:
        """Number of processors that jobs hold in excess of their requests."""
    @property
    def down(self) -> int:
        """Number of processors that are out of service."""
    @property
    def asleep(self) -> int:
        """Number of processors that sleep to save energy."""
    @property
    def power(self) -> float:
        """Power of the machine in watts, if the study has an energy model."""
    @property
    def waiting(self) -> int:
        """Number of waiting jobs."""
    @property
    def running(self) -> int:
        """Number of running jobs."""
    @property
    def blocked_by_shape(self) -> bool:
        """Whether the oldest waiting job requested no more processors than were free on some site."""

@final
class Table:
    @staticmethod
    def from_json(text: str) -> Table: ...
    @property
    def column_names(self) -> list[str]: ...
    def values(self, name: str) -> Buffer | list[Any]: ...
    def row(self, row: int) -> list[Any]: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Study:
    @staticmethod
    def read(path: PathLike[str], set: dict[str, Any]) -> Study: ...
    @staticmethod
    def parse(text: str, folder: PathLike[str], set: dict[str, Any]) -> Study: ...
    @staticmethod
    def from_mapping(document: dict[str, Any], folder: PathLike[str], found: dict[str, list[str]]) -> Study: ...
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str | None: ...
    @property
    def toml(self) -> str: ...
    def __len__(self) -> int: ...
    def __copy__(self) -> Study: ...
    def state(self) -> tuple[str, bool, str, Path, list[str], dict[str, list[Path]]]: ...
    @staticmethod
    def of_state(
        file: str,
        without_file: bool,
        source: str,
        folder: PathLike[str],
        settings: list[str],
        found: Mapping[str, Sequence[PathLike[str]]],
    ) -> Study: ...
    def named(self) -> list[tuple[str, str]]: ...
    def scenarios(self) -> list[tuple[dict[str, Any], dict[str, Any]]]: ...
    def set(self, key: str, value: object) -> None: ...
    def begin_sweep(
        self, folder: PathLike[str], max_memory: int | None
    ) -> tuple[Path | None, int, list[tuple[str, str]]]: ...
    def envs(self, count: int, threads: int, jobs: int, window: tuple[int, int] | None, masks: bool) -> Envs: ...
    def run(
        self,
        threads: int,
        out: PathLike[str] | None,
        replace: bool,
        max_memory: int | None,
        tell: Callable[..., None] | None,
        observer: Callable[[dict[str, Any], int], object] | None,
    ) -> Results: ...

@final
class Results:
    def study(self) -> Study: ...
    def state(self) -> tuple[Any, ...]: ...
    @staticmethod
    def of_state(study: Study, *state: Any) -> Results: ...
    @property
    def name(self) -> str: ...
    @property
    def sweep(self) -> list[str]: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def failures(self) -> list[str]: ...
    @property
    def growing(self) -> list[int]: ...
    @property
    def scenarios(self) -> list[dict[str, Any]]: ...
    @property
    def claims(self) -> list[dict[str, Any]]: ...
    def summary(self) -> Table: ...
    def by_size(self) -> Table | None: ...
    def by_user(self) -> Table | None: ...
    def by_group(self) -> Table | None: ...
    def by_application(self) -> Table | None: ...
    def by_queue(self) -> Table | None: ...
    def by_partition(self) -> Table | None: ...
    def comparison(self) -> Table | None: ...
    def runs(self) -> Table: ...
    def topologies(self, scenario: int) -> list[Topology]: ...
    def jobs(self, scenario: int, replication: int) -> Table: ...
    def save(self, folder: PathLike[str]) -> None: ...

@final
class Envs:
    def reset(self, episodes: Sequence[int]) -> None: ...
    def step(self, actions: Sequence[int]) -> None: ...
    def step_one(self, action: int) -> tuple[float, bool, bool]: ...
    def arrays(
        self,
    ) -> tuple[NDArray[numpy.bool_], NDArray[numpy.float64], NDArray[numpy.bool_], NDArray[numpy.float64]]: ...
