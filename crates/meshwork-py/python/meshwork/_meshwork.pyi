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
def rows_as_csv(source: object, columns: Sequence[str], what: str) -> str: ...

@final
class Buffer:
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...

@final
class Topology:
    """How the processors of a machine are wired, and where each of them lies."""

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
    """The processors that are held together: blocks, in rank order."""

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
    """A site as a strategy sees it: arrays that look at memory which is kept up to date, without copies."""

    @property
    def free(self) -> NDArray[numpy.bool_]:
        """Which nodes are free, by coordinates."""
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
    """The stream of random numbers of a strategy."""

    def random(self) -> float:
        """Draw a number, uniform on (0, 1)."""
    def below(self, bound: int) -> int:
        """Draw a whole number, uniform from 0 to below the bound."""

@final
class Ask:
    """A question for a place."""

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
    """A job that waits; its run time nobody knows."""

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
        """Whose it is, where the workload knows and something is measured by user."""
    @property
    def group(self) -> str | None:
        """The group of its user, likewise."""

@final
class Guard:
    """A promise to a waiting job, which jobs that are started beside it do not delay."""

    @property
    def at(self) -> float:
        """When the job is promised to start."""
    @property
    def site(self) -> int:
        """On which site."""

@final
class Cluster:
    """The machine and its queue, which can be asked during a call of `schedule`. Jobs are called by their place in the
    order of arrival.
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
        """Give a waiting job."""
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
    """What the sites offer a job, which can be asked during a call of `select`."""

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
    """What a sizing is asked."""

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
        max_memory: int | None,
        tell: Callable[..., None] | None,
    ) -> Results: ...

@final
class Results:
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
