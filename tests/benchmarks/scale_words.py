"""The page of what was measured beyond one machine's memory and cores, and what follows from it for more of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from scale_plan import plan

HEAD = """# How far does it scale beyond one machine's memory and cores?

On one machine it trains on a hundred million rows within 1.4 GB, and workers may die without changing a bit of the model.

The plan at the end estimates a billion rows on 64 workers: a long run uses them fully, a short one does not.

The machine has two cores (Intel Xeon, AVX-512) and no other load. The load next to a figure is that of the last
minute, of which this program causes 1 to 3. The command is `python tests/benchmarks/scale.py`, whose docstring explains each part.
"""


def page(kept: Mapping[str, Any]) -> str:
    """Return the page of the parts that have been measured."""
    parts = [_PARTS[name](kept[name]) for name in _PARTS if name in kept]
    if {"rows", "messages", "workers", "bytes"} <= kept.keys():
        parts.append(plan(kept))
    return "\n".join([HEAD, *parts])


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def _met(is_met: bool) -> str:
    return "reached" if is_met else "**not reached**"


def _spread(values: Sequence[float], digits: int = 1) -> str:
    return f"{median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def _kills(kept: Mapping[str, Any]) -> str:
    runs = kept["runs"]
    same, alone = sum(run["same"] for run in runs), sum(run["workers"] < 2 for run in runs)
    said = ", ".join(f"{run['t']}" for run in runs)
    return f"""## A worker is killed

**{same} of {len(runs)} models are bit-for-bit identical** although a worker was killed in each run. A run took
{_spread([run["seconds"] for run in runs])} s (median, least to most), mostly to wait for another process.

- One cluster of two processes made {len(runs)} runs one after the other (T = 40). In each a worker was ended with
  SIGKILL after a random iteration ({said}).
- Nothing waits for a worker to come back. {alone} of the runs began with one worker, whose death leaves none for a second or two.
- `distributed.LocalCluster` gives up a worker that dies again within 15 s (its
  `distributed.deploy.lost-worker-timeout`), and then has no worker left. Here that time is set to an hour.
"""


def _rows(kept: Mapping[str, Any]) -> str:
    s, size = kept["seconds"], kept["bytes"]
    run = s["all"] - s["labels"] - s["reading"]
    shares = table(
        ["rows of a row group", *kept["touched"]],
        [["share of the groups that hold a row that is read", *(f"{v:.1%}" for v in kept["touched"].values())]],
    )
    times = table(
        ["the labels", "the row groups touched", "the run", "all", "most memory", "AUC"],
        [
            [
                *(f"{value:.1f} s" for value in (s["labels"], s["reading"], run, s["all"])),
                f"{kept['peak'] / 1e9:.2f} GB",
                f"{kept['auc']:.3f}",
            ]
        ],
    )
    n, held = kept["n"], kept["held"]
    return f"""## {n:,} rows of Parquet

{times}
- The target of at most 2 GB of memory: {_met(kept["peak"] <= 2e9)}. {kept["empty"] / 1e9:.2f} GB are the program
  before it reads anything.
- A row takes 1 byte for its label, 1 for its class and 4 for its number, and 3 more while its class is found. The
  rest is one row group and {held:,} rows.
- The data are {n:,} x 18 float32 in 100 files of one row group each, {size / 1e9:.1f} GB, made in pieces and
  deleted afterwards. One row in 10,000 has a label. The files had just been written, and were in the system's cache.
- `QSGS2AUC(n_iter={kept["T"]}, tol=None)` ran once in a separate process, at load {kept["load"]:.1f}.

### Which row groups are read?

