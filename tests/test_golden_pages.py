"""What pages show for links with unusual values, as it is kept in tests/golden/."""

import base64
import json
import re
import secrets
import textwrap
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace

import golden_text
import numpy as np
import pytest
from golden_files import _FRACTION, check, summary
from golden_text import said
from google.protobuf.message import Message
from hostile_files import GOOD
from opened_pages import bench_of, checked, full, left_in_browser, open_page
from own_tables import iris_csv, lines, with_pairs
from room_phones import CURVE, GUESSES, MAP, NUMBER, PICK, Phones
from small_specs import small
from test_file_on_pages import table

from dsgcore.core.metrics import Difference, paired_difference
from dsgcore.data.inspection import Coverage
from dsgcore.experiments import SETTINGS, Spec
from dsgcore.experiments.race import Heat, RaceResult
from dsgcore.jobs import JobQueue
from dsgcore.jobs.job import Job
from dsgcore.model_selection import FoldError, Suggestion
from dsgcore.rooms.rooms import SIGNS
from dsgcore.settings import panels
from dsgcore.solver.task import Change
from dsgcore.tuning.search import Tried
from pages.charts.detail_charts import confusion_chart, histogram_chart, parts_chart, risk_chart, shares_chart
from pages.charts.figures import Curve, line_chart
from pages.charts.live_chart import encoded
from pages.controls import control
from pages.controls.link import read_also, what_differs
from pages.controls.pickers import carried
from pages.gallery.data_views import agreement
from pages.live import map_view, tick
from pages.live.judgement import look_at
from pages.race import result as race_result
from pages.room import entrance
from pages.room.drawings import answers
from pages.session import bench as benches
from pages.session import link as link_of_run
from pages.shell import plain_text, room_key, sharing
from pages.shell.room_key import cookie_name
from pages.stage import step
from pages.studies import going, links
from pages.studies.differing import differing, said_difference
from pages.workbench import page as workbench
from pages.workbench import suggest_view

WIDTH, LONGEST, MOST = 380, 80, (500, 50)  # of a line, of a text; new lines of a page, and of one after a step
NOT_SHOWN = """id js_content css_content component_name page_script_hash deferred_file_id label_visibility wrap element_type
arrow_data form_id url is_default has_min has_max data_type columns query_param_key editing_mode row_height library
ignore_rerun accept_new_options tracked template ticks ticklen tickcolor exponentformat allow_empty width_config set_value
hovertemplate raw_value zsmooth colorbar xanchor showgrid zeroline constrain constraintoward automargin hovermode order"""
NOT_SHOWN = NOT_SHOWN.split()
CHANGES = {
    r"\b\d+ s left": "… s left",
    r"\b[0-9a-f]{12,}\b": "HASH",
    r"/(tmp|work|home)/[^\s\"']*": "PATH",
    r"About [\d.,]+ \w+ on": "About … on",
}
SLICES = ("SLICE_SECONDS", "SHORT_SLICE_SECONDS", "FAST_SECONDS", "INSTANT_SECONDS")
STUDIES = ("explore", "convergence")
OWN_LINE = ("help", "meta", "hoverinfo", "font", "title", "margin", "xaxis", "yaxis", "marker", "line", "colorscale")


def shortened(text):
    """Return a long text by its ends, its length and a sum of its words, and a summary of its fractions."""
    for pattern, word in CHANGES.items():
        text = re.sub(pattern, word, text)
    if len(text) <= LONGEST:
        return text
    words, fractions = _FRACTION.sub("#", text), _FRACTION.findall(text)
    numbers = summary([float(one.translate({44: "", 8722: "-"})) for one in fractions]) if fractions else ""
    return (
        f"{text[: LONGEST // 2]} ... {text[-LONGEST // 4 :]} [{len(words)} {zlib.crc32(words.encode()):08x} {numbers}]"
    )


def brief(value):
    """Return a value as a line: sentences shortened, numbers with five digits, long arrays as a summary."""
    if isinstance(value, Message):
        return brief({field.name: one for field, one in value.ListFields()})
    if isinstance(value, Mapping) and "packed" in value:
        return brief(np.frombuffer(base64.b64decode(value["packed"]), np.int8).tolist())
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {brief(v)}" for k, v in value.items() if k not in NOT_SHOWN) + "}"
    if isinstance(value, str | bytes):
        return shortened(value) if isinstance(value, str) else f"{len(value)} bytes"
    if isinstance(value, float):
        return f"{value:.5g}"
    if not isinstance(value, Iterable):
        return str(value)
    value = list(value)
    if len(value) > 3:
        try:
            ends = f" ends {brief(value[0])} {brief(value[-1])}" if np.ndim(value[0]) == 0 else ""
            return summary(np.array(value, dtype=float)).replace(" f nan 0", "").replace(" sum 1.0000", "") + ends
        except (TypeError, ValueError):
            pass
    said = ", ".join(map(brief, value))
    return f"[{len(value)}: {shortened(said)}]" if isinstance(next(iter(value), None), str) else f"[{said}]"


