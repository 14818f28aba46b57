"""Helpers shared by the tests of sweeps on engines."""

from __future__ import annotations

from pathlib import Path

import meshwork as mw


def study() -> mw.Study:
    """Return a study that runs for some seconds, so that a process can be killed meanwhile."""
    return mw.Study(
        name="spread",
        machine=mw.mesh(32, 32),
        workload={
            "name": "synthetic",
            "load": 0.5,
            "sizes": "uniform",
            "runtimes": {"name": "exponential", "mean": 5.0},
        },
        jobs=4000,
        metrics=["wait", "utilization"],
        replications=60,
        sweep={"allocator": ["first_fit", "frame_sliding"], "workload.load": [0.3, 0.5]},
    )


def assert_same(shared: Path, local: Path) -> None:
    """Assert that the files of two results folders have the same bytes."""
    names = {path.name for path in local.iterdir() if path.is_file()}
    assert {path.name for path in shared.iterdir() if path.is_file()} == names
    for name in names:
        assert (shared / name).read_bytes() == (local / name).read_bytes(), name


def has_ended(folder: Path) -> list[Path]:
    """Return the unfinished segments in which a run has ended."""
    return [part for part in (folder / "runs").glob("*.jsonl.part") if b'"ended"' in part.read_bytes()]
