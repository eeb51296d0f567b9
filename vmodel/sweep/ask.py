"""The question a program asks of many configurations: `run_sweep`."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from vmodel.sweep import engine
from vmodel.sweep.axis import axis, settled
from vmodel.sweep.engine import Sweep
from vmodel.sweep.grid import grid
from vmodel.sweep.store import Folder, assemble


def run_sweep(
    path: str | None = None,
    *,
    vary: Mapping[str, Any],
    columns: Iterable[str] | None = None,
    draws: int = 0,
    seed: int = 0,
    output: str | Path | None = None,
    workers: int = 1,
    scheduler: str | None = None,
    **settings: Any,
) -> Sweep:
    """Answer every combination of settings.

    path and settings: as for `predict`.  vary: name -> values, as an array, a list, or text as `vmodel sweep --vary`
    takes it.  columns: the answers wanted, by name, all but the regime if not given.  draws: for 90 % intervals by
    drawing costs instead of by derivatives.  output: a .parquet or .csv file to write too.  workers: processes;
    scheduler: a Dask cluster's address, or `local`.  Returns a Sweep whose columns are arrays.
    Raises ConfigError with every fault, EngineError where a chunk failed.
    """
    named = {} if path is None else {"path": path}
    g = grid({**named, **settings}, settled(axis(k, v) for k, v in vary.items()), columns, draws=draws, seed=seed)
    if output is None and workers == 1 and scheduler is None:
        return engine.in_memory(g)
    engine.check_memory(g)
    if scheduler is None:
        return _kept(g, engine.on_cores(workers) if workers > 1 else engine.here, output)
    with engine.cluster(scheduler) as client:
        return _kept(g, engine.on_dask(client), output)


def _kept(g: Any, runner: engine.Runner, output: str | Path | None) -> Sweep:
    """A sweep whose chunks a runner computes, in memory and in its file."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="vmodel-sweep-") as place:
        folder = Folder(Path(place))
        done = engine.run(g, folder, runner)
        if done.failures:
            raise done.failures[0]
        if output is not None:
            assemble(g, folder, [job.first for job in engine.jobs_of(g)], Path(output))
        return engine.from_folder(g, folder)