def parts(name, value):
    """Yield a line for each part of a figure or an element: what many have in common for itself."""
    value = dict(value)
    for key in OWN_LINE:
        one = value.pop(key, None)
        if isinstance(one, dict) and key in ("meta", "xaxis", "yaxis"):
            yield from parts(key, one)
        elif one not in (None, ""):
            yield f"{key}: {brief(one)}"
    yield f"{name} {brief(value)}"


def of_json(value):
    if not isinstance(value, dict):
        yield brief(value)
    elif {"data", "layout"} <= set(value):
        for trace in value["data"]:
            yield from parts("trace", trace)
        yield from parts("layout", value["layout"])
    else:
        for name, one in ((name, one) for name, one in value.items() if name not in NOT_SHOWN):
            yield from parts(name, one) if isinstance(one, dict) else [f"{name}: {brief(one)}"]


def drawn(node):
    """Yield the lines of all elements below a node, in their order."""
    for child in node.children.values():
        if hasattr(child, "children"):
            yield from [f"{child.type} {brief(child.proto)}"] * (child.type in ("popover", "expander", "tab"))
            yield from drawn(child)
        elif child.type == "bidi_component":
            yield "component " + "-".join(child.proto.id.split("-")[3:])
            for text in filter(None, [*child.proto.bytes.decode().split("\n"), child.proto.json]):
                yield from of_json(json.loads(text))
        elif child.type == "dataframe":
            head, *rows = child.value.to_csv(float_format="%.5g").splitlines()
            yield from [
                f"table {child.value.shape} {head}",
                *rows[:2],
                *map(shortened, filter(None, ["\n".join(rows[2:])])),
            ]
        else:
            yield from parts(child.type, {field.name: one for field, one in child.proto.ListFields()})


def new(lines, seen):
    """Return the lines that no earlier page has, and how many others there are between them."""
    others, kept = 0, []
    for line in lines:
        others += line in seen
        if line not in seen:
            kept += [f"= {others}"] * bool(others)
            kept += [part for one in line.splitlines() for part in textwrap.wrap(one, WIDTH)]
            others = 0
            seen.add(line)
    return [*kept, f"= {others}"]


