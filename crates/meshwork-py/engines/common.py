"""What the sweeps on engines have in common."""

from __future__ import annotations

from pathlib import Path

import meshwork as mw


def study() -> mw.Study:
    """Some seconds of runs, so that there is somebody to kill."""
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
    """Both folders of results have the same bytes."""
    names = {path.name for path in local.iterdir() if path.is_file()}
    assert {path.name for path in shared.iterdir() if path.is_file()} == names
    for name in names:
        assert (shared / name).read_bytes() == (local / name).read_bytes(), name


def has_ended(folder: Path) -> list[Path]:
    """Give the segments that are written now, and in which a run has ended."""
    return [part for part in (folder / "runs").glob("*.jsonl.part") if b'"ended"' in part.read_bytes()]
