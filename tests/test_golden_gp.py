"""What pages show for links with unusual values, as it is kept in tests/golden/."""

import base64
import json
import re
import textwrap
import zlib
from collections.abc import Iterable, Mapping

import numpy as np
import pytest
from golden_files import _FRACTION, check, summary
from google.protobuf.message import Message
from opened_pages import checked, full, left_in_browser, open_page

from dsgcore.experiments import SETTINGS
from pages.session import bench as benches

WIDTH, LONGEST, MOST = 380, 80, (220, 110)  # of a line, of a text; new lines of a setting's page, and of another one
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
    *(("explore", link) for link in ("", "setting=multiclass view=Importance")),
    *(("convergence", link) for link in ("", "setting=s3vm quantity=gradient")),
    *(("data", link) for link in ("", "data.name=Iris setting=s3vm")),
    *(("how_it_works", link) for link in ("", "screen=3")),
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
    check("gp_pages", lines)
