"""The chapter of the manual and the notebooks run as they stand."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import meshwork as mw

ROOT = Path(__file__).parents[3]
NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.py"))


@pytest.mark.parametrize("page", ["docs/from-python.md", "README.md", "crates/meshwork-py/README.md"])
def test_the_blocks_of_a_page_run_one_after_the_other(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert blocks, page
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks).replace('"jobs": 2000', '"jobs": 200'), encoding="utf-8")
    runpy.run_path(str(script))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if notebook.stem == "a_sweep_on_dask":
        pytest.importorskip("distributed")
    runpy.run_path(str(notebook), run_name="__main__")


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) == 4


def test_every_public_name_has_its_place_in_the_reference() -> None:
    pages = (Path(__file__).parents[1] / "reference/pages").glob("*.md")
    named = set(
        re.findall(r"^::: (meshwork\S*)$", "".join(page.read_text(encoding="utf-8") for page in pages), re.MULTILINE)
    )
    wanted = {f"meshwork.{name}" for name in mw.__all__ if not name.startswith("_")}
    assert wanted <= named, wanted - named
    assert {"meshwork.gym", "meshwork.testing", "meshwork.batsim"} <= named
