"""The part of Meshwork that is compiled: what its classes have, for those who check types."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, final

import numpy
from numpy.typing import NDArray
from typing_extensions import Self

__version__: str

Request = int | str | Sequence[int]
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
    """How the processors of a machine are wired, and where each of them lies.

    It never changes, and can be pickled.

    Examples
    --------
    >>> import meshwork as mw
    >>> grid = mw.torus(4, 4).topology
    >>> grid.kind, grid.dims, grid.coordinates(5), grid.distance(0, 3)
    ('torus', (4, 4), (1, 1), 1)
    """

    @property
    def kind(self) -> str:
        """One of mesh, torus, hypercube, flat, fat_tree, dragonfly, twisted_torus and multiprocessor."""
    @property
    def dims(self) -> tuple[int, ...]:
        """The sides, dimension 0 first."""
    @property
    def nodes(self) -> int:
        """How many processors there are."""
    def node(self, coordinates: Sequence[int]) -> int:
        """Give the number of the node at these coordinates: dimension 0 runs fastest."""
    def coordinates(self, node: int) -> tuple[int, ...]:
        """Give the coordinates of a node."""
    @property
    def routers(self) -> int:
        """How many routers there are: on a grid with one processor at each point, one for each node."""
    def router(self, node: int) -> int:
        """Give the router at which a node is."""
    def links(self) -> list[tuple[int, int]]:
        """Give every pair of routers that a link joins, the lower number first; a flat machine has none."""
    def distance(self, a: int, b: int) -> int:
        """Give the number of links between routers on a shortest way between two nodes."""
    def __eq__(self, other: object) -> bool: ...

@final
class Placement:
    """The processors that are held together: blocks, in rank order.

    It never changes, and can be pickled.

    Examples
    --------
    >>> import meshwork as mw
    >>> block = mw.Pool(mw.mesh(4, 4)).allocate((2, 2))
    >>> block.blocks, block.nodes.tolist()
    ([((0, 0), (2, 2))], [0, 1, 4, 5])
    """

    @property
    def blocks(self) -> list[Block]:
        """Each block, as its lowest corner and its sides."""
    @property
    def nodes(self) -> NDArray[numpy.int64]:
        """The numbers of its nodes, in rank order."""
    @property
    def coordinates(self) -> NDArray[numpy.int64]:
        """The coordinates of its nodes, in rank order: one row for each node."""
    @property
    def dispersal(self) -> float:
        """How far its nodes are spread."""
    def __len__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

PlacementLike = Placement | Block | Sequence[Block] | Sequence[int] | NDArray[Any]

class Pool:
    """An allocator alone."""

    def __new__(cls, document: Mapping[str, Any]) -> Self: ...
    def allocate(self, wanted: Request) -> Placement | None:
        """Take processors for a request, or `None` if the allocator finds none now.

        A request is a number of processors, the sides of a block, or a text such as `"3x5"`, and `"2^3"` for a subcube.
        """
    def can(self, wanted: Request) -> Placement | None:
        """Say where `allocate` would place a request now; nothing changes."""
    def could_hold(self, wanted: Request) -> bool:
        """Say whether there would be room if nothing were held: if not, it is no use to wait."""
    def adopt(self, held: PlacementLike) -> Placement:
        """Hold a placement that somebody else has made."""
    def release(self, held: PlacementLike) -> None:
        """Give back what was allocated or adopted, as a whole."""
    def room(self, ratio: list[int] | None = None) -> dict[str, Any]: ...
    def advance(self, to: float) -> None:
        """Let time pass; only allocators that look at ages need it."""
    def snapshot_json(self) -> str: ...
    def restore_json(self, text: str) -> None: ...
    def drawing(self) -> str:
        """Draw the machine: `.` for a free node, `#` for one that is held."""
    @property
    def held(self) -> list[Placement]:
        """What is held, in the order of first nodes."""
    @property
    def topology(self) -> Topology:
        """Where its nodes lie."""
    @property
    def site(self) -> Site:
        """The machine as a strategy sees it."""
    @property
    def free_nodes(self) -> int:
        """How many nodes are free."""
    @property
    def now(self) -> float:
        """The present instant."""
    @property
    def table(self) -> dict[str, Any]:
        """What it was made of, with every default."""

@final
class Site:
    """A site as a strategy sees it: arrays that look at memory which is kept up to date, without copies.

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
        """Which nodes are free, by coordinates."""
    @property
    def free_numbers(self) -> NDArray[numpy.int64]:
        """The numbers of the free nodes, in ascending order: dimension 0 runs fastest. It takes time for each node."""
    @property
    def holder(self) -> NDArray[numpy.int32]:
        """The number of the claim that holds each node; −1 where it is free."""
    @property
    def since(self) -> NDArray[numpy.float64]:
        """When each node was claimed; NaN where it is free."""
    @property
    def topology(self) -> Topology:
        """Where its nodes lie."""
    @property
    def dims(self) -> tuple[int, ...]:
        """Its sides, dimension 0 first."""
    @property
    def nodes(self) -> int:
        """How many nodes there are."""
    @property
    def free_nodes(self) -> int:
        """How many of them are free."""

