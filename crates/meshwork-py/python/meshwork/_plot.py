"""Plots of results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ._errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._table import Table


class Figure(NamedTuple):
    """A figure of the report; a notebook shows it.

    Examples
    --------
    >>> import meshwork as mw
    >>> study = mw.Study(
    ...     machine=mw.flat(8), workload={"name": "lublin", "jobs": 20}, metrics=["wait"], replications=2,
    ...     sweep={"scheduler": ["fcfs", "easy"]},
    ... )
    >>> study.run().figure().svg.startswith("<svg")
    True
    """

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg


def metric(
    summary: Table,
    swept: list[str],
    name: str,
    x: str | None,
    hue: str | None,
    where: Mapping[str, object],
    ax: Axes | None,
) -> Axes:
    """Draw a metric of a summary."""
    known = dict.fromkeys(str(row["metric"]) for row in summary)
    if name not in known:
        raise InputError(f"there is no metric {name!r}; there are {', '.join(known)}")
    for key in [key for key in (x, hue, *where) if key is not None]:
        if key not in swept:
            raise InputError(f"`{key}` is not swept; what is swept is {', '.join(swept) or 'nothing'}")
    rows = [row for row in summary if row["metric"] == name]
    rows = [row for row in rows if all(row[key] == value for key, value in where.items())]
    if not rows:
        raise InputError(f"there is no scenario where {dict(where)!r}")
    free = [key for key in swept if key not in (x, hue) and len({str(row[key]) for row in rows}) > 1]
    if x is None and free:
        numeric = [key for key in free if all(isinstance(row[key], (int, float)) for row in rows)]
        x = (numeric or free)[0]
        free.remove(x)
    if hue is None and free:
        hue = free.pop(0)
    if free:
        raise InputError(f"`{free[0]}` has several values: say which by `where`, or make it `x` or `hue`")
    return _drawn(rows, name, x, hue, ax)


def _drawn(rows: list[dict[str, Any]], name: str, x: str | None, hue: str | None, ax: Axes | None) -> Axes:
    if ax is None:
        from matplotlib.figure import Figure as Canvas

        # Use pyplot if it can be imported, else a figure that pyplot does not know.
        try:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots()
        except ImportError:
            ax = Canvas().subplots()
    lines: dict[object, list[dict[str, Any]]] = {}
    for row in rows:
        lines.setdefault(None if hue is None else row[hue], []).append(row)
    words = x is not None and any(not isinstance(row[x], (int, float)) for row in rows)
    for value, line in lines.items():
        at: list[Any] = [0 if x is None else str(row[x]) if words else row[x] for row in line]
        mean = [float("nan") if row["mean"] is None else row["mean"] for row in line]
        half = [row["half_width"] or 0.0 for row in line]
        style = {"linestyle": "none"} if words or x is None else {}
        ax.errorbar(at, mean, yerr=half, marker="o", capsize=3, label=None if hue is None else str(value), **style)  # type: ignore[arg-type, unused-ignore]
    ax.set_ylabel(name)
    if x is not None:
        ax.set_xlabel(x)
    if hue is not None:
        ax.legend(title=hue)
    return ax