SPEC = (
    "data.name=two_moons n=180 noise=0.31 n_labeled=14 test_share=0.37 sigma=3.7 n_iter=37 n_features=48 batch_size=9 "
    "schedule=theta/t step_size=2.3 lam=0.013 average=tail seed=11 at=37 "
)
LOOK = "speed=fast map=error divider=h truth=true mistakes=true log_objective=true "
CHANGED = "changes=0:lam=0.1,5:lam=0.013,0:step_size=1.1,9:step_size=2.3 "
SHORT = "data.name=two_moons n=120 n_labeled=20 n_iter=8 n_features=16 "
RACE = "data.name=two_moons n=100 n_iter=20 n_features=32 at=20 > clock; press race-start"
BAD = """step_size n_features lam gamma sigma batch_size n_iter patience tolerance n_labeled test_share schedule pairing
scaling"""
BAD = BAD.split()
RUN = "data.n=150 n_iter=32 n_features=16 batch_size=16 seeds=2 "
FEW = "setting=auc data.name=two_moons n=100 n_labeled=20 n_iter=6 n_features=16 seeds=2 solver.step_size.n=3 "
# Links by the page that they open. What a reader does there follows behind ">", as `Visit` has it, and ";" between the steps.
PAGES = {
    "auc": (
        f"{SPEC}{LOOK}{CHANGED}gamma=0.35 label_noise=0.1 look=23",
        "lesson=five-labels:2:answer",
        "lesson=unlabeled:1:1 present=1 at=300",
        "lesson=random-features:1",
        "data.name=file hide=sidebar,tabs",
        f"{SHORT}at=3 > set lam = 0.1; set n_labeled = 10; press reset; press step; press play; press preset-1",
        f"{SHORT}at=8 > look 3; look 8; press pin-auc; press reset; set seed = 3; set data = breast_cancer",
        f"{SHORT}sigma=2 at=8 > set kernel = orthogonal_gaussian; set kernel = matern; set nu = 1/2; set length = 5.0; "
        "set kernel = dot_product; set kernel = matern; set kernel = laplacian; set data = blobs; press preset-0",
        f"{SHORT}seed=7 speed=slow at=8 > set setting-auc = s3vm",
        f"{SHORT}sigma=2 at=8 > press suggest-values; press suggest-set; press suggest-set; set Row = 3; press suggest-use; "
        "set suggest-seconds = 10; press suggest-more; press suggest-close",
        f"{SHORT}data.n_labeled=2 at=8 > press suggest-values; set n_labeled = 10",
        "data.name=breast_cancer seed=7 n_iter=8 at=8 > set setting-auc = ordinal",
        " ".join(f"{name}=abc" for name in BAD) + " seed=inf speed=x map=x columns=x log_objective=x",
        "data.name=breast_cancer n_iter=8 map_x=bogus map_y=bogus hide=bogus at=999999 changes=,,,, ETA=1 lambda=1 data.size=2",
        "data.name=iris data.positive=virginica n_iter=8 at=3 changes=3:lam=0.5",
        f"{SHORT}at=4 > label; undo; redo; paint; clear; unlabel; label",
        "data.name=digits n_labeled=200 sigma=0.5 lam=0.01 n_features=4 n_iter=128 at=100 speed=fast > remedy; end",
        "step_size=1000 speed=instant map=f > end",
        "n_features=4096 n_iter=5000 gamma=2 kernel.name=none view.tab=Cod n_labeled=5000",
        "n_iter=8.5 n_features=16.5 n_labeled=20.5 seed=1.5 at=2.5",
        f"{SHORT}at=5 > set inside-t- = 3; set inside-feature- = 5; set inside-t- = 8; set inside = one point; "
        "set inside = all coefficients; press as-in-paper",
        "data.name=two_moons n=200 n_labeled=40 sigma=10 n_iter=64 batch_size=2 speed=instant > end; press find-limits; "
        "remedy; end; press find-limits",
        f"{SHORT}step_size=40 lam=0.013157894736842105 speed=instant > end; press find-limits; set step_size = 0.5; end; "
        "press find-limits; press keep-to; end",
    ),
    "lesson": (
        "lesson=unlabeled speed=instant > set 0 = lower: they hurt; press lesson-run; end; press lesson-next; press lesson-back",
        "lesson=unlabeled speed=instant > set 0 = higher: unlabeled points help; press lesson-run; end",
        "lesson=random-features speed=instant > set lesson-guess = 0.4; press lesson-run; end; press lesson-leave",
        "lesson=step-size:3 speed=instant > end; press lesson-show; end",
        "lesson=step-size:3 present=1 > press lesson-end; end; press lesson-show; press lesson-end; end",
        "lesson=unlabeled:4:answer present=1 lecture=auc/unlabeled,s3vm/gap speed=instant > end",
        "lesson=unlabeled:1 hide=answer,limits,curves,error,tabs speed=instant > set 0 = about the same; press lesson-run; end",
        "lesson=unlabeled:2",
        "lesson=rare-class:3:answer speed=instant > end",
        "lesson=decaying-step:3:1 speed=instant > end",
        "lesson=five-labels:3 data.n_labeled=5000",
        "lesson=five-labels:3 data.test_share=0.9 data.n=30",
        "lesson=one-wrong-label data.name=file",
        "lesson=unlabeled data.n_labeled=5000",
        "lesson=unlabeled data.n_labeled=x",
        "lesson=unlabeled:2:1 speed=instant > set n_labeled = 50; end; press lesson-leave",
        "lesson=none:7 > run",
    ),
    "room": (
        *(
            f"lesson={lesson} present=1 speed=instant > press room-open; run; {steps}"
            for lesson, steps in (
                (
                    "unlabeled",
                    "answer 0 1 1; press room-reveal; press room-again; answer 0 0; press room-reveal; press room-choice",
                ),
                ("unlabeled", "answer 0; press lesson-run; end; press room-reveal; results; press lesson-next; run"),
                (
                    "unlabeled",
                    "press room-timer-30; press lesson-run; press lesson-run; press room-shut; answer 1; results",
                ),
                ("unlabeled", "press room-close; press room-shut; press room-shut; press room-end; run"),
                (
                    "unlabeled",
                    f"press room-labels; run; answer {GUESSES[MAP]}; press room-reveal; press room-labels; run",
                ),
                ("five-labels:2", f"answer {GUESSES[MAP]}; press room-reveal; press room-choice; end"),
                ("random-features", "answer 0.1 0.2 0.6 x; press room-reveal; press room-choice; end; results"),
                ("own-errors", f"answer {GUESSES[CURVE]}; press room-reveal; press room-choice; end; results"),
                (
                    "unlabeled",
                    "set room-own- = Who?\nI; press room-own-ask; "
                    "set room-own- = *Who* is <b>it</b>, $x$?\nI_a_ [b](c)\n$You$; press room-own-ask; run",
                ),
            )
        ),
        "lesson=unlabeled present=1 speed=instant > press room-open; run; bodies; gone; press room-reveal; run",
        "lesson=unlabeled present=1 speed=instant > press room-open; press lesson-leave",
        "lesson=unlabeled present=1 speed=instant > press room-open; elsewhere; asks; press room-lead; asks",
        "lesson=unlabeled present=1 room=22222222",
        "lesson=unlabeled present=1 lecture=auc/unlabeled,none",
    ),
    "s3vm": (
        f"{SPEC}{LOOK}map=h kernel.name=laplacian n_irrelevant=3 map_x=x2 by_hand=true at=11",
        "lesson=gap:2:answer at=300",
        "step_size=100 at=90",
        "lesson=batches:2 speed=instant",
        "lesson=batches:2:0.5~0.6~0.7~0.8~0.9~1 speed=instant > end",
        f"{SHORT}at=8 > press find-limits; press as-in-paper; press keep-to",
    ),
    "race": (
        f"{RACE}; set race-axis = by time; set race-map = classes; set svm_seed = 7",
        f"{RACE.partition(';')[0]}; set race-s3vm = QNS3VM; set max_iter-5000 = 1; press race-start",
        f"{RACE.partition(';')[0]}; set race-limit-s3vm = 0.1; set race-s3vm = EverydayLogisticRegression; press race-start",
        f"{RACE.partition(';')[0]}; set heats-seeds-s3vm = 1; press heats-start; set heats-axis = over unlabeled points",
        "race=0123456789ab n_iter=20",
    ),
    "ordinal": (
        f"{SPEC}data.name=diabetes n_classes=4 stratified=true divider=none columns=true",
        "data.name=file > file iris.csv; set Classes from the lowest to the highest = setosa, virginica, versicolor",
        "data.name=file > file table.csv; set Label = x; set x-bins = 3",
    ),
    "similar_unlabeled": (
        f"{SPEC}n_labeled=22 loss=squared tab=Code divider=none truth=true",
        "lesson=corrections:2:answer present=1 at=100",
        "n_iter=5 > set su_data = wine; set su_positive = class_1",
        "data.name=gaussian_mixture n=100 n_labeled=2000",
        "data.name=file > file table.csv; set su_n_labeled = 200",
        "data.name=file n_iter=3 > file some.csv",
    ),
    "supervised": (f"{SPEC}data.name=digits kernel.name=matern nu=5/2 mistakes=true n_labeled=30",),
    "multiclass": (
        f"{SPEC}data.name=blobs n_classes=4 class_map=margin graph=true mistakes=true n_labeled=30",
        "data.name=wine at=20 n_iter=20 truth=true > press keep-to; press as-in-paper",
        "variant=softmax n_iter=12 at=12",
        "feature_map=linear n_iter=12 at=12",
        "n_features=4096 n_iter=2000",
    ),
    "file": (
        "data.name=file > file table.csv; set Label = kind; set Positive class = mid; set Missing numbers = median",
        "data.name=file > file parts.csv; set Decimal mark = ,; set Encoding = cp1252; set Lines above the table = 1",
        "data.name=file > file bad.csv; file gaps.csv; set Cells that mean a missing value = NA, -999; file good.csv",
        'data.name=file data.file={"name":"old.csv","sha256":"0","recipe":{}} > file iris.csv; set n_labeled = 200',
        "data.name=file > file iris.csv; set data = two_moons; press own-data; go home; go s3vm data.name=file",
        "data.name=file > file pairs.csv; go similar_unlabeled data.name=file; go explore data.name=file",
    ),
    "explore": (
        "view=Parallel",
        "setting=s3vm view=Contour",
        "setting=multiclass view=Importance",
        "seeds=50 solver.step_size.n=20 kernel.sigma.n=20",
        "solver.step_size.range=5,0.05 vary=nothing",
        f"{FEW} kernel.sigma.n=3 > start study-start; set x_view = One by one; set x_measure = objective; press pin-point",
        f"{FEW} vary=solver.lam solver.lam.n=3 > start study-start; set x_view = Contour; set x_view = Importance",
        f"{FEW} vary=solver.lam,solver.step_size,solver.batch_size random=true points=4 seeds=1 > start study-start; "
        "set x_best = 0.25; set x_view = Contour; set x-contour-across = Mini-batch",
        f"{FEW} vary=kernel.sigma,solver.step_size,solver.lam kernel.sigma.n=3 solver.lam.n=3 > start study-start; "
        "set x_view = Parallel; set x_best = 0.25; set x_view = Importance; set x_view = Contour; "
        "set x-contour-across = Regularisation; set x_measure = objective; set x_view = Importance",
        f"{FEW} vary=problem.pairing,kernel.sigma kernel.sigma.n=3 > start study-start; set x_view = Parallel",
        "ETA=1 problem.s.rang=1 setting=x data.name=x measure=x view=x seeds=nan random=maybe",
        "solver.step_size.range=auto,auto kernel.sigma.range=0.1,0.5,1",
        "setting=multiclass problem.feature_map=linear",
        "kernel.name=laplacian seeds=1 vary=kernel.sigma > set x_data = digits",
        "setting=multiclass problem.feature_map=linear vary=kernel.sigma",
        f"{FEW} > full; press study-start",
        "setting=auc data.name=xor",
        "data.name=file > file table.csv",
    ),
    "convergence": (
        "",
        "setting=s3vm quantity=gradient",
        "setting=s3vm n=120 n_iter=16 n_features=32 seeds=2 steps=as+chosen > start ways-start; set over = evaluations",
        "setting=auc seeds=0 seed_s=1 over=x quantity=x data.name=x",
        "data.name=file",
        f"setting=auc {RUN} > start ways-start",
        f"setting=auc {RUN}steps=each+assumption+broken+in+turn > start ways-start",
        f"setting=auc {RUN}vary=Random+features solver.n_features.range=4,16 solver.n_features.n=3 over=evaluations "
        "quantity=|f+−+h|² > start ways-start",
        f"setting=auc {RUN}steps=as+chosen+at+the+side step_size=100 n_iter=300 > start ways-start",
        f"setting=auc {RUN}n_iter=1 > start ways-start",
        "setting=ordinal data.n=10000 n_iter=100 seeds=2",
    ),
    "data": (
        "",
        "data.name=Iris setting=s3vm",
        "> press look-wine; press All data sets",
        "data.name=Iris data.positive=virginica data.label_noise=0.2 setting=s3vm seed=3 view.across=petal+length+(cm)",
        "data.name=Iris setting=x seed=-1 data.label_noise=abc data.n_labeled=-3 data.Name=Iris",
        "data.name=Iris setting=auc data.positive=rose",
        "data.name=gaussian_mixture data.n=100 data.n_labeled=2000 setting=similar_unlabeled",
        "data.name=gaussian_mixture data.imbalance=0.6 data.n_labeled=100 setting=similar_unlabeled",
        "data.name=file > file iris.csv; set data_n_labeled = 100; set Hide labels as in = auc; file gaps.csv",
        "data.name=file > file bad.csv; file sums.csv",
    ),
    "how_it_works": (
        "screen=2",
        "screen=4",
        "screen=5",
        "screen=1",
        "screen=3",
        "screen=9",
        "screen=5 at=9 off=points",
        "at=100",
        "off=<b>",
    ),
    "home": ("> label; unlabel",),
    "pinned": (
        "",
        "> pins; start pinned-start; set c_by = evaluations; press unpin-",
        "runs=0123456789ab,x seeds=0 run=1",
    ),
    "lessons": ("", "> set lecture-add = auc/unlabeled; set lecture-add = s3vm/gap; set lecture-parts = Who? | I"),
    "take_away": (
        "",
        "of=<b>nothing > set of = Ordered classes: What can be wrong with a perfect score?; set take-away-theme = dark",
    ),
    "papers": (
        "",
        "paper=auc",
        "paper=s3vm",
        "paper=ordinal",
        "paper=multiclass",
        "paper=none > set paper = supervised",
    ),
    "methods": ("",),
    "glossary": ("", "find=KERNEL+alike", "find=no+such+word"),
}

