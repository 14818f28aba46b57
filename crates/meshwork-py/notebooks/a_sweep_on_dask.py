# %% [markdown]
# # A sweep on Dask
#
# A study that is too large for one computer runs on whatever workers Dask has: processes of this computer, as here, or a
# `SLURMCluster` of dask-jobqueue, an `SSHCluster`, or one that is there already (`Client("tcp://…")`). All that they need is
# the same wheel, and a folder that all of them see.
#
#     pip install meshwork distributed

# %%
import tempfile
from pathlib import Path

from distributed import Client, LocalCluster

import meshwork as mw

study = mw.Study(
    name="how-much-load",
    machine=mw.torus(8, 8, 4),
    workload={"name": "lublin", "jobs": 150},
    metrics=["wait", "utilization"],
    replications=3,
    sweep={"allocator": ["first_fit", "best_fit"], "workload.arrival_scale": [0.6, 0.8, 1.0]},
)
folder = Path(tempfile.mkdtemp()) / "results"

# %% [markdown]
# `client.get_executor()` is what `meshwork.sweep` wants. If a worker dies its shard starts again on another one, and what it
# had ended stays.

# %%
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1")
    with cluster, Client(cluster) as client:
        results = mw.sweep(study, folder, client.get_executor())
    print(mw.status(folder))
    print(results.summary)

    # %% [markdown]
    # The folder is that of a local run, byte for byte: `report`, `check` and all else work on it, and so does a larger study
    # of the same scenarios, which runs only what is missing.

    # %%
    study.run(out=folder.parent / "local")
    same = [
        (folder / name).read_bytes() == (folder.parent / "local" / name).read_bytes()
        for name in ("runs.jsonl", "summary.csv")
    ]
    assert all(same)
    results.plot("wait", x="workload.arrival_scale", hue="allocator")
