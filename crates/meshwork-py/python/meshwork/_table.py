"""Tables of results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import _meshwork as _native

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars

_SHOWN = 20
_WIDEST = 48


class Table:
    """A table: named columns of one length.

    A table is passed without a copy to programs that read Arrow: `pyarrow.table(table)`, `polars.DataFrame(table)`,
    `duckdb.from_arrow(table)`. A notebook shows it, and it can be pickled.

    Examples
    --------
    >>> import meshwork as mw
    >>> table = mw.list("selector")
    >>> table.column_names[:2], len(table) > 5
    (['kind', 'name'], True)
    >>> table.row(0)["name"]
    'first_fit'
    """

    def __init__(self, native: _native.Table) -> None:
        self._native = native

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self._native.column_names

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, name: str) -> numpy.ndarray[Any, Any]:
        """Return a column as an array of NumPy; missing numbers are NaN, missing texts `None`.

        Raises
        ------
        KeyError
            If there is no such column; the message lists the columns.
        """
        import numpy

        values = self._native.values(name)
        if not isinstance(values, list):
            return numpy.asarray(values)
        if all(value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)) for value in values):
            return numpy.array([numpy.nan if value is None else value for value in values], dtype=float)
        return numpy.array(values, dtype=bool if all(isinstance(value, bool) for value in values) else object)

    def row(self, index: int) -> dict[str, Any]:
        """Return a row as a mapping of column names to values.

        Raises
        ------
        IndexError
            If the table has no row of this index.
        """
        if not 0 <= index < len(self):
            raise IndexError(f"there is no row {index}: the table has {len(self)}")
        return dict(zip(self.column_names, self._native.row(index), strict=True))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        names = self.column_names
        for index in range(len(self)):
            yield dict(zip(names, self._native.row(index), strict=True))

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return all rows, each as a mapping of column names to values."""
        return list(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame of pandas; by means of pyarrow if that is installed, which is faster."""
        import pandas

        try:
            import pyarrow
        except ImportError:
            return pandas.DataFrame({name: self[name] for name in self.column_names})
        frame: pandas.DataFrame = pyarrow.table(self._native).to_pandas()
        return frame

    def to_polars(self) -> polars.DataFrame:
        """Return a data frame of polars."""
        import polars

        return polars.DataFrame(self._native)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def _cells(self) -> list[list[str]]:
        return [[_shown(cell) for cell in self._native.row(row)] for row in range(min(len(self), _SHOWN))]

    def _more(self) -> str:
        return f"… and {len(self) - _SHOWN} more rows" if len(self) > _SHOWN else ""

    def __repr__(self) -> str:
        lines = [self.column_names, *self._cells()]
        widths = [max(len(line[at]) for line in lines) for at in range(len(self.column_names))]
        text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
        return "\n".join([*text, self._more()]).rstrip()

    def _repr_html_(self) -> str:
        import html

        def line(cells: list[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        body = "".join(line(cells, "td") for cells in self._cells())
        more = f"<p>{self._more()}</p>" if self._more() else ""
        return f"<table><thead>{line(self.column_names, 'th')}</thead><tbody>{body}</tbody></table>{more}"


def _shown(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.6g}"
    text = str(cell)
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
