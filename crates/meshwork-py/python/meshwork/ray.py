"""An executor on a cluster of Ray, for `meshwork.sweep`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any


class RayExecutor(Executor):
    """Runs each call as a task of Ray, on the cluster that `ray.init` has joined.

    A task whose node fails is run again elsewhere, without a limit on attempts.

    Parameters
    ----------
    **options
        Options of `ray.remote`, such as `num_cpus`.

    Examples
    --------
    >>> import meshwork as mw, ray  # doctest: +SKIP
    >>> from meshwork.ray import RayExecutor
    >>> _ = ray.init(address="auto")  # doctest: +SKIP
    >>> results = mw.sweep(study, "spread", RayExecutor(num_cpus=1))  # doctest: +SKIP
    """

    def __init__(self, **options: Any) -> None:
        self._options = {"max_retries": -1, **options}

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a call as a task of Ray."""
        import importlib

        # Imported by name, because this module is called `ray` as well.
        ray: Any = importlib.import_module("ray")

        task: Future[Any] = ray.remote(**self._options)(fn).remote(*args, **kwargs).future()
        return task