ROWS = [(i % 7, i % 11, "uv"[i % 2], "abc"[i % 3]) for i in range(60)]
FILES = {
    "iris.csv": iris_csv(),
    "table.csv": table(n=100),
    "good.csv": GOOD,
    "bad.csv": lines("a,b,label", *(f"{a},{b},{y}" for a, b, y, _ in ROWS), "oops,1,u"),
    "parts.csv": lines(
        "Measured;2024;", "a;b;label", *(f"{a},5;{b};{'äö'[b % 2]}" for a, b, _, _ in ROWS), encoding="cp1252"
    ),
    "gaps.csv": lines("a,b,label", *(f"{'NA' if a else a},{b if b else -999},{y}" for a, b, y, _ in ROWS)),
    "sums.csv": lines("name,a,label", *(f"{'Total' if i == 29 else y},{a},{k}" for i, (a, _, k, y) in enumerate(ROWS))),
    "pairs.csv": with_pairs(),
    "some.csv": lines("a,b,label", *(f"{a},{b + i / 9},{y if i % 4 else ''}" for i, (a, b, y, _) in enumerate(ROWS))),
}
EDITS = {
    "label": {"do": "label", "rows": [30], "to": 1},
    "paint": {"do": "paint", "points": [[0.2, 0.3], [0.9, 0.1]], "to": 0},
    "none": {"do": "none"},
    "unlabel": {"do": "label", "rows": "all"},
    "undo": {"do": "undo"},
    "redo": {"do": "redo"},
    "clear": {"do": "reset"},
}


