"""The papers' experiments at the size of a laptop, and any of them as a study at the paper's size.

    python tests/benchmarks/papers.py --rows rows.jsonl
    python tests/benchmarks/papers.py --full auc/fig1 --csv table.csv

The first command measures the rows that `--rows` does not have yet (CPU seconds, one thread, one fit at a time, 1.5
GB at most). It reads the times of `baselines_time.md` for the figures that show them. It writes a drawing for each
figure beside this file, and its table below the drawing in `papers.md`. The words there are written by hand after a
look at the numbers. The sets are in the folder that DSGLAB_DATA names, or in ../shared/data beside the project;
otherwise scikit-learn's sets are used.

The second one carries out the study of our method that the page Papers opens, at the paper's size, as
`dsg-lab sweep` does, and keeps its runs.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
from own_process import Bounds, measured, on_one_thread
from papers_drawing import Line, Panel, drawing
from papers_fits import FIGURES
from reporting import command_line, keep_rows, read_rows, show
from reporting import table as markdown

from dsgcore.experiments import SETTINGS
from dsgcore.settings import profile_of
from dsgcore.studies import Store, Study, carry_out, default_store, local_processes, price_of, table_of

HERE = Path(__file__).parent
BOUNDS = Bounds(seconds=300, gigabytes=1.5)
# Of a figure that is a box plot: what is on its axis.
BOXES = {"auc-fig2": "AUC, %", "s3vm-fig3": "test error, %", "ordinal-fig2": "mean AUC, %"}
CURVES = {
    "tsgsu-fig1": ("CPU seconds", "test accuracy, %"),
    "tsgsu-fig2": ("CPU seconds", "test accuracy, %"),
    "tsgsu-fig3": ("iterations", "test accuracy, %"),
    "tsgsu-fig4": ("CPU seconds", "test accuracy, %"),
    "multiclass-fig1-left": ("iterations", "test error, %"),
    "multiclass-fig1-right": ("labeled training points, %", "test error, %"),
}
# Figures whose times are in `baselines_time.md`, by the beginning of their section's title and the name of ours.
TIMES = {"auc-fig1": "QSG-S2AUC", "s3vm-fig2": "TSGS3VM", "ordinal-fig1": "QS3ORAO"}
# Methods that come last, for they take longest.
SLOW = ("CUU (all)", "SU-DH")
CELL = re.compile(r"^[\d.]+, ([\d.e+-]+) s, (\d+) MB")
Row = dict


def fitted(item: tuple[str, str, str]) -> list[Row]:
    """Measure all seeds of a figure's method on one of its sets."""
    name, panel, method = item
    figure = FIGURES[name]
    found = ((seed, row) for seed in range(figure.seeds) for row in figure.measure(panel, method, seed))
    return [dict(seed=seed, x=x, value=value, seconds=seconds) for seed, (x, value, seconds) in found]


def measure(file: Path) -> list[Row]:
    """Measure what the file does not have; return all that it has then."""
    known = read_rows(file)
    done = {(row["figure"], row["panel"], row["method"]) for row in known}
    items = [(name, panel, method) for name, f in FIGURES.items() for panel in f.panels for method in f.methods]
    items.sort(key=lambda item: item[2] in SLOW)
    for item, rows, failed in measured(fitted, [i for i in items if i not in done], jobs=1, bounds=BOUNDS):
        head = dict(zip(("figure", "panel", "method"), item, strict=True))
        new = [{**head, **row} for row in rows] if rows else [{**head, "failed": failed}]
        known += new
        keep_rows(file, new)
        print(item, failed or f"{sum(row['seconds'] for row in new):.1f} s", flush=True)
    return known


def of(rows: list[Row], name: str, panel: str, method: str) -> list[Row]:
    """Return the rows of one line or box."""
    return [row for row in rows if (row["figure"], row["panel"], row["method"]) == (name, panel, method)]


def line(rows: list[Row], method: str, x: str) -> Line | None:
    """Return the means over the seeds at each x, from the least to the most; None where nothing was measured."""
    groups = [[row for row in rows if row["x"] == at] for at in sorted({row["x"] for row in rows if "x" in row})]
    if not groups:
        return None
    places = [g[0]["x"] if x != "CPU seconds" else float(np.mean([row["seconds"] for row in g])) for g in groups]
    values = [[row["value"] for row in g] for g in groups]
    return Line(method, places, [float(np.mean(v)) for v in values], [min(v) for v in values], [max(v) for v in values])


def curve_panels(rows: list[Row], name: str) -> list[Panel]:
    """Return a figure of lines, a panel a set."""
    x, y = CURVES[name]
    panels = []
    for panel in FIGURES[name].panels:
        lines = [line(of(rows, name, panel, method), method, x) for method in FIGURES[name].methods]
        panels.append(Panel(panel, x, y, tuple(one for one in lines if one)))
    return panels


def box_panels(rows: list[Row], name: str) -> list[Panel]:
    """Return a figure of boxes, a panel a set."""
    panels = []
    for panel in FIGURES[name].panels:
        found = {m: [r["value"] for r in of(rows, name, panel, m) if "value" in r] for m in FIGURES[name].methods}
        samples = {method: values for method, values in found.items() if values}
        panels.append(Panel(panel, f"{FIGURES[name].seeds} draws", BOXES[name], samples=samples))
    return panels


