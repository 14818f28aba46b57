"""Exceptions: each has the sentence that the command would have ended with.

Examples
--------
>>> import meshwork as mw
>>> mw.Pool(mw.mesh(4, 4), allocator="first_fitt")
Traceback (most recent call last):
    ...
meshwork.InputError: unknown allocator `first_fitt` (did you mean `first_fit`? known: ...
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._study import Results


class MeshworkError(Exception):
    """What every exception of Meshwork is.

    Its text is one sentence: what was given, what would have been right, and where.
    """


class InputError(MeshworkError, ValueError):
    """What was given is wrong: a name, a key, a value, a file, or a table."""


class RunError(MeshworkError, RuntimeError):
    """Something failed on the way.

    Attributes
    ----------
    results : Results or None
        What came of the runs that did not fail, where some did not.
    """

    results: Results | None = None


class StrategyError(RunError):
    """A strategy in Python raised, or gave what cannot be.

    What it raised is the cause, with its traceback; the sentence says which strategy it was, what it was asked, and in
    which run.
    """


# A traceback names them as a program does that catches them.
for _error in (MeshworkError, InputError, RunError, StrategyError):
    _error.__module__ = "meshwork"
