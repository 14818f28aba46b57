from __future__ import annotations

from typing import Any

import matplotlib
import pytest

import meshwork as mw

matplotlib.use("Agg")

SYNTHETIC: dict[str, Any] = {
    "name": "synthetic",
    "load": 0.5,
    "sizes": "uniform",
    "runtimes": {"name": "exponential", "mean": 5.0},
}


@pytest.fixture
def small() -> dict[str, Any]:
    """Keys of a study that takes little time."""
    return {"machine": mw.mesh(8, 8), "workload": SYNTHETIC, "jobs": 200, "metrics": ["wait", "utilization"]}
