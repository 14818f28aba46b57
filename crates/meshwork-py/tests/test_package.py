"""`import meshwork` loads little, and has all public names."""

from __future__ import annotations

import subprocess
import sys

import pytest

import meshwork as mw
from meshwork import _meshwork


def test_every_public_name_is_there() -> None:
    for name in mw.__all__:
        assert getattr(mw, name) is getattr(mw, name), name
        assert name in dir(mw)
    compiled = {name for name in mw.__all__ if hasattr(_meshwork, name) and name not in mw._HOME}  # type: ignore[attr-defined]
    assert set(mw._HOME) == set(mw.__all__) - compiled  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="module 'meshwork' has no attribute 'Studie'"):
        mw.Studie  # type: ignore[attr-defined]  # noqa: B018


def test_importing_loads_nothing_that_is_not_asked_for() -> None:
    code = """
import sys
before = set(sys.modules)
import meshwork
print(*sorted(name for name in set(sys.modules) - before))
"""
    said = subprocess.run([sys.executable, "-I", "-c", code], check=True, capture_output=True, text=True).stdout
    assert set(said.split()) <= {"__future__", "meshwork", "meshwork._meshwork"}
