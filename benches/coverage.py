"""Measures how often the intervals of `meshwork ops compare` contain the true difference.

`python3 benches/coverage.py MESHWORK SITE OPTIONS... [--count 200]`: SITE is a folder that `ops import`
wrote, and OPTIONS are those of `ops compare` that name one other machine: a topology file, or `--conf FILE`.
COUNT perturbed copies of the history are made: each time of a job is moved by up to a second
before it is rounded, with the job's start and end together, since accounting knows whole seconds only. Each
copy is compared alone. The true difference of the mean wait is taken to be the mean over all copies.
Prints this mean, the standard deviation of the differences, the mean half width of the 95 % intervals, and the
share of the intervals that contain the mean.
"""

import csv
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path


def perturbed(rows, stream):
    """Return rows with times moved by up to a second, then rounded, in the order of submission."""
    moved = []
    for row in rows:
        own = dict(row)
        late = stream.uniform(-1, 1)
        for name in ("submit", "eligible"):
            own[name] = str(round(int(row[name]) + late)) if row[name] else ""
        if row["start"]:
            own["start"] = str(max(int(row["start"]), int(own["eligible"] or own["submit"])))
            runs = int(row["end"]) - int(row["start"]) + stream.uniform(-1, 1) if row["end"] else None
            own["end"] = str(int(own["start"]) + max(0, round(runs))) if runs is not None else ""
        moved.append(own)
    return moved


def main():
    """Print the coverage."""
    words = sys.argv[1:]
    count = 200
    if "--count" in words:
        place = words.index("--count")
        count = int(words[place + 1])
        del words[place : place + 2]
    meshwork, site, options = words[0], Path(words[1]), words[2:]
    stream = random.Random(1)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "site"
        shutil.copytree(site, copy)
        with open(site / "jobs.csv", newline="") as lines:
            rows = list(csv.DictReader(lines))
        for _ in range(count):
            with open(copy / "jobs.csv", "w", newline="") as lines:
                table = csv.DictWriter(lines, rows[0].keys(), lineterminator="\n")
                table.writeheader()
                table.writerows(perturbed(rows, stream))
            command = [meshwork, "ops", "compare", str(copy), *options, "--anyway", "--json"]
            said = subprocess.run(command, capture_output=True, text=True, check=True)
            wait = json.loads(said.stdout)["topologies"][-1]["differences"]["wait"]
            found.append((wait["mean"], wait["half_width"]))
    true = statistics.mean(mean for mean, _ in found)
    spread = statistics.stdev(mean for mean, _ in found)
    widths = [half for _, half in found if half is not None]
    inside = sum(half is not None and abs(mean - true) <= half for mean, half in found)
    print(f"difference {true:.2f} s, standard deviation {spread:.2f} s over {count} copies")
    print(f"mean half width {statistics.mean(widths):.2f} s; {100 * inside / count:.1f} % contain the difference")


if __name__ == "__main__":
    main()