class Visit:
    """A reader's visit of a page: a link is opened, and steps follow, each of which has the page drawn.

    press NAME, set NAME = VALUE (by key or label), file NAME, go PAGE [link], run, end (draw until the run is finished),
    look T, remedy (apply it), clock (let an iteration take 0.01 s), pins (pin three runs), or
    one of `EDITS`.
    """

    def __init__(self, page, text, patch):
        self.patch = patch
        link, _, steps = f" {text}".partition(" > ")
        self.steps = [step.split(None, 1) for step in steps.split(";") if step.strip()]
        self.page, self.n_edits = {"lesson": "auc", "room": "auc", "race": "s3vm", "file": "auc"}.get(page, page), 0
        self.said = []
        self.app = checked(open_page(self.page, **self.link(link)))

    def link(self, text):
        entries = dict(entry.split("=", 1) for entry in text.split())
        entries = {name: value.replace("+", " ") for name, value in entries.items()}
        return (
            full(self.page, entries)
            if self.page in SETTINGS
            else full("auc", entries)
            if self.page in STUDIES
            else entries
        )

    def texts(self):
        """Do the steps; yield each one, and the page after it."""
        yield "", self.app
        for name, *rest in self.steps:
            getattr(self, name, self.edit)(*rest or ([name] if name in EDITS else []))
            yield " ".join([name, *rest]).strip(), checked(self.app)

    @property
    def bench(self):
        return bench_of(self.app, self.page)

    def widget(self, name):
        """Return the element that has this key or label, or whose key ends or begins with it; a number counts the radios."""
        if name.isdecimal():
            return self.app.radio[int(name)]
        for is_it in (str.__eq__, str.endswith, str.startswith):
            for one in self.app:
                said = [text for text in (getattr(one, key, None) for key in ("key", "label")) if isinstance(text, str)]
                if hasattr(one, "run") and any(is_it(text, name) for text in said):
                    return one
        raise KeyError(name)

    def press(self, name):
        self.app = self.widget(name).click().run()

    def set(self, text):
        name, value = map(str.strip, text.split("=", 1))
        with suppress(ValueError):
            value = json.loads(value)
        self.app = self.widget(name).set_value(value).run()

    def file(self, name):
        name = name.strip()
        self.app = self.app.file_uploader[0].upload(name, FILES[name], "text/csv").run()

    def go(self, text):
        self.page, _, link = text.strip().partition(" ")
        self.app.query_params.clear()
        for name, value in self.link(link).items():
            self.app.query_params[name] = value
        self.app = self.app.switch_page(f"pages/{self.page}.py").run()

    def run(self):
        self.app.run()

    def end(self):
        for _ in range(200):
            if self.bench.live.is_finished and not self.bench.is_playing:
                break
            self.app.run()
        self.app.run()

    def start(self, name):
        """Press the button that starts a study, and wait for its runs."""
        self.press(name)
        state = self.app.session_state[f"_exploring_{'ways' if self.page == 'convergence' else self.page}"]
        assert state.job.wait(300)
        self.app.run()

    def look(self, t):
        look_at(self.bench, int(t))
        self.app.run()

    def remedy(self):
        workbench._apply(self.bench)
        self.app.run()

    def clock(self):
        clock = self.bench.live.run.training_clock
        clock[:] = [0.01 * (t + 1) for t in range(len(clock))]

    def pins(self):
        solver = {"n_iter": 6, "n_features": 16}
        specs = [small("auc", solver=solver | {"lam": lam}) for lam in (0.1, 0.01)] + [small("s3vm", solver=solver)]
        self.app.session_state["_pins"] = {spec.sha256: spec for spec in specs}
        self.app.run()

    def answer(self, guesses):
        """Let phones answer the question of the class's room."""
        key, phones = self.bench.group.room, Phones()
        asked = phones.asked(key.code).json()
        for k, guess in enumerate(guesses.split()):
            sent = {"client": f"{k:032d}", "name": asked["name"], "round": asked["round"]}
            self.said.append(phones.send(key.code, guess, **sent).text)
        self.app.run()

    def full(self):
        """Let no run fit into the store of runs."""
        self.patch.setattr(going, "LARGEST_STORE", 1000)

    def gone(self):
        """Close the class's room from another page."""
        entrance.rooms().close(self.bench.group.room)

    def elsewhere(self):
        """Let another tab lead the class's room, and ask another question."""
        key, self.tab = self.bench.group.room, type("Tab", (), {"is_connected": True})()
        room_key._leading[key.code] = self.tab
        entrance.rooms().ask(key, NUMBER)
        self.app.run()

    def asks(self):
        """Say what the class's room asks."""
        self.said.append(f"the room asks {entrance.rooms().look(self.bench.group.room).asked.name}")

    def bodies(self):
        """Let phones send what is no answer."""
        sent = {"code": self.bench.group.room.code, "client": "0" * 32, "name": "x", "round": 1, "guess": "1", "age": 0}
        changes = {
            "round": (None, "x", 1e400, [], 0),
            "age": (None, "x", -1, []),
            "guess": (None, 1, []),
            "client": ([], "0"),
        }
        made = [sent | {name: value} for name, values in changes.items() for value in values] + [[], 1, None, {}, sent]
        texts = [*map(json.dumps, made), "", "[" * 5000, "{", "x" * 4000]
        for number, text in enumerate(texts):
            reply = Phones().post("/r/room/answer", text.encode())
            self.said += [f"{number} {reply.status_code} {reply.text}"]

    def results(self):
        """Open the lecturer's notes and the results of all questions of the class's room."""
        key, phones = self.bench.group.room, Phones()
        for page in ("notes/now", "results.html"):
            text = phones.get(f"/r/{key.code}/{page}", cookie=f"{cookie_name(key.code)}={key.secret}").text
            self.said += re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL).replace("><", ">\n<").split("\n")

    def on_phones(self):
        """Yield what was answered to phones since the last step, and what they are asked now."""
        yield from map(shortened, self.said)
        self.said = []
        group = getattr(self.app.session_state[f"_bench_{self.page}"], "group", None) if self.page in SETTINGS else None
        if group is not None and group.room is not None:
            asked = Phones().asked(group.room.code).json()
            yield from (f"phone {name}: {brief(one)}" for name, one in asked.items() if name not in ("version", "left"))

    def edit(self, name="none"):
        self.n_edits += 1
        asked = {"mount": "here", "edits": [[self.n_edits, EDITS[name.strip()]]]}
        self.bench.hand.take(asked, self.bench.spec, self.bench.live.run.split)
        self.app.run()


