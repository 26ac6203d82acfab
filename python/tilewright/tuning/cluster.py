"""Ray as an executor. Dask has one of its own: `distributed.Client.get_executor()`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from typing import Any

from ..errors import TilewrightError

__all__ = ["RayExecutor"]


def _call(fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    return fn(*args, **kwargs)


class RayExecutor(Executor):
    """Runs functions as tasks of the Ray cluster that `ray.init` connected this process to.

    `cpus` and `gpus` are what Ray sets aside for each task. A task whose worker vanished raises Ray's error and is not
    run again by Ray: `tune` does that, and keeps a record of it.

    Ray starts its workers at a niceness of 15, so that on a busy machine they hardly run. Where they measure, start Ray
    with the environment variable `RAY_worker_niceness=0`.

    Raises TilewrightError where Ray is not installed or not started.

    >>> with RayExecutor(gpus=1) as executor:                                  # doctest: +SKIP
    ...     result = tw.tune([C], "cuda", executor=executor, workers=8)
    """

    def __init__(self, cpus: float = 1, gpus: float = 0) -> None:
        try:
            import ray  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise TilewrightError("expected Ray, got none: pip install ray") from None
        if not ray.is_initialized():
            raise TilewrightError("expected a Ray cluster, got none: call ray.init() first")
        self._ray, self._options = ray, {"num_cpus": cpus, "num_gpus": gpus, "max_retries": 0}
        self._references: list[Any] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The future of the call ``fn(*args, **kwargs)`` in a task of Ray's."""
        # Ray takes functions of Python's alone, and an executor any callable.
        reference = self._ray.remote(**self._options)(_call).remote(fn, args, kwargs)
        self._references.append(reference)
        return reference.future()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Waits for the tasks (`wait`), or cancels them (`cancel_futures`). The cluster stays."""
        if cancel_futures:
            for reference in self._references:
                self._ray.cancel(reference)
        elif wait and self._references:
            self._ray.wait(self._references, num_returns=len(self._references))
        self._references.clear()
