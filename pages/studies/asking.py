"""The question of a study as widgets: a setting, its data, the sliders that vary, and the number of seeds."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsgcore.core.parameters import Choice, Flag, Integer, Real
from dsgcore.data.edits import fit_any_seed
from dsgcore.experiments import SETTINGS
from dsgcore.settings import profile_of
from dsgcore.studies import MEASURES, Study
from dsgcore.studies.study import MOST_AXES
from pages.controls.control import Control, count, draw, in_link
from pages.studies.question import Question, can_be_axis

PREFIX = "x_"
MOST_SEEDS, USUAL_SEEDS = 50, 3
MOST_POINTS, USUAL_POINTS = 400, 60
USUAL_VALUES = 6
# By default the ends of a logarithmic axis are the usual value times these.
REACH = 1 / 10.0, 10.0
SCORE, TIME = "score", "time"  # measures
MAIN, PARALLEL, CONTOUR, SLICES, IMPORTANCE = VIEWS = "Together", "Parallel", "Contour", "One by one", "Importance"
SAID = {name: measure.name for name, measure in MEASURES.items()} | {TIME: "time to score"}
SEEDS, RANDOM, POINTS, BEST_FIRST, TARGET, MEASURE, VIEW = OWN = tuple(
    Control(PREFIX + p.name, "", p, say=lambda value: SAID.get(value, str(value)))
    for p in (
        Integer("seeds", USUAL_SEEDS, low=1, high=MOST_SEEDS).called(
            "Seeds", "DSG Lab runs each point once with each seed."
        ),
        Flag("random", False).called(
            "At random",
            "Random points between the ends, instead of all combinations. Use it for three axes or more.",
        ),
        Integer("points", USUAL_POINTS, low=2, high=MOST_POINTS).called("Points", ""),
        Flag("best_first", False).called(
            "Best first",
            "Successive halving: one seed for each point, three for the best third, and nine for the best third of those. "
            "Each round takes about the same time. The other points keep the seeds that they have.",
        ),
        Real("target", None, low=0.0, high=1.0, optional=True),
        Choice("measure", SCORE, options=(*MEASURES, TIME), label="Compare by"),
        Choice("view", MAIN, options=VIEWS, label="Axes"),
    )
)
QUESTION = Question(PREFIX, OWN, tuple(SETTINGS), MOST_AXES)


def draw_question(main: DeltaGenerator, upload: DeltaGenerator) -> Study | None:
    """Draw the setting, the data and all other values in the sidebar, and at `main` the varied sliders, their values and the seeds.

    Return None if the reader must still choose a file. Raise `SpecError` if a value or the study is not valid.
    """
    begun = QUESTION.begin(upload)
    axes = {f"{c.section}.{name}": c for name, c in begun.offered.items() if can_be_axis(c)}
    idle = QUESTION.without_effect(begun)
    effective = {name: c for name, c in axes.items() if c.parameter.name not in idle}
    # By default the step size and the width of the kernel vary.
    widths = [name for name, c in effective.items() if c.section == "kernel" and isinstance(c.parameter, Real)]
    front = [f"{begun.offered[name].section}.{name}" for name in profile_of(begun.problem).front]
    steps = [name for name in front if name in effective and not name.startswith("data.")]
    vary = QUESTION.followed(QUESTION.varied(begun.problem, axes, (*steps[:1], *(widths or steps[1:])[:1])))
    asked = st.session_state.get(vary.key, ())  # a link may name one without effect
    with main:
        first, second, third = st.columns([4, 1, 1.5], gap="small", vertical_alignment="bottom")
        chosen = first.multiselect(
            vary.parameter.label,
            [name for name in axes if name in effective or name in asked],
            default=vary.usual,
            key=vary.key,
            max_selections=MOST_AXES,
            format_func=vary.say,
            help="Up to four sliders. The others keep their values in the sidebar.",
        )
        in_link(vary, chosen)
        with second:
            n_seeds = count(SEEDS, help=SEEDS.parameter.sentence)
        with third:
            is_random = draw(RANDOM) and len(chosen) > 1
            is_best_first = bool(draw(BEST_FIRST))
        points = count(POINTS) if is_random else None
        said = []
        for row in filter(None, (chosen[:2], chosen[2:])):
            for place, name in zip(st.columns(2, gap="medium"), row, strict=False):
                with place:
                    said.append(QUESTION.axis(name, axes[name], points, reach=REACH, usual=USUAL_VALUES))
    spec = QUESTION.spec(begun, {axes[name].parameter.name for name in chosen}, main)
    if spec is None:
        return None
    seeds = list(range(n_seeds)) if fit_any_seed(spec.data.edits) else [spec.seed]
    plain = {"spec": spec.to_dict(), "axes": said, "seeds": seeds, "budget": {"best_first": is_best_first}}
    return Study.from_dict(plain)