def suggested(queue, spec, split, seconds, *, search=None, lease=None):
    """Return a job that has found what a search of that time would not find again: it follows from what is asked."""
    if spec.data.n_labeled < 3:
        raise FoldError(f"a class has one label of {spec.data.n_labeled}, for {seconds} s")
    found = (
        ({"sigma": spec.kernel.sigma * 3, "lam": 0.25}, 0.9),
        ({}, 0.8),
        ({"step_size": 0.75}, np.nan),
        ({"lam": 7.0}, 0.7),
    )
    tried = tuple(
        Tried(own, (np.array([score - 0.1, score + 0.05]),), 8 * (k + 1)) for k, (own, score) in enumerate(found)
    )
    gains = tuple(
        Difference.around(one.mean - 0.8, 0.01 * (k or np.nan), len(split.X_train), "folds")
        for k, one in enumerate(tried)
    )
    more = {} if search else tried[0].parameters
    gain = Difference.around(0.0004 if search else 0.1, 0.03, 5, "folds")
    return Job.done(Suggestion(more, gain, 0.9, tried, seconds + (search or 0), gains=gains, search=seconds))


@pytest.fixture
def steady(store, rooms, jobs_here, monkeypatch):
    """Let drawings reach the link's step, do jobs at once, let each take the same time and memory, and draw no room's code."""
    monkeypatch.setattr(map_view, "SECONDS_BETWEEN_SURFACES", 0.0)  # the map is that of each step
    monkeypatch.setattr(link_of_run, "SECONDS_BETWEEN_PLACES", 0.0)  # and so is the link
    signs = cycle(SIGNS[1:])
    drawn = SimpleNamespace(
        choice=lambda _: next(signs), token_urlsafe="s".__mul__, compare_digest=secrets.compare_digest
    )
    monkeypatch.setattr("dsgcore.rooms.rooms.secrets", drawn)
    monkeypatch.setattr("pages.room.lecturer.token_hex", lambda n: n * "0a")
    for place, name in ((benches, "LONGEST_GO"), *((tick, name) for name in SLICES)):
        monkeypatch.setattr(place, name, 600.0)  # on a busy machine a second is not enough
    monkeypatch.setattr(suggest_view, "begin_suggesting", suggested)
    submit = JobQueue.submit

    def timed(*given, **options):
        job = submit(*given, **options)
        if isinstance(job.result, RaceResult):
            job.result = replace(job.result, seconds=1.25, memory=3_500_000)
        elif isinstance(job.result, tuple) and all(isinstance(one, Heat) for one in job.result):
            job.result = tuple(replace(one, seconds=0.1 * (k + 1)) for k, one in enumerate(job.result))
        return job

    monkeypatch.setattr(JobQueue, "submit", timed)


