# %% [markdown]
# # A first comparison
#
# Does backfilling pay on a mesh, and does it depend on how processors are allocated?

# %%
import meshwork as mw

study = mw.Study(
    name="backfilling",
    machine=mw.mesh(16, 16),
    workload={"name": "lublin", "jobs": 300, "arrival_scale": 0.3},
    metrics=["wait", "utilization"],
    replications=4,
    sweep={"scheduler": ["fcfs", "easy"], "allocator": ["first_fit", "best_fit"]},
    compare={"scheduler": "fcfs"},
)
results = study.run(threads=2)
results.summary

# %% [markdown]
# The intervals hold for the means. Differences on the same jobs are told more sharply:

# %%
comparison = results.comparison
assert comparison is not None
waits = [row for row in comparison if row["metric"] == "wait" and row["scheduler"] == "easy"]
for row in waits:
    print(row["allocator"], row["difference"], "±", row["half_width"])
assert all(row["difference"] < 0 for row in waits), "backfilling shortens the mean wait"

# %%
axes = results.plot("wait", x="scheduler", hue="allocator")
assert len(axes.containers) == 2

# %% [markdown]
# The page has all of it.

# %%
page = results.report(results.folder / "report.html")
assert page.stat().st_size > 10_000
