"""Input tables of jobs: Arrow streams, data frames, and mappings of columns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _meshwork as _native
from ._errors import InputError


def is_table(value: object) -> bool:
    """Whether a value is a table of jobs, and not the name or the parameters of a workload."""
    if hasattr(value, "__arrow_c_stream__") or hasattr(value, "to_csv"):
        return True
    # Parameters of a workload come with its `name`, and none of them is called `submit`.
    return isinstance(value, Mapping) and ("submit" in value or ("runtime" in value and "name" not in value))


def csv_of(source: Any, what: str) -> str:
    """Return the columns of a table of jobs that studies read, as CSV.

    A warning names the columns that are not read.

    Raises
    ------
    InputError
        If a required column is missing, a column is misspelt or cannot be read, or a row is not a valid job.
    """
    text, others = _read(source, what)
    if others:
        import warnings

        warnings.warn(f"{what}: these columns are not read: {', '.join(others)}", stacklevel=4)
    _native.check_jobs(text, what)
    return text


def _read(source: Any, what: str) -> tuple[str, list[str]]:
    if hasattr(source, "__arrow_c_stream__"):
        try:
            return _native.rows_as_csv(source, what)
        except InputError:
            raise
        except Exception:
            # pandas provides Arrow only if pyarrow is installed, and fails for columns of mixed types.
            if not hasattr(source, "to_csv"):
                raise
    names = source if isinstance(source, Mapping) else source.columns
    read, others = _native.job_columns([str(name) for name in names], what)
    return _csv_of_columns({name: source[name] for name in read}, what), others


def _csv_of_columns(source: Mapping[str, Any], what: str) -> str:
    import csv
    import io

    columns: dict[str, list[Any]] = {}
    for name, values in source.items():
        dimensions = getattr(values, "ndim", 1)
        if dimensions != 1:
            raise InputError(
                f"{what}: the column `{name}` has {dimensions} dimensions, but a column has one: shape {tuple(values.shape)}"
            )
        kind = getattr(getattr(values, "dtype", None), "kind", "f")
        if kind not in "iufOUTMmb":
            raise InputError(
                f"{what}: the column `{name}` holds {values.dtype}, but must hold numbers, dates, lengths of time, "
                "flags or text"
            )
        if kind in "Mm" and not hasattr(values, "iloc"):
            # Otherwise NumPy would convert nanoseconds to whole numbers.
            values = values.astype("datetime64[us]" if kind == "M" else "timedelta64[us]")
        columns[name] = [_cell(value) for value in values]
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        text = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise InputError(f"{what}: its columns are of different lengths: {text}")
    lines = io.StringIO()
    # Text is quoted, so that none is read as a comment.
    writer = csv.writer(lines, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return lines.getvalue()


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return _native.text_cell(value or "")
    try:
        # Only NaN differs from itself.
        is_missing = bool(value != value)
    except TypeError:
        # `pandas.NA` has no truth value.
        is_missing = True
    if is_missing:
        return ""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool):
        return str(value).lower()
    if hasattr(value, "total_seconds"):
        return value.total_seconds()
    return value.isoformat() if hasattr(value, "isoformat") else value


def written(source: Any, folder: Path, what: str) -> tuple[str, Path]:
    """Write a table of jobs into a file whose name is a digest of the content, so that equal tables are one file."""
    import hashlib

    text = csv_of(source, what).encode()
    name = f"jobs-{hashlib.sha256(text).hexdigest()[:16]}.csv"
    path = folder / name
    path.write_bytes(text)
    return name, path