@final
class Rng:
    """The stream of random numbers of a strategy or a workload: a function of the seed and the replication.

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
        """Draw a whole number, uniform from 0 to below the bound."""

@final
class Ask:
    """A question for a place: what `choose` of an allocator is given.

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
        """What is asked for, in the form that the allocator asks for; a subcube is the number of its nodes."""
    @property
    def nodes(self) -> int:
        """How many nodes are asked for."""
    @property
    def site(self) -> Site:
        """The site."""
    @property
    def now(self) -> float:
        """The present instant."""
    @property
    def rng(self) -> Rng:
        """The allocator's own stream of random numbers."""

@final
class Job:
    """A job, as its workload gives it; its run time nobody knows.

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
        """The workload's own number for it."""
    @property
    def submit(self) -> float:
        """When it arrived."""
    @property
    def estimate(self) -> float:
        """How long its user says it runs."""
    @property
    def request(self) -> int | tuple[int, ...]:
        """What it asks for."""
    @property
    def nodes(self) -> int:
        """How many processors that is."""
    @property
    def user(self) -> str | None:
        """Whose it is, where the workload knows and something goes by it: a scheduler in Python, say."""
    @property
    def group(self) -> str | None:
        """The group of its user, likewise."""
    @property
    def application(self) -> str | None:
        """The program that it runs, likewise."""
    @property
    def queue(self) -> str | None:
        """The queue that it was submitted to, likewise."""
    @property
    def partition(self) -> str | None:
        """The partition that it was submitted to, likewise."""
    @property
    def priority(self) -> float:
        """How urgent it is, from 0 to 1; 0 where the workload does not say."""
    @property
    def deadline(self) -> float | None:
        """By when it is to have ended, if that was agreed on."""
    @property
    def after(self) -> int | None:
        """The number of the job after whose end it was submitted, where the workload says."""
    @property
    def think(self) -> float | None:
        """How long after that end, likewise."""
    @property
    def constraints(self) -> dict[str, Any]:
        """What else it wants of its nodes, by the columns of a table of jobs: `segment`, `switches`, `exclude`, …"""

