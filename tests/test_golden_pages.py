"""What pages show for links with unusual values, as it is kept in tests/golden/."""

import base64
import json
import re
import textwrap
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import pytest
from golden_files import _FRACTION, check, summary
from google.protobuf.message import Message
from opened_pages import checked, full, left_in_browser, open_page
from room_phones import CURVE, MAP, NUMBER, PICK
from small_specs import small

from dsgcore.experiments import SETTINGS
from dsgcore.settings import panels
from dsgcore.solver.task import Change
from pages.charts.detail_charts import confusion_chart, parts_chart, risk_chart, shares_chart
from pages.charts.live_chart import encoded
from pages.controls import control
from pages.controls.link import what_differs
from pages.race import result as race_result
from pages.room.drawings import answers
from pages.session import bench as benches
from pages.shell import plain_text
from pages.stage import step
from pages.studies import links
from pages.studies.differing import differing

WIDTH, LONGEST, MOST = 380, 80, (500, 90)  # of a line, of a text; new lines of a setting's page, and of another one
NOT_SHOWN = """id js_content css_content component_name page_script_hash deferred_file_id label_visibility wrap element_type
arrow_data form_id url is_default has_min has_max data_type columns query_param_key editing_mode row_height library
ignore_rerun accept_new_options tracked template ticks ticklen tickcolor exponentformat allow_empty width_config set_value
hovertemplate raw_value zsmooth colorbar xanchor showgrid zeroline constrain constraintoward automargin hovermode order"""
NOT_SHOWN = NOT_SHOWN.split()
CHANGES = {r"\b[0-9a-f]{12,}\b": "HASH", r"/(tmp|work|home)/[^\s\"']*": "PATH", r"About [\d.,]+ \w+ on": "About … on"}
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
        elif child.type == "arrow_data_frame":
            yield f"table {child.value.shape}"
            yield from child.value.head(12).to_csv(float_format="%.5g").splitlines()
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
)
SPEC += "schedule=theta/t step_size=2.3 lam=0.013 average=tail seed=11 at=37 "
LOOK = "speed=fast map=error divider=h truth=true mistakes=true log_objective=true "
CHANGED = "changes=0:lam=0.1,5:lam=0.013,0:step_size=1.1,9:step_size=2.3 "
PAGES = [
    ("auc", SPEC + LOOK + CHANGED + "gamma=0.35 label_noise=0.1 look=23"),
    ("auc", "lesson=five-labels:2:answer"),
    ("auc", "lesson=unlabeled:1:1 present=1 at=300"),
    ("auc", "lesson=random-features:1"),
    ("auc", "data.name=file hide=sidebar,tabs"),
    ("s3vm", SPEC + LOOK + "map=h kernel.name=laplacian n_irrelevant=3 map_x=x2 by_hand=true at=11"),
    ("s3vm", "lesson=gap:2:answer at=300"),
    ("s3vm", "step_size=100 at=90"),
    ("ordinal", SPEC + "data.name=diabetes n_classes=4 stratified=true divider=none columns=true"),
    ("similar_unlabeled", SPEC + "n_labeled=22 loss=squared tab=Code divider=none truth=true"),
    ("similar_unlabeled", "lesson=corrections:2:answer present=1 at=100"),
    ("supervised", SPEC + "data.name=digits kernel.name=matern nu=5/2 mistakes=true n_labeled=30"),
    ("multiclass", SPEC + "data.name=blobs n_classes=4 class_map=margin graph=true mistakes=true n_labeled=30"),
    ("multiclass", "data.name=wine at=20 n_iter=20 truth=true"),
    *(
        ("explore", link)
        for link in ("view=Parallel", "setting=s3vm view=Contour", "setting=multiclass view=Importance")
    ),
    *(("convergence", link) for link in ("", "setting=s3vm quantity=gradient")),
    *(("data", link) for link in ("", "data.name=Iris setting=s3vm")),
    *(("how_it_works", link) for link in ("screen=2", "screen=4", "screen=5")),
    *((name, "") for name in ("papers", "methods", "lessons", "glossary", "take_away", "pinned")),
]


@pytest.mark.usefixtures("store")
def test_pages_show_what_they_showed(monkeypatch):
    monkeypatch.setattr(benches, "LONGEST_GO", 600.0)  # on a busy machine a second is not enough
    seen, lines = set(), []
    for name, text in PAGES:
        link = dict(entry.split("=", 1) for entry in text.split())
        app = checked(open_page(name, **full(name, link) if name in SETTINGS else link))
        shown = new([f"left {brief(left_in_browser(app))}", *drawn(app._tree)], seen)
        lines += ["", f"## {name} {text}", *shown[: MOST[name not in SETTINGS]]]
    check("pages", lines)


SENTENCES = ("-1 to -2.5e-07 and 3e+05", "see www.a.test, *b* [c](d) $x$ e-4 a-1", "AUC of it.", "Step size", "x" * 90)
NUMBERS = (0.0, -1.0, 7.0, 0.12345, 12345.678, -3.2e-7, 1e6, float("inf"))
QUESTION_RESULTS = ({}, {"right": 1, "value": 0.3})
ROUNDS = {PICK: [[0, 1, 1], [2, 1]], NUMBER: [[0.05, 0.41], [0.9]], CURVE: [[[0.5 + k / 9] * 6 for k in range(4)]] * 2}
ROUNDS[MAP] = [[[0.05, 0.95] + [0.55, 0.25] * 4], [[0.3, 0.7] * 5]]


def test_functions_return_what_they_returned():
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
    for function in (plain_text.short_number, control.brief, control.shown, race_result._seconds):
        lines += [f"{function.__name__}: {[function(value) for value in NUMBERS]}"]
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
    figures += [
        shares_chart(t, {"features": values[0], "rest": -values[1]}),
        risk_chart(t, {"ridge": values[2], "x": -values[0]}, theme="dark"),
    ]
    lines += [line for figure in figures for line in of_json(json.loads(encoded(figure)))]
    changes = (Change(3, "lam", 0.25), Change(9, "step_size", 1 / 8))
    for setting in SETTINGS:
        spec = small(
            setting, data={"test_share": 0.41, "scaling": "standard"}, solver={"lam": 0.07, "average": None}, seed=5
        )
        spec = replace(spec, changes=changes)
        other = small(setting, solver={"step_size": 0.3, "lam": 0.01, "schedule": "theta/t"})
        lines += [f"{setting}: {brief(links.link_to_run(spec))}", f"question {brief(links.to_question(other))}"]
        lines += [f"differs {what_differs(spec, other)}", f"in a table {differing([spec, other, spec], 'ABC')}"]
    check("pages_functions", [part for line in lines for part in textwrap.wrap(line, WIDTH)])