@pytest.mark.usefixtures("steady")
@pytest.mark.parametrize("page", PAGES)
def test_pages_show_what_they_showed(page, monkeypatch):
    seen, text = set(), []
    for visit in PAGES[page]:
        opened = Visit(page, visit, monkeypatch)
        for number, (asked, app) in enumerate(opened.texts()):
            shown = [f"left {brief(left_in_browser(app))}", *drawn(app._tree), *opened.on_phones()]
            shown = new(shown, seen)
            most = MOST[bool(number)]
            frames = [line for line in shown[most:] if "<iframe" in line and page in ("lesson", "room")]
            text += ["", f"> {asked}" if number else f"## {visit}", *shown[:most], *frames]
    check(f"pages_{page}", text[1:])


SENTENCES = ("-1 to -2.5e-07 and 3e+05", "see www.a.test, *b* [c](d) $x$ e-4 a-1", "AUC of it.", "Step size", "x" * 90)
NUMBERS = (0.0, -1.0, 7.0, 0.12345, 12345.678, -3.2e-7, 1e6, float("inf"))
ALSO = (
    "a=b,,",
    "\x00",
    "solver.dtype",
    "solver.dtype=float16",
    "solver.dtyp=1",
    "data.path=/etc/passwd",
    "stop.patience=NaN",
)
QUESTION_RESULTS = ({}, {"right": 1, "value": 0.3})
ROUNDS = {PICK: [[0, 1, 1], [2, 1]], NUMBER: [[0.05, 0.41], [0.9]], CURVE: [[[0.5 + k / 9] * 6 for k in range(4)]] * 2}
ROUNDS[MAP] = [[[0.05, 0.95] + [0.55, 0.25] * 4], [[0.3, 0.7] * 5]]


