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

    Examples
    --------
    >>> import meshwork as mw
    >>> issubclass(mw.InputError, mw.MeshworkError), issubclass(mw.RunError, mw.MeshworkError)
    (True, True)
    """


class InputError(MeshworkError, ValueError):
    """What was given is wrong: a name, a key, a value, a file, or a table.

    Examples
    --------
    >>> import meshwork as mw
    >>> mw.Pool(mw.mesh(4, 4)).allocate("many")
    Traceback (most recent call last):
        ...
    meshwork.InputError: the request is 'many', but must be a number of processors such as 7, ...
    """


class RunError(MeshworkError, RuntimeError):
    """Something failed on the way.

    Attributes
    ----------
    results : Results or None
        What came of the runs that did not fail, where some did not.

    Examples
    --------
    >>> import meshwork as mw
    >>> jobs = {"submit": [0, 1], "runtime": [1, -1], "nodes": [1, 1]}
    >>> try:
    ...     mw.Study(machine=mw.flat(8), workload=jobs, sweep={"seed": [1, 2]}).run()
    ... except mw.MeshworkError as error:
    ...     "runtime is -1, but must be" in str(error)
    True
    """

    results: Results | None = None


class StrategyError(RunError):
    """A strategy in Python raised, or gave what cannot be.

    What it raised is the cause, with its traceback; the sentence says which strategy it was, what it was asked, and in
    which run.

    Examples
    --------
    >>> import meshwork as mw
    >>> @mw.register
    ... class Raises:
    ...     "It raises."
    ...     def choose(self, ask):
    ...         return 1 // 0
    >>> try:
    ...     mw.Pool(mw.mesh(4, 4), "raises").allocate(3)
    ... except mw.StrategyError as error:
    ...     type(error.__cause__).__name__
    'ZeroDivisionError'
    """


# A traceback names them as a program does that catches them.
for _error in (MeshworkError, InputError, RunError, StrategyError):
    _error.__module__ = "meshwork"
