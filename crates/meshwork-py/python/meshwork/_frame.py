"""Tables of jobs that come in: from whatever gives Arrow, from data frames, and from columns in a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _meshwork as _native
from ._errors import InputError

COLUMNS = (
    "job",
    "submit",
    "runtime",
    "estimate",
    "nodes",
    "block",
    "subcube",
    "user",
    "group",
    "application",
    "queue",
    "partition",
    "priority",
    "deadline",
    "after",
    "think",
    "wait",
)
"""The columns that are read of a table of jobs; all others are left alone."""


def is_table(value: object) -> bool:
    """Whether something is a table of jobs, and not the name or the parameters of a workload."""
    if hasattr(value, "__arrow_c_stream__") or hasattr(value, "to_csv"):
        return True
    # A workload's own parameters are named, and none of them is called `submit`.
    return isinstance(value, Mapping) and ("submit" in value or ("runtime" in value and "name" not in value))


def csv_of(source: Any, what: str) -> str:
    """Write a table of jobs as CSV, those of its columns that are read.

    Raises
    ------
    InputError
        If it has not the columns of a table of jobs, or one that cannot be read.
    """
    names = column_names(source)
    missing = [name for name in ("submit", "runtime") if name not in names]
    if missing or not {"nodes", "block", "subcube"} & set(names):
        raise InputError(
            f"{what}: a table of jobs has the columns submit, runtime and one of nodes, block and subcube, and perhaps "
            f"estimate, job, user and group; this one has {', '.join(names) or 'none'}"
        )
    if hasattr(source, "__arrow_c_stream__"):
        try:
            return _native.rows_as_csv(source, list(COLUMNS), what)
        except ImportError:
            # pandas hands out Arrow only where pyarrow is installed.
            pass
    if isinstance(source, Mapping):
        return _csv_of_columns(source, what)
    return str(source[[name for name in names if name in COLUMNS]].to_csv(index=False))


def column_names(source: Any) -> list[str]:
    """Give the names of the columns of a table."""
    if isinstance(source, Mapping):
        return [str(name) for name in source]
    for attribute in ("column_names", "columns"):
        names = getattr(source, attribute, None)
        if names is not None and not callable(names):
            return [str(getattr(name, "_name", name)) if not isinstance(name, str) else name for name in names]
    schema = getattr(source, "schema", None)
    if schema is not None and hasattr(schema, "names"):
        return [str(name) for name in schema.names]
    # Whatever it is, its stream says what it has.
    return list(COLUMNS)


def _csv_of_columns(source: Mapping[str, Any], what: str) -> str:
    import csv
    import io

    columns: dict[str, list[Any]] = {}
    for name in source:
        if name in COLUMNS:
            values = source[name]
            dimensions = getattr(values, "ndim", 1)
            if dimensions != 1:
                raise InputError(
                    f"{what}: the column `{name}` has {dimensions} dimensions, but a column has one: shape "
                    f"{tuple(values.shape)}"
                )
            kind = getattr(getattr(values, "dtype", None), "kind", "f")
            if kind not in "iufOUTMb":
                raise InputError(f"{what}: the column `{name}` holds {values.dtype}, but must hold numbers, dates or text")
            if kind == "M":
                values = values.astype("datetime64[us]")
            columns[name] = [_cell(value) for value in values]
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        text = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise InputError(f"{what}: its columns are of different lengths: {text}")
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return lines.getvalue()


def _cell(value: Any) -> Any:
    # What differs from itself is not a number.
    if value is None or value != value:
        return ""
    if not isinstance(value, str):
        value = value.item() if hasattr(value, "item") else value
        return value.isoformat() if hasattr(value, "isoformat") else value
    return value


def written(source: Any, folder: Path, what: str) -> tuple[str, Path]:
    """Write a table of jobs into a folder; the name says what is in it, so that equal tables are one."""
    import hashlib

    text = csv_of(source, what).encode()
    name = f"jobs-{hashlib.sha256(text).hexdigest()[:16]}.csv"
    path = folder / name
    path.write_bytes(text)
    return name, path
