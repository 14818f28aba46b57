# %% [markdown]
# # A log
#
# What is in a log, and how a machine would have served it. The log is generated here; one of your own is a path.

# %%
import tempfile
from pathlib import Path

import meshwork as mw
from meshwork import batsim

folder = Path(tempfile.mkdtemp())
log = folder / "month.swf.gz"
about = mw.trace.generate(log, jobs=1000, processors=128, load=0.7, seed=3)
print(about["jobs"], "jobs, load", about["load"])
assert about["jobs"] == 1000

# %% [markdown]
# Only its first half, as a table of jobs that pandas can read and change:

# %%
mw.trace.convert(log, folder / "half.csv", first_jobs=500)

import pandas as pd

jobs = pd.read_csv(folder / "half.csv")
wide = jobs[jobs["nodes"] >= 8]
print(len(wide), "of", len(jobs), "jobs ask for 8 processors or more")

# %%
results = mw.Study(machine=mw.torus(8, 4, 4), workload=wide, metrics=["wait"], sweep={"scheduler": ["fcfs", "easy"]}).run()
fcfs, easy = results.summary["mean"]
print("mean wait:", fcfs, easy)
assert easy <= fcfs

# %% [markdown]
# Who held what, for evalys or any reader of Batsim's `jobs.csv`:

# %%
path = batsim.write_jobs(results, folder / "jobs.csv", scenario=2)
assert len(pd.read_csv(path)) == len(wide)
