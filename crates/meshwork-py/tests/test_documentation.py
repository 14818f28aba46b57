"""The chapter of the manual and the notebooks run without changes."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import runpy
from pathlib import Path

import pytest

import meshwork as mw
from meshwork import _meshwork

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


STUB = Path(_meshwork.__file__).parent / "_meshwork.pyi"


def said_in_the_stub() -> list[tuple[str, str]]:
    """Return every name of the compiled module that the stub documents, with its docstring."""
    said = []
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            members = [one for one in node.body if isinstance(one, ast.FunctionDef)]
            names: list[tuple[str, ast.ClassDef | ast.FunctionDef]] = [(node.name, node)]
            names += [(f"{node.name}.{one.name}", one) for one in members]
            said += [(name, doc) for name, one in names if (doc := ast.get_docstring(one)) and name != "Pool"]
    return said


@pytest.mark.parametrize(("name", "doc"), said_in_the_stub(), ids=[name for name, _ in said_in_the_stub()])
def test_the_compiled_module_says_what_its_stub_says(name: str, doc: str) -> None:
    first, *rest = name.split(".")
    found: object = inspect.getattr_static(getattr(_meshwork, first), rest[0]) if rest else getattr(_meshwork, first)
    assert " ".join((inspect.getdoc(found) or "").split()) == " ".join(doc.split())


def test_the_stub_describes_all_that_is_public() -> None:
    described = {name for name, _ in said_in_the_stub()}
    for name in mw.__all__:
        if (
            hasattr(_meshwork, name)
            and isinstance(getattr(mw, name), type)
            and getattr(mw, name) is getattr(_meshwork, name)
        ):
            members = {f"{name}.{member}" for member in vars(getattr(mw, name)) if not member.startswith("_")}
            assert {name, *members} <= described, {name, *members} - described


def public() -> list[tuple[str, object]]:
    found = [(f"meshwork.{name}", getattr(mw, name)) for name in mw.__all__ if not name.startswith("_")]
    for module in ("gym", "testing", "batsim", "ray"):
        own = vars(importlib.import_module(f"meshwork.{module}")).items()
        here = [(name, one) for name, one in own if getattr(one, "__module__", "") == f"meshwork.{module}"]
        found += [(f"meshwork.{module}.{name}", one) for name, one in here if not name.startswith("_")]
    found = [(name, one if inspect.isroutine(one) or isinstance(one, type) else type(one)) for name, one in found]
    return [(name, one) for name, one in found if name not in ("meshwork.batsim.nodes_of", "meshwork.batsim.intervals")]


@pytest.mark.parametrize(("name", "one"), public(), ids=[name for name, _ in public()])
def test_every_public_name_has_an_example_that_runs(name: str, one: object) -> None:
    """Every public name has an example; pytest --doctest-modules runs the examples."""
    words = inspect.getdoc(one) or ""
    methods = [inspect.getdoc(method) or "" for method in vars(one).values()] if isinstance(one, type) else []
    assert any(">>>" in said for said in (words, *methods)), name