def test_functions_return_what_they_returned(monkeypatch):
    lines, rng = [], np.random.default_rng(7)
    for function in (
        plain_text.in_sentence,
        plain_text.as_sentence,
        plain_text.with_minus,
        plain_text.plain,
        step.escaped,
    ):
        lines += [f"{function.__name__}: {[function(text) for text in SENTENCES]}"[:WIDTH]]
    lines += [
        f"label_about: {plain_text.label_about('Open', SENTENCES[1])}",
        f"_said: {step._said('one.')} {step._said('two')}",
    ]
    lines += [f"also {text!r}: {golden_text.said(read_also, SETTINGS['auc'], text)}" for text in ALSO]
    for name, text in {
        "solver.step_size": "1e9",
        "solver.n_features": "nan",
        "seed": "-1",
        "kernel.name": "no",
    }.items():
        lines += [f"carried {[carried(SETTINGS['auc'], after, {name: text}) for after in SETTINGS.values()]}"]
    pairs = (([0.9], [0.9]), ([0.9, 0.7], [0.7, 0.9]), ([0.9, 0.8, 0.8], [0.8, 0.8, 0.8]), ([], []))
    lines += [f"said_difference: {[said_difference(paired_difference(*pair)) for pair in pairs]}"]
    for function in (plain_text.short_number, control.brief, control.shown, race_result._seconds):
        lines += [f"{function.__name__}: {[function(value) for value in NUMBERS]}"]
    odd = {
        "data": [],
        "a": [np.float64(1.5), np.nan, {"b": -np.inf}],
        "c": np.array([2.0, np.nan]),
        "d": np.int64(3),
        "e": Path("x"),
    }
    lines += [f"encoded: {said(encoded, one)}" for one in (odd, dict(list(odd.items())[:-1]), {"c": odd["c"][:1]})]
    for text in ("", "x", "2.5", "0", "-1", "inf", "nan", "1e-9"):
        monkeypatch.setenv("DSGLAB_X", text)
        lines += [f"_named {text!r}: {sharing._named('DSGLAB_X', 7.0)}"]
    for asked, rounds in ROUNDS.items():
        for result in QUESTION_RESULTS:
            value = {"value": [0.7, 0.6, 0.5, 0.4, 0.3, 0.2]} if asked is CURVE and result else result
            made = answers(asked.question, rounds, value, {"points": [[0.2, 0.3], [0.9, 0.1]]})
            lines += [f"answers {asked.name}: ", shortened(made)]
    y, predicted = rng.integers(0, 3, 40), rng.integers(0, 3, 40)
    figures = [confusion_chart(panels.Confusion("Who", y, predicted, ("a", "b", "c")), theme="dark")]
    t, values = np.arange(1.0, 701.0), rng.normal(size=(3, 700)) ** 2
    figures += [
        parts_chart(
            t,
            dict(zip(("optimisation", "batches", "together"), (values, 2 * values, 3 * values), strict=True)),
            theme="light",
        )
    ]
    same = panels.Values("equal", np.full(5, 0.25), panels.POSITIVE)
    figures += [histogram_chart(panels.Histogram("Equal", "score", (same,), "all equal"), theme="light")]
    figures += [
        shares_chart(t, {"features": values[0], "rest": -values[1]}),
        risk_chart(t, {"ridge": values[2], "x": -values[0]}, theme="dark"),
        risk_chart(t[:4], {"one": np.array([2.0, 1.0, -1.0, -3.0]), "two": np.full(4, 3.0)}, theme="light"),
    ]
    lines += [line for figure in figures for line in of_json(json.loads(encoded(figure)))]
    t, low = np.arange(1, 5), np.array([0.0, 1e-3, -1.0, 0.1])
    made = line_chart([Curve("a", t, t / 2, "#000000", band=(low, t * 1.0))], title="", is_log_y=True)
    lines += of_json(json.loads(encoded(made)))
    for places, is_log in (([500, 1000, 2000, 4000, 8000, 12000], True), ([0.1, 0.3], False), ([0, 1, 10], True)):
        curve = Curve("a", np.arange(1, 4), np.array([1e-9, 0.0, 2.0]), "#000000")
        made = line_chart([curve], title="", is_log_x=is_log, is_log_y=True, x_title="points", x_ticks=places)
        lines += [*of_json(json.loads(encoded(made))), f"ticks {made['layout']['xaxis'].get('ticktext')}"]
    for high in (4.0, 1e3, 1e30):
        made = line_chart([Curve("a", np.arange(2), np.array([0.3, high]), "#000000")], title="", is_log_y=True)
        lines += [f"{key} {made['layout']['yaxis'].get(key)}" for key in ("tickvals", "dtick")]
    for right, known, is_pairs in (
        (9, 11, False),
        (9, 11, True),
        (98, 100, False),
        (60, 100, False),
        (60, 100, True),
        (0, 0, False),
    ):
        lines += [
            f"agreement: {agreement(Coverage(np.zeros(100), np.zeros(100), right, known), is_pairs=bool(is_pairs))}"
        ]
    changes = (Change(3, "lam", 0.25), Change(9, "step_size", 1 / 8))
    for setting in SETTINGS:
        spec = small(
            setting, data={"test_share": 0.41, "scaling": "standard"}, solver={"lam": 0.07, "average": None}, seed=5
        )
        spec = replace(spec, changes=changes)
        other = small(setting, solver={"step_size": 0.3, "lam": 0.01, "schedule": "theta/t"})
        lines += [f"{setting}: {brief(links.link_to_run(spec))}", f"question {brief(links.to_question(other))}"]
        lines += [f"differs {what_differs(spec, other)}", f"in a table {differing([spec, other, spec], 'ABC')}"]
    one = {"name": "iris", "convert": "one against the rest"}
    iris = [Spec.from_dict({"setting": "auc", "data": one | {"positive": code}}) for code in (0, 2)]
    lines += [f"in a table {differing(iris, 'AB')}"]
    iris += [Spec.from_dict({"setting": "auc", "data": {"name": "iris", "convert": one["convert"], "n_labeled": 30}})]
    lines += [f"to {brief(links.link_to_run(spec))}" for spec in iris]
    check("pages_functions", [part for line in lines for part in textwrap.wrap(line, WIDTH)])
