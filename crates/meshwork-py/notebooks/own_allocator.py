# %% [markdown]
# # An allocator of one's own
#
# Free nodes nearest to the middle of what is free: written in ten lines, tried, and compared.

# %%
from typing import Any

import numpy as np

import meshwork as mw
from meshwork.testing import check_allocator


@mw.register
class Middle:
    """The free nodes nearest to the middle of all free nodes."""

    asks, finds, stateless, goes_by_free_nodes = "nodes", "any_nodes", True, True
    serves = ("mesh",)

    def choose(self, ask: Any) -> Any:
        """Take the nearest."""
        free = np.argwhere(ask.site.free)
        distance = np.abs(free - free.mean(axis=0)).sum(axis=1)
        nearest = free[np.argsort(distance, kind="stable")[: ask.nodes]]
        return np.ravel_multi_index(nearest.T, ask.site.dims, order="F")


# %% [markdown]
# It keeps the rules that the allocators of the program keep.

# %%
tried = check_allocator(Middle)
print(tried)
assert tried.questions > 1000

# %% [markdown]
# How far are the processors of a job from one another, beside other allocators that scatter?

# %%
results = mw.Study(
    machine=mw.mesh(16, 16),
    workload={"name": "lublin", "jobs": 200, "arrival_scale": 0.2},
    metrics=["dispersal", "wait"],
    replications=3,
    sweep={"allocator": ["middle", "mc1x1", "naive", "random"]},
).run()
spread = {row["allocator"]: row["mean"] for row in results.summary if row["metric"] == "dispersal"}
print(spread)
assert spread["middle"] < spread["random"]
