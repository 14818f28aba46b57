"""Choices: resumed, constrained, validated on held-out weeks, and refused in one sentence."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import meshwork as mw

RACE: dict[str, Any] = {
    "machine": mw.flat(16),
    "workload": {
        "name": "synthetic",
        "load": 0.7,
        "sizes": "uniform",
        "runtimes": {"name": "exponential", "mean": 5.0},
    },
    "measure": {"jobs": 200, "metrics": ["wait", "utilization"]},
    "sweep": {"scheduler": ["fcfs", "easy", "sjf"]},
}


def test_a_choice_goes_on_where_it_was(tmp_path: Path) -> None:
    study = mw.Study(**RACE)
    whole = mw.choose(study, within="10%", baseline={"scheduler": "fcfs"}, out=tmp_path / "whole")
    short = mw.choose(study, within="10%", baseline={"scheduler": "fcfs"}, out=tmp_path / "short", budget=30)
    assert short.bound is None
    assert short.details["stopped"] == "budget"
    assert "There is no guarantee yet" in short.details["guarantee"]
    again = mw.choose(study, within="10%", baseline={"scheduler": "fcfs"}, out=tmp_path / "short")
    assert again == whole
    assert again.confirmed
    for name in ("choice.json", "winner.toml", "runs.jsonl"):
        assert (tmp_path / "short" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert again.bound is not None
    assert again.bound <= 0.1
    winner = mw.Study.from_toml(tmp_path / "whole" / "winner.toml", set={"replications": 2})
    assert len(winner) == 1
    assert winner.run().failures == []


def test_constraints_and_other_metrics_decide(tmp_path: Path) -> None:
    study = mw.Study(**RACE)
    free = mw.choose(study, within="10%", second="utilization")
    waits = {own["swept"]["scheduler"]: own["mean"] for own in free.details["candidates"]}
    limit = (waits["fcfs"] + min(waits.values())) / 2
    limited = mw.choose(study, within="10%", constraint=f"wait <= {limit}")
    fates = {own["swept"]["scheduler"]: own["fate"] for own in limited.details["candidates"]}
    assert fates["fcfs"] in ("unfit", "beaten")
    assert limited.swept is not None
    assert limited.swept["scheduler"] != "fcfs"


def log(path: Path, weeks: int) -> Path:
    """Write a log of so many weeks."""
    draws, lines, at, number = random.Random(4), ["; MaxProcs: 16"], 0, 0
    while at < weeks * 604_800:
        number += 1
        size, run, user = draws.randint(1, 12), draws.randint(1, 30_000), draws.randint(0, 8)
        lines.append(f"{number} {at} -1 {run} {size} -1 -1 {size} {run} -1 1 {user} 1 1 1 1 -1 -1")
        at += draws.randint(1, 36_000)
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_end_of_a_log_is_held_out(tmp_path: Path) -> None:
    study = mw.Study(
        machine=mw.flat(16),
        workload={
            "name": "swf",
            "path": str(log(tmp_path / "log.swf", 12)),
            "resample": {"by": "users", "weeks": 2},
        },
        measure={"metrics": ["wait"]},
        sweep={"scheduler": ["fcfs", "easy"]},
    )
    choice = mw.choose(study, within="5%", hold_out="3w", baseline={"scheduler": "fcfs"})
    assert [gain["on"] for gain in choice.details["gains"]] == ["fresh replications", "held-out weeks"]
    assert choice.swept == {"scheduler": "easy"}
    with pytest.raises(mw.InputError, match=r"--hold-out 20w: the log has only .* days, so nothing is left"):
        mw.choose(study, hold_out="20w")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"metric": "waits"}, r"--metric waits: unknown metric `waits` \(did you mean `wait`\?"),
        ({"within": "0%"}, "--within 0%: must be a share above 0 and below 100 %"),
        ({"confidence": 1.5}, "--confidence 1.5: must be at least 50 % and below 100 %"),
        ({"budget": "soon"}, "--budget soon: must be a number of runs, or a time"),
        ({"constraint": "utilization >= 99 %"}, "no candidate meets `utilization >= 99 %`: the nearest is"),
        ({"baseline": {"scheduler": "edf"}}, "--baseline scheduler=.*edf.*: must be one of the swept values"),
        ({"hold_out": "8w"}, "--hold-out 8w: the end of a log can be kept back, but the workload `synthetic` reads none"),
    ],
)
def test_bad_input_is_one_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(mw.InputError, match=sentence) as caught:
        mw.choose(mw.Study(**RACE), **options)
    assert "\n" not in str(caught.value)