{kept["read"]} of {kept["parts"]} groups were read.
A pass reads every group once, unless a group has fewer than n / V rows, here {n // held:,}.

A group of g rows out of n is skipped only if none of its rows is read. With V random rows this is a share of exp(-V g / n).
Half of the V = {held:,} rows are 65,536 evenly spread ones, from which the kernel's "scale" follows. Files usually
have row groups of 100,000 rows and more. The pass then reads all columns it needs once, whatever the run: the
method saves memory. The same rows in smaller groups:

{shares}"""


def _bytes(kept: Mapping[str, Any]) -> str:
    rows = [
        [
            run["B"],
            run["m"],
            "directly" if run["direct"] else "through the scheduler",
            f"{run['payload']:,.0f}",
            f"{run['wire']:,.0f}",
            f"{run['wire'] / (1 if run['direct'] else 2):,.0f}",
            f"{run['target']:,}",
            _met(run["wire"] / (1 if run["direct"] else 2) <= run["target"]),
        ]
        for run in kept["runs"]
    ]
    where = "a separate loopback" if kept["own"] else "the machine's loopback, with whatever else used it"
    return f"""## Bytes of an iteration

An iteration of two worker processes and two sources sends this many bytes:

{
        table(
            [
                "B",
                "m",
                "messages go",
                "payload",
                "wire, all links",
                "wire, at a worker",
                "target 8 (B sources + 2 m)",
                "",
            ],
            rows,
        )
    }
- The counter of {
        where
    } gives the bytes from the second iteration to the last but one. They include all headers and acknowledgements. The
  heartbeats of as many idle seconds ({median(r["quiet"] for r in kept["runs"]):,.0f} B/s) are subtracted.
- A message to a worker goes through the scheduler unless the client has `direct_to_workers=True`. It is then on
  the wire twice, and counts once at a worker.
"""


def _messages(kept: Mapping[str, Any]) -> str:
    counts = sorted({run["workers"] for run in kept["runs"]})
    own = {n: [1e3 * run["seconds"] for run in kept["runs"] if run["workers"] == n] for n in counts}
    loads = [run["load"] for run in kept["runs"]]
    return f"""## How long an iteration's messages take

The table has the ms of an iteration with hardly any work (64 features, some 10,000 rows), median of {len(own[0])}
(least to most). Messages go through the scheduler, on two cores for all processes, at load {min(loads):.1f} to {max(loads):.1f}.

{table(["no worker: here", *(f"{n} worker{'s' * (n > 1)}" for n in counts[1:])], [[_spread(own[n]) for n in counts]])}"""


def _workers(kept: Mapping[str, Any]) -> str:
    own = {name: [run["seconds"] for run in kept["runs"] if run["name"] == name] for name in _names(kept)}
    begun = {name: median(run["begun"] for run in kept["runs"] if run["name"] == name) for name in own}
    loads = [run["load"] for run in kept["runs"]]
    each = [a / b / 2 for a, b in zip(own["1 process"], own["2 processes"], strict=True)]
    cores = [a / b / 2 for a, b in zip(own["here, 1 thread"], own["here, 2 threads"], strict=True)]
    reached, T = median(each) >= 0.85, kept["T"] / 1e3
    cpu = 1e3 * median(run["cpu"] for run in kept["runs"] if run["name"] == "2 processes") / kept["T"]
    both, alone = (2e3 * median(own["2 processes"]) / kept["T"], 1e3 * median(own["1 process"]) / kept["T"])
    longer = (median(own["1 process"]) - median(own["here, 1 thread"])) / T
    return f"""## Two processes against one, with {kept["m"]} features an iteration

The efficiency of two processes against one is {_spread(each, 2)}. The target of at least 0.85: {_met(reached)}.

{table(["", *own], [["iterations", *map(_spread, own.values())], ["before", *(f"{value:.1f}" for value in begun.values())]])}
- The rows are seconds of all iterations, median (least to most), and of the sharing out of rows before them.
- There are {kept["visited"]:,} visited rows of {kept["n"]:,}, with d = 18, m = {kept["m"]}, T = {kept["T"]}, B =
  {kept["B"]} and two sources. Each way had its turn {len(cores)} times or more, at load {min(loads):.1f} to {max(loads):.1f}.
- Two threads of one process reached {_spread(cores, 2)} in the same minutes, which is all that two cores give. Two processes have
  {median(each) / median(cores):.2f} of that.
- The process that drives the run takes {cpu:.1f} ms of CPU time an iteration for two workers, of the {both:.0f} ms
  of two cores. It makes the coefficients and the next block, and passes messages on.
- Workers with separate cores would not notice this, because they carry a block while the next one is made. One
  process takes {longer:.1f} ms of an iteration's {alone:.0f} longer than one thread here.
"""


def _names(kept: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(run["name"] for run in kept["runs"]))


def _prediction(kept: Mapping[str, Any]) -> str:
    rows, shares = [], []
    for run in kept["runs"]:
        whole, every = run["one"] / kept["workers"] / run["seconds"], run["all"] / run["seconds"]
        shares.append(whole)
        rate = f"{kept['n'] / run['seconds']:,.0f}"
        rows.append([f"{run['seconds']:.0f} s", rate, f"{whole:.2f}", f"{every:.2f}", f"{run['load']:.1f}"])
    again = kept["resumed"]
    columns = [
        "time",
        "rows a second",
        "of the kernel's rate on one core x 2",
        "of its rate on both cores at once",
        "load",
    ]
    return f"""## From Parquet to Parquet

`python -m dsgcore predict` reaches {median(shares):.2f} of the kernel's rate. The target of at least 0.9: {
        _met(median(shares) >= 0.9)
    }.

{table(columns, rows)}
- It scored {kept["n"]:,} x 18 rows on all cores (two), with a model of {kept["T"]} x {
        kept["m"]
    } features, as an estimator has by default.
- The time is that of the whole command, with {
        kept["start"]:.1f} s to start a process. The kernel's rate is that of the evaluation alone, in
  memory, measured before and after (the better one).
- The command was killed after {again["there"]} of {again["parts"]} files of {again["n"]:,} rows, and repeated: {
        "the files are the same, byte for byte" if again["same"] else "**the files differ**"
    }.
"""


_PARTS = {
    "kills": _kills,
    "rows": _rows,
    "bytes": _bytes,
    "messages": _messages,
    "workers": _workers,
    "features": _workers,
    "prediction": _prediction,
}