@final
class Guard:
    """A promise to a waiting job, which jobs that are started beside it do not delay.

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
        """When the job is promised to start."""
    @property
    def site(self) -> int:
        """On which site."""

@final
class Cluster:
    """The machine and its queue: what `schedule` of a scheduler is given, and can ask while it is called.

    Jobs are called by their place in the order of arrival. A question costs some microseconds, whatever it asks; arrays
    spare a question for each job.

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
        """The present instant."""
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
        """How many processors each of them asks for."""
    @property
    def waiting_estimates(self) -> NDArray[numpy.float64]:
        """How long each of them is said to run."""
    @property
    def waiting_submits(self) -> NDArray[numpy.float64]:
        """When each of them arrived."""
    @property
    def running(self) -> NDArray[numpy.int64]:
        """The running jobs, in the order of their expected ends."""
    @property
    def running_nodes(self) -> NDArray[numpy.int64]:
        """How many processors each of them holds."""
    @property
    def running_ends(self) -> NDArray[numpy.float64]:
        """When each of them is expected to end."""
    @property
    def waiting_jobs(self) -> int:
        """How many jobs wait."""
    @property
    def head(self) -> int | None:
        """The job that has waited longest."""
    @property
    def free_nodes(self) -> int:
        """How many processors are free, on all sites."""
    @property
    def sites(self) -> int:
        """How many sites there are."""
    def site(self, index: int) -> Site:
        """Give a site as it is now; what happens later it does not show."""
    def job(self, job: int) -> Job:
        """Give a job that waits or runs."""
    def start(self, job: int, beside: Guard | None = None) -> bool:
        """Start a waiting job, if selector, sizing and allocator find a place for it, and a guard allows it."""
    def reserve(self, job: int) -> Guard | None:
        """Promise a waiting job the earliest start that there would be if all running jobs ended at their estimates."""
    def promise(self, job: int, by: float) -> None:
        """Tell whoever observes that a job was promised a start by this instant."""
    def turn_away(self, job: int) -> None:
        """Take a waiting job out of the queue unserved."""

@final
class Offers:
    """What the sites offer a job: what `select` of a selector is given, and can ask while it is called.

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
        """How many sites there are."""
    def at(self, site: int) -> tuple[Placement, float] | None:
        """Say where the job would go on a site, and how many times longer than asked for it would run there."""
    def rooms(self) -> list[dict[str, Any]]:
        """Give every site with room: `site`, `nodes`, `free`, `held` and `speed`. Nothing is drawn for it."""
    def others(self) -> list[tuple[int, float]]:
        """Give what the other waiting jobs ask for: processors and estimate."""

@final
class Demand:
    """What a sizing is asked: what `sizes` and `fewest` are given.

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
        """The request, in the form of the site's allocator."""
    @property
    def wanted(self) -> int:
        """How many processors it is."""
    @property
    def nodes(self) -> int:
        """How many the site has."""
    @property
    def running(self) -> int:
        """How many jobs run."""
    @property
    def waiting(self) -> int:
        """How many wait, this one included."""

@final
class Run:
    """A job that runs, or has just ended: what observers and metrics are given.

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
        """Its place in the order of arrival, by which a `Cluster` calls it."""
    @property
    def job(self) -> Job:
        """The job."""
    @property
    def site(self) -> int:
        """The index of its site."""
    @property
    def placement(self) -> Placement:
        """The processors that it holds."""
    @property
    def asked(self) -> int:
        """How many processors it asked for."""
    @property
    def held(self) -> int:
        """How many it holds."""
    @property
    def start(self) -> float:
        """When it started."""
    @property
    def expected_end(self) -> float:
        """When it was expected to end, by its estimate."""
    @property
    def wait(self) -> float:
        """For how long it waited, the time of earlier runs left out."""
    @property
    def stretch(self) -> float:
        """How many times longer than it asked for it was to run when it started."""
    @property
    def rate(self) -> float:
        """How fast it works: 1, but for schedulers that resize jobs."""
    @property
    def dispersal(self) -> float:
        """How far its processors are spread."""
    @property
    def interruptions(self) -> int:
        """How often it was interrupted."""
    @property
    def lost(self) -> float:
        """How much of the time of this run was in vain, because it was interrupted."""

@final
class State:
    """The machine over a span of time in which nothing happened: what `elapsed` of an observer is given.

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
        """Processors of the whole machine."""
    @property
    def held(self) -> int:
        """Processors that jobs held."""
    @property
    def asked(self) -> int:
        """Processors that those jobs had asked for."""
    @property
    def surplus(self) -> int:
        """Processors that jobs held beyond what they had asked for."""
    @property
    def down(self) -> int:
        """Processors that were out of service."""
    @property
    def asleep(self) -> int:
        """Processors that were asleep."""
    @property
    def power(self) -> float:
        """What the machine took, in watts, where a study says what processors take."""
    @property
    def waiting(self) -> int:
        """Jobs that waited."""
    @property
    def running(self) -> int:
        """Jobs that ran."""
    @property
    def blocked_by_shape(self) -> bool:
        """Whether the oldest waiting job asked for no more processors than were free on some site."""

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
