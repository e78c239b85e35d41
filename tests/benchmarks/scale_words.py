"""The page of what was measured beyond one machine's memory and cores, and what follows from it for more of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from scale_plan import plan

HEAD = """# Beyond one machine's memory and cores

Written by `python tests/benchmarks/scale.py` (which says what each part is) on one machine of two cores (Intel Xeon, AVX-512),
with nothing else on it: the load beside a figure is that of the last minute, of which this program's own part is 1 to 3.
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

One cluster of two processes, {len(runs)} runs one after the other (T = 40), in each of which a worker is ended with SIGKILL after
a random iteration ({said}), and nothing waits
for it to come back: {alone} of the runs began with one worker alone, whose death leaves none for a second or two.
**{same} of {len(runs)} models are the same, bit for bit**; a run took
{_spread([run["seconds"] for run in runs])} s (median, least to most), most of which is the wait for another process.

`distributed.LocalCluster` itself gives a worker up for good that dies again within 15 s of its last death (its
`distributed.deploy.lost-worker-timeout`), and so comes to have none, whatever is run on it; here that time is set to an hour.
"""


def _rows(kept: Mapping[str, Any]) -> str:
    s, size = kept["seconds"], kept["bytes"]
    run = s["all"] - s["labels"] - s["reading"]
    shares = table(
        ["rows of a row group", *kept["touched"]],
        [["share of the groups that hold a row that is read", *(f"{v:.1%}" for v in kept["touched"].values())]],
    )
    return f"""## {kept["n"]:,} rows of Parquet

{kept["n"]:,} x 18 float32 in 100 files of one row group each, {
        size / 1e9:.1f} GB, made in pieces and deleted afterwards; one label in
10,000 rows. `QSGS2AUC(n_iter={kept["T"]}, tol=None)` in a process of its own, once, load {
        kept["load"]:.1f}; the files had just been
written, and lay in the system's cache.

{
        table(
            ["the labels", "the row groups touched", "the run", "all", "most memory", "AUC"],
            [
                [
                    f"{s['labels']:.1f} s",
                    f"{s['reading']:.1f} s",
                    f"{run:.1f} s",
                    f"{s['all']:.1f} s",
                    f"{kept['peak'] / 1e9:.2f} GB",
                    f"{kept['auc']:.3f}",
                ]
            ],
        )
    }
- At most 2 GB of memory: {_met(kept["peak"] <= 2e9)}. {
        kept["empty"] / 1e9:.2f} GB are the program before it has read anything; a row takes 1
  byte for its label, 1 for its class and 4 for its number, and on the way 3 for the questions which class it has; the rest
  is one row group and {kept["held"]:,} rows.
- Row groups touched: {kept["read"]} of {
        kept["parts"]
    }. A group of g rows out of n is left out only where none of its rows is read, of V
  at random a share of exp(-V g / n): what decides is whether a group has fewer than n / V rows, here {
        kept["n"] // kept["held"]:,}. Of the V =
  {
        kept[
            "held"
        ]:,} rows half are 65,536 evenly spread ones, from which a kernel's "scale" follows. So with row groups as files usually
  have them (100,000 rows and more) every group is read once, whatever the run, and the pass is one over all columns
  asked for; what the
  method saves is memory. Counted for the same rows, had the groups been smaller:

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
    where = (
        "a loopback of its own, on which nothing else is"
        if kept["own"]
        else "the machine's loopback, with whatever else used it"
    )
    return f"""## Bytes of an iteration

Two worker processes, two sources; bytes that {
        where
    }, has carried from the second iteration to the last but one, by its own counter, so with
all headers and acknowledgements, less the heartbeats of as many idle seconds ({
        median(r["quiet"] for r in kept["runs"]):,.0f} B/s). A message to a worker goes
through the scheduler unless the client was made with `direct_to_workers=True`, and is then on the wire twice; at a
worker it counts once.

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
    }"""


def _messages(kept: Mapping[str, Any]) -> str:
    counts = sorted({run["workers"] for run in kept["runs"]})
    own = {n: [1e3 * run["seconds"] for run in kept["runs"] if run["workers"] == n] for n in counts}
    loads = [run["load"] for run in kept["runs"]]
    return f"""## How long an iteration's messages take

An iteration of next to no work (64 features, some 10,000 rows), in ms, median of {len(own[0])} (least to most); through the
scheduler, on two cores for all processes, load {min(loads):.1f} to {max(loads):.1f}.

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

{kept["visited"]:,} visited rows of {kept["n"]:,}, d = 18, m = {kept["m"]}, T = {kept["T"]}, B = {kept["B"]}, two sources;
each way in turn, {len(cores)} times or more, load {min(loads):.1f} to {max(loads):.1f}. Seconds of all iterations, median
(least to most), and of what comes
before, in which rows are shared out.

{table(["", *own], [["iterations", *map(_spread, own.values())], ["before", *(f"{value:.1f}" for value in begun.values())]])}
- Efficiency of two processes against one: {_spread(each, 2)}; at least 0.85: {_met(reached)}.
- Two threads of one process came to {_spread(cores, 2)} in the same minutes: so much of two cores there is, for anybody. Two
  processes have {median(each) / median(cores):.2f} of that.
- What limits it besides: the process that drives the run takes {cpu:.1f} ms of CPU time an iteration for two workers, of the
  {both:.0f} ms that two cores have in it: it makes the coefficients and the next block, and passes messages on. With cores of their
  own the workers would not miss it, for they carry a block while the next one is made: one process takes {longer:.1f} ms of an
  iteration's {alone:.0f} longer than one thread here.
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
    return f"""## From Parquet to Parquet

`python -m dsgcore predict` of {kept["n"]:,} x 18 rows, all cores (two), a model of {kept["T"]} x {
        kept["m"]
    } features, as of
an estimator with its own arguments; all of the command's time, with the {
        kept[
            "start"
        ]:.1f} s in which a process begins. The kernel's rate is that of the evaluation alone, in memory, measured
before and after (the better one).

{
        table(
            [
                "time",
                "rows a second",
                "of the kernel's rate on one core x 2",
                "of its rate on both cores at once",
                "load",
            ],
            rows,
        )
    }
- At least 0.9 of the kernel's rate x workers: {_met(median(shares) >= 0.9)}, with {median(shares):.2f}.
- Killed when {again["there"]} of {again["parts"]} files of {again["n"]:,} rows were written, and given again: {
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