def table(rows: list[Row], name: str) -> str:
    """Return a figure's numbers: means over the seeds, with their deviation, and CPU seconds."""
    lines: list[tuple[str, ...]] = []
    for panel in FIGURES[name].panels:
        for method in FIGURES[name].methods:
            own = of(rows, name, panel, method)
            lines += [(panel, method, "", row["failed"], "") for row in own if "failed" in row]
            for at in sorted({row["x"] for row in own if "x" in row}):
                values, seconds = ([row[k] for row in own if row["x"] == at] for k in ("value", "seconds"))
                spread = np.std(values, ddof=1) if len(values) > 1 else np.nan
                cells = f"{np.mean(values):.2f} ± {spread:.2f}", f"{np.mean(seconds):.2g}"
                lines.append((panel, method, f"{at:g}" if at else "", *cells))
    return markdown(("set", "method", "at", "mean ± deviation", "CPU s of a fit"), lines)


def timed(ours: str) -> tuple[list[Panel], list[str]]:
    """Return the times and memories of a section of `baselines_time.md`, as panels, with the methods' names."""
    text = (HERE / "baselines_time.md").read_text(encoding="utf-8")
    section = next(part for part in text.split("\n## ")[1:] if part.startswith(ours))
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in section.splitlines() if row.startswith("|")]
    sizes = [int(cell.removeprefix("n = ").replace(",", "")) for cell in rows[0][1:]]
    known: dict[str, list[list[re.Match[str] | None]]] = {}
    for name, *cells in rows[2:]:
        if not name.startswith("where"):
            known.setdefault(name.split(",")[0], []).append([CELL.match(cell) for cell in cells])
    names = sorted(known, key=lambda name: name.replace("-", "") != ours.replace("-", ""))
    panels = [
        Panel("time", "points n", "CPU seconds", _worst(known, names, sizes, 1), is_log_y=True),
        Panel("memory", "points n", "MB", _worst(known, names, sizes, 2), is_log_y=True),
    ]
    return panels, names


def _worst(known: dict, names: list[str], sizes: list[int], group: int) -> tuple[Line, ...]:
    """Return a line for each method; of ours, which is as good as each of the others in turn, the most that took."""
    lines = []
    for name in names:
        most = [
            max((float(m[group]) for row in known[name] if (m := row[i])), default=np.nan) for i in range(len(sizes))
        ]
        there = [
            (n, max(value, 1.0) if group == 2 else value)
            for n, value in zip(sizes, most, strict=True)
            if value == value
        ]
        lines.append(Line(name, [n for n, _ in there], [value for _, value in there]))
    return tuple(lines)


def time_table(panels: list[Panel]) -> str:
    """Return the numbers of `timed`."""
    sizes = sorted({n for one in panels[0].lines for n in one.x})
    rows = []
    for seconds, memory in zip(panels[0].lines, panels[1].lines, strict=True):
        at, mb = dict(zip(seconds.x, seconds.y, strict=True)), dict(zip(memory.x, memory.y, strict=True))
        rows.append((seconds.name, *(f"{at[n]:.2g} s, {mb[n]:.0f} MB" if n in at else "over 60 s" for n in sizes)))
    return markdown(("method", *(f"n = {n:,}" for n in sizes)), rows)


def drawn(rows: list[Row], name: str) -> str:
    """Write a figure's drawing; return its table, or nothing where nothing is known."""
    known = {row["method"] for row in rows if row["figure"] == name and "value" in row}
    if name in TIMES:
        panels, names = timed(TIMES[name])
        numbers = time_table(panels)
    elif known:
        panels = box_panels(rows, name) if name in BOXES else curve_panels(rows, name)
        names, numbers = [m for m in FIGURES[name].methods if m in known], table(rows, name)
    else:
        return ""
    (HERE / f"papers-{name}.svg").write_text(drawing(panels, names), encoding="utf-8")
    return numbers


def page(text: str, rows: list[Row]) -> str:
    """Return the page with new tables: each stands below its drawing, up to the next section."""

    def renewed(found: re.Match[str]) -> str:
        return f"{found[1]}\n\n{drawn(rows, found[2]) or found[3].strip()}\n\n"

    return (
        re.sub(
            r"(!\[.*\]\(papers-(.+)\.svg\))\n(.*?)(?=^## |\Z)", renewed, text, flags=re.DOTALL | re.MULTILINE
        ).rstrip()
        + "\n"
    )


def carry_out_full(name: str, file: Path | None, store: Path) -> None:
    """Carry out a figure's study at the paper's size, and write its table."""
    setting, _, short = name.partition("/")
    figure = next(f for f in profile_of(SETTINGS[setting]).figures if f.name == short)
    study = Study.from_dict(figure.study(setting, is_full=True))
    price = price_of(study)
    print(f"{price.runs:,} runs, about {price.seconds / 60:.0f} min of one core", file=sys.stderr)
    with local_processes() as executor:
        text = table_of(study, carry_out(study, Store(store), executor, 2))
    show(text.rstrip("\n"), file)


def main() -> None:
    """Do what the command line asks for."""
    names = [f"{s}/{f.name}" for s in SETTINGS for f in profile_of(SETTINGS[s]).figures]
    own_store = default_store()
    given = command_line(__doc__, rows=Path("papers_rows.jsonl"), full=str, csv=Path, draw=False, store=own_store)
    if given.full:
        if given.full not in names:
            sys.exit(f"--full must be one of {', '.join(names)}, got {given.full!r}")
        carry_out_full(given.full, given.csv, given.store)
        return
    on_one_thread()
    rows, file = read_rows(given.rows) if given.draw else measure(given.rows), HERE / "papers.md"
    file.write_text(page(file.read_text(encoding="utf-8"), rows), encoding="utf-8")


if __name__ == "__main__":
    main()
