"""Golden results of runs of specs drawn at random: data, history, judgement, limits, theory, races and exports."""

import json
from dataclasses import replace
from itertools import product

import golden_files
import numpy as np
import pandas as pd
import pytest
from golden_files import lines_of, shown, tried
from own_tables import lines, own_spec, sniff, table, with_pairs
from small_specs import finished, small

from dsgcore.core.errors import DSGError
from dsgcore.core.metrics import Difference
from dsgcore.core.parameters import Choice, Flag, Integer, Real
from dsgcore.data import DATASETS
from dsgcore.data.edits import CHOICES, read_edits
from dsgcore.diagnostics import (
    amplitudes,
    convergence,
    feature_trajectory,
    feature_wave,
    has_inside,
    judgement,
    limits,
    point_pull,
    point_trajectory,
)
from dsgcore.diagnostics.limits import HALF_THE_LABELS, LESS, MORE, NEGLIGIBLE
from dsgcore.experiments import (
    SETTINGS,
    LiveRun,
    Plane,
    Spec,
    SpecError,
    Surface,
    as_in_paper,
    breaches,
    broken_by,
    default_spec,
    kept_to,
    load_split,
    outcome_of,
    script,
    summary,
    theory_of,
)
from dsgcore.experiments.data_of import as_in_app, edited_split, preparation_of, read_spec, with_choice, with_digest
from dsgcore.experiments.engine import Budget, check_cost, cost_of
from dsgcore.experiments.race import (
    Race,
    competitor,
    competitors,
    fixed_parameters,
    free_parameters,
    kernel_note,
    plain_name,
    run_heats,
    run_race,
    smaller,
    summaries,
    title,
    usual_rivals,
    usual_sizes,
    why_not_fixed,
    with_fixed_features,
)
from dsgcore.experiments.run import stable_step, step_limit
from dsgcore.experiments.spec import sections_of, usual_width_of
from dsgcore.experiments.suggesting import _Runs
from dsgcore.experiments.verdict import best_score, choice_measures, fallen, random_choices
from dsgcore.kernels import KERNELS
from dsgcore.multiclass.problem import VARIANTS
from dsgcore.settings import profile_of
from dsgcore.settings.panels import OnRequest

OUTCOMES = ("score_test@0.25", "objective@0.7", "distance", "overstated")
SPLIT = (
    "X_train",
    "y_train",
    "y_hidden",
    "X_test",
    "y_test",
    "train_rows",
    "test_rows",
    "class_names",
    "feature_names",
)
SLOW = (
    "Boosting",
    "OrdinalBoosting",
    "RandomForest",
    "QNS3VM",
)  # which take most of the time, or end after other steps
OF_KERNEL = ("kernel", "sigma", "length", "nu", "power")
# By a parameter's name: values to draw from; others are drawn from their range.
VALUES = {
    **{"n_iter": (9, 12, 15), "n_features": (7, 16, 30), "batch_size": (5, 9, 21), "step_size": (None, 0.07, 0.3, 0.9)},
    **{"lam": (0.0, 0.003, 0.04, 0.3), "tol": (0.0, 0.0, 0.3), "labeled_weight": (0.6, 2.0), "leak": (0.2, 1.4)},
    **{"unlabeled_weight": (None, 0.3, 1.5), "tau_I": (None, 0.01, 0.2), "tau_S": (0.0, 0.02), "radius": (None, 4.0)},
    **{"n_neighbors": (3, 6), "prior": (0.35, 0.62, 0.8), "s": (-0.7, -0.2), "n": (90, 120), "noise": (0.1, 0.3)},
    **{
        "n_labeled": (10, 14, 18),
        "test_share": (0.3, 0.45),
        "label_noise": (0.0, 0.0, 0.15),
        "prior_shift": (0.0, 0.25),
    },
    **{
        "patience": (0, 0, 2),
        "tolerance": (1e-4, 0.05),
        "n_probes": (0, 13, 40),
        "n_classes": (3, 4),
        "n_irrelevant": (1, 3),
    },
    **{"imbalance": (0.3, 0.4), "separation": (1.2, 2.5), "gamma": (0.0, 0.3, 0.8, 1.0), "theta": (0.2, 0.7)},
    "dtype": ("float64",),
}
STEERED = {"step_size": 0.11, "n_features": 11, "lam": 0.02, "tau_I": 0.003, "tau_S": 0.004}
REFUSED = (
    {"seed": -1},
    {"setting": "auk"},
    {"data": {"name": "file", "path": "absent.csv"}, "kernel": {"length": 1}},
    {"solver": {"lam": "x"}},
)
GIVEN = ({}, {"kernel": {"sigma": 0.3}, "solver": {"n_iter": 11}}, {"solver": {"lam": 0.1}})
FILES = (
    (
        "binary",
        lines("a;b;k;y", *(f"{i % 7},5;{i * i % 11};{'uvw'[i % 3]};{['no', 'yes'][i * i % 5 > 1]}" for i in range(70))),
    ),
    ("pairs", with_pairs()),
    ("ordinal", lines("a,b,y", *(f"{i % 13},{i * 7 % 10},{['low', 'mid', 'high'][i % 13 // 5]}" for i in range(80)))),
    ("classes", table(90).to_csv(index=False).encode()),
)


def drawn_value(p, rng):
    if p.name in VALUES:
        return VALUES[p.name][rng.integers(len(VALUES[p.name]))]
    if isinstance(p, Choice):
        some = [*p.options, *([None] * p.optional)]
        return some[rng.integers(len(some))]
    if isinstance(p, Flag):
        return bool(rng.integers(2))
    if isinstance(p, Real | Integer):
        return type(p.default or 1.0)(rng.uniform(p.low, p.high))
    return p.default


def drawn_spec(setting, number):
    """Return a spec in which every section's values are drawn."""
    rng, kind = np.random.default_rng([number, *map(ord, setting)]), SETTINGS[setting]
    sets = [entry for entry in DATASETS.values() if entry.suits(kind.labels) and entry.options]
    entry, kernel = sets[rng.integers(len(sets))], kind.kernels[rng.integers(len(kind.kernels))]
    plain = {name: {p.name: drawn_value(p, rng) for p in own} for name, own in sections_of(kind).items()}
    width = {name: value * rng.uniform(0.5, 2.0) for name, value in usual_width_of(kind, entry.name, kernel).items()}
    choices = {p.name: drawn_value(p, rng) for p in KERNELS[kernel].parameters if isinstance(p, Choice)}
    hiding = ("n_labeled", "test_share", "stratified", "label_noise", "prior_shift", "scaling")
    data = {name: plain["data"][name] for name in hiding} | {"name": entry.name}
    for option in entry.options:
        data[option.name] = min(max(plain["data"][option.name], option.low), option.high)
    if kind.labels == "pairs":
        data["n_labeled"] = 6
    made = {"setting": setting, "seed": int(rng.integers(9)), "kernel": {"name": kernel, **width, **choices}}
    try:
        spec = Spec.from_dict(plain | made | {"data": data})
    except SpecError as error:
        return str(error)
    changes = [{"t": int(rng.integers(2, 8)), "name": name, "value": STEERED[name]} for name in spec.steerable]
    return replace(spec, changes=tuple(changes[: rng.integers(3)]))


def changes_in(spec, other):
    """Return what another spec has otherwise, by section and name."""
    one, two = ({f"{s} {n}": v for s, own in x.to_dict().items() for n, v in items_of(own)} for x in (spec, other))
    return {n: value for n, value in two.items() if value is not None and one.get(n) != value and n != "data recipe"}


def items_of(value):
    return value.items() if isinstance(value, dict) else [("", value)]


def of_run(spec, split):
    """Yield lines about all that is said of a run, and of its twin."""
    yield from lines_of("spec", changes_in(default_spec(spec.problem.name), spec))
    yield from lines_of("data", {name: getattr(split, name) for name in SPLIT} | {"shape": split.shape})
    live = LiveRun(spec, split=split)
    live.advance()
    run, twin = live.run, live.supervised
    yield from lines_of(repr(run), (run.health, run.tried, run.length, run.averaged_after, float(run.result_shift)))
    yield from lines_of("start, limit, stable, best, fallen", start_of(run))
    for name in (name for name in run.history.names if name != "t"):
        column = run.history.column(name)
        yield f"  {name} {shown(float(column[len(column) // 2]))} {shown(float(column[-1]))} {shown(column)}"
    values = (
        run.result_test_values,
        run.result_at(split.X_test[::3]),
        run.result_labeled_values,
        run.result_unlabeled_values,
    )
    yield from lines_of("values", [np.asarray(one) for one in values])
    yield from tried("outcome", outcome_of, live, OUTCOMES)
    yield from tried("judged", judgement, run, baseline=twin)
    yield from lines_of("summary", {name: value for name, value in summary(run).items() if name != "last"})
    details = profile_of(spec.problem).details(run)
    yield from lines_of("panels", (details, profile_of(spec.problem).risks(run)))
    for one in (one for rows in details[2:] for row in rows for one in row if isinstance(one, OnRequest)):
        yield from tried(one.name, one.compute)
    yield from lines_of("script", script(run).partition("\nrun = ")[2].split("\n"))


def start_of(run):
    return run.start_objective, step_limit(run), stable_step(run, run.t), best_score(run), fallen(run)


def of_theory(spec):
    """Yield lines about a spec's cost and theory."""
    cost = cost_of(spec)
    yield from lines_of("cost", (cost.memory, cost.seconds, cost.likely, cost_of(spec, of_data=True).memory))
    for budget in (Budget(int(0.9 * cost.memory)), Budget(cost.memory // 9), Budget(10**12, cost.seconds / 3)):
        yield from tried("refused", check_cost, spec, budget)
    theory = theory_of(spec)
    yield from lines_of(
        "theory", {name: getattr(theory, name) for name in ("holds", "error_slope", "rates", "assumptions")}
    )
    for name, other in (("kept", kept_to(spec)), ("paper", as_in_paper(spec, 77)), ("twin", spec.baseline())):
        yield from lines_of(name, changes_in(spec, other))
    for breach in breaches(spec):
        broken = broken_by(spec, breach)
        yield from lines_of(breach.name, (breach.then, theory_of(broken).holds, changes_in(kept_to(spec), broken)))


def of_diagnoses(spec, split):
    """Yield lines about the parts of a run, measured limits, trajectories, suggestions, and looking back."""
    live = LiveRun(spec, split=split)
    live.advance(4)
    live.steer({name: 1.5 * value for name, value in spec.values_at(4).items() if isinstance(value, float)})
    live.go_to(7, 1e9)
    run, Z = live.run, split.X_test[:9]
    yield from lines_of(
        "steered", (run.spec.changes, repr(live.at(3).run), repr(run.at(2)), live.has_reached(7), live.is_finished)
    )
    yield from tried("judged early", judgement, run.at(3))
    yield from tried("remedied", lambda: changes_in(spec, judgement(run).changed(run.spec)))
    next_one = LiveRun(replace(spec, solver=replace(spec.solver, lam=0.07)), live)
    yield from lines_of("next", (repr(next_one.ghost), repr(next_one.previous), next_one.previous_spec == run.spec))
    for axes in ((None, None), (1, None), (1, 0)):
        plane = Plane.through(split.X_train, axes, split.feature_names)
        yield from lines_of("plane", (plane, plane.project(Z), plane.grid(5)))
    if has_inside(run):
        yield from lines_of("surface", Surface(plane.grid(6), run.model).values(run.model))
        yield from lines_of(
            "features", (amplitudes(run.model), feature_wave(run.model, 2, 3, Z), feature_trajectory(run.model, 3, 4))
        )
        yield from lines_of("point", (point_pull(run, 5, Z), point_trajectory(run, 5)))
        found = limits(replace(spec, changes=()), (3, 5), split=split)
        yield from lines_of("limits", found.to_dict())
        yield from lines_of("four runs", found.runs)
        yield from tried("judged by limits", judgement, run, limits=found)
        made = convergence(spec, (2, 6), split=split)
        for name in made.quantities:
            yield from lines_of(
                name, (made.slope(name), made.median(name), made.band(name), made.mean(name), made.bounds(name))
            )
        yield from lines_of("constants", (made.t, made.constants(), made.theorem_bound(), made.n_diverged))
    if spec.problem.labels != "pairs":
        yield from lines_of("choices", random_choices(spec, split, n=4))
    try:
        runs = _Runs(spec, split)
    except DSGError as error:
        yield f"suggesting: {error}"
        return
    drawn = [runs.draw(np.random.default_rng(seed)) for seed in (0, 1)]
    yield from lines_of("suggesting", (runs.own, drawn, runs.n_iter(0.3), [len(test) for _, test in runs.rows]))
    yield from tried("scored", runs.fitted_score, drawn[0], 1.0, 1, lambda: False)


def spec_with(setting, data, kernel):
    return Spec.from_dict({"setting": setting, "data": data, "kernel": {"name": kernel}})


def refused_heats(spec, names, sizes):
    return [heat.note for heat in run_heats(spec, names, sizes, 1)]


def of_race(spec, split):
    """Yield lines about a run's competitors."""
    for kind in competitors(spec.problem.name):
        fixed, free = fixed_parameters(spec, kind), {p.name: p.default for p in free_parameters(spec, split, kind)}
        yield from lines_of(plain_name(kind), (title(spec, plain_name(kind)), kernel_note(spec, kind), fixed, free))
        yield from lines_of("  words", (kind.sentence, kind.citation))
        others = [spec_with(spec.problem.name, {"n_labeled": 10}, name) for name in SETTINGS[spec.problem.name].kernels]
        own = (
            {name: value for name, value in fixed_parameters(one, kind).items() if name in OF_KERNEL} for one in others
        )
        yield from lines_of("  kernels", zip(own, [kernel_note(one, kind) for one in others], strict=True))
        if plain_name(kind) not in SLOW:
            race, told = Race(spec, plain_name(kind), {**fixed, **free}), []
            yield from tried("  raced", run_race, race, split, report=told.append)
            yield from lines_of("  told", told[-1:])
    sizes, usual = usual_sizes(split), usual_rivals(spec.problem.name)
    small = smaller(split, 17, 3)
    yield from lines_of("rivals", (usual, sizes, why_not_fixed(spec), small.train_rows, small.y_train))
    yield from tried("fixed", lambda: changes_in(spec, with_fixed_features(spec)))
    told, rivals = [], [*usual[:1], *["fixed"] * (not why_not_fixed(spec))]
    heats = run_heats(spec, rivals, (14, 9), 2, seconds=1e9, report=lambda so_far: told.append(so_far[:2]))
    yield from lines_of("heats", (heats, summaries(heats).drop(columns=["seconds"]), told[-2:]))
    shorter = replace(spec, solver=replace(spec.solver, n_iter=2), changes=())
    for names, sizes in ((["Nobody"], (9,)), (usual, (0,)), (usual, (9, 10**6)), (["fixed"], (9,))):
        yield from tried("  refused", refused_heats, shorter, names, sizes)
    yield from tried("competitor", competitor, spec.problem.name, "Nobody")


def brief(spec, split):
    """Yield a line or two about a run."""
    live = LiveRun(spec, split=split)
    live.advance()
    last = {name: value for name, value in live.run.history.last().items() if "singular" not in name}
    said = live.run.stop_reason, judgement(live.run).sentence, split.train_rows, live.run.result_test_values, last
    yield from lines_of(f"{spec.data.name} {spec.kernel.name} {spec.sha256[:6]}", said)


# For specs drawn by these numbers: all that is said of a run, of its diagnoses, of its competitors, of its theory; and a line.
PARTS = (
    *((of_run, range(2)), (of_diagnoses, (1,)), (of_race, (1,))),
    *((lambda spec, split: of_theory(spec), (0,)), (brief, range(2, 12))),
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("setting", SETTINGS)
def test_runs(setting):
    found = []
    for part, numbers in PARTS:
        for number in numbers:
            spec = drawn_spec(setting, number)
            found += [f"# {setting} {number}", *(part(spec, load_split(spec)) if isinstance(spec, Spec) else (spec,))]
    golden_files.check(f"runs_{setting}", found)


EDITS = [{"do": "paint", "at": [0.1, 0.2, 0.9, 0.8], "to": 1, "is_labeled": True}, {"do": "erase", "rows": [3, 4, 5]}]


def data_of_each(specs):
    """Return the data of runs, each of which is made after the one before it."""
    live, found = None, []
    for spec in specs:
        live = LiveRun(spec, live)
        found.append([getattr(live.run.split, name) for name in ("y_train", "X_test")])
    return found


def with_edits(spec, edits):
    return replace(spec, data=replace(spec.data, edits=edits))


@pytest.mark.filterwarnings("ignore")
def test_runs_of_files_and_edited_points(tmp_path, monkeypatch):
    found, place = [], tmp_path / "spec.json"
    monkeypatch.chdir(tmp_path)
    for number, (labels, content) in enumerate(FILES):
        name, recipe = f"{labels}.csv", sniff(content, f"{labels}.csv", labels=labels)
        (tmp_path / name).write_bytes(content)
        found += lines_of(f"# {labels}", recipe.to_dict())
        for setting in (one for one, kind in SETTINGS.items() if kind.labels == labels):
            spec, files = own_spec(content, recipe, setting, name, n_labeled=7 + number, scaling="standard")
            split = load_split(spec, files=files)
            spec = replace(spec, solver=replace(spec.solver, dtype="float64", n_iter=8))
            found += [f"# {setting}", *(brief if setting in ("supervised", "s3vm") else of_run)(spec, split)]
            plain = {"setting": setting, "data": {"name": "file", "path": name, "recipe": recipe.to_dict()}}
            for given in REFUSED * (setting == "auc"):
                place.write_text(json.dumps(plain | given))
                found += tried("read", read_spec, place)
            for given in GIVEN:
                place.write_text(json.dumps(plain | given))
                found += lines_of("read", changes_in(default_spec(setting), read_spec(place)))
            named = with_digest(as_in_app(read_spec(place), has_recipe=True)[0])
            found += lines_of(
                "named", (changes_in(read_spec(place), named), named.data.recipe.positive, named.data.recipe.order)
            )
            frame = pd.read_csv(tmp_path / name, sep=recipe.delimiter, decimal=recipe.decimal)
            found += tried("features", preparation_of(spec, split).transform, frame)
    for setting, choice in product(("auc", "s3vm", "multiclass"), CHOICES):
        spec = Spec.from_dict({"setting": setting, "data": {"name": "two_moons", "n": 80, "n_labeled": 6}, "seed": 3})
        edits, before = with_choice(spec, choice).data.edits, load_split(spec)
        found += lines_of(f"{setting}, {choice}", (len(edits), [one.to_dict() for one in edits[:2]]))
        edited = with_edits(spec, edits)
        found += tried(
            "  points",
            lambda made, split: {n: getattr(edited_split(made, split), n) for n in SPLIT[:7]},
            edited,
            before,
        )
    edited = with_edits(spec := default_spec("auc"), read_edits(EDITS))
    others = with_edits(spec, edited.data.edits[:1]), spec, replace(edited, seed=4), as_in_paper(edited, 77), edited
    found += lines_of("one after the other", data_of_each((edited, *others)))
    golden_files.check("runs_files", [line.replace(str(tmp_path), "FOLDER") for line in found])


# --- specs: what is refused, what goes with a data set, and the assumptions that each option breaks

CHANGE = {"t": 1, "name": "step_size", "value": 1.0}
BAD_CHANGES = (3, "abc", {}, [3], [{}], [{"t": 1, "name": "lam"}], *([CHANGE | {"t": t}] for t in (301, 1.5)))
BAD_CHANGES += tuple([CHANGE | more] for more in ({"name": "n_features", "value": 0}, {"name": "sigma"}, {"more": 2}))
BAD_DATA = (
    {"name": "file"},
    {"name": "digits", "path": "x.npz"},
    {"name": "digits", "n": 5000},
    {"name": "iris", "n": 151},
)
BAD_DATA += ({"name": "two_moons", "noise": 3.0}, {"name": "file", "path": "x.npz", "noise": 0.5}, {"name": "friedman"})
NO_SPECS = ("", "{", "[1, 2]", "null", "3", "[" * 100_000, '{"setting": "auc"} x', '{"setting": "auk"}', "{}")


def of_wrong_values(setting):
    plain = default_spec(setting).to_dict()
    for section, own in plain.items():
        if not isinstance(own, dict):
            continue
        for changed in (3, [1], own | {"bogus": 1}, *(own | {name: ["abc\n"]} for name in own)):
            yield from tried(section, lambda given: Spec.from_dict(given).sha256, plain | {section: changed})


def changes_of(problem, other):
    return [p.name for p in problem.parameters if getattr(problem, p.name) != getattr(other, p.name)]


def fixed_of(spec):
    return (
        why_not_fixed(spec)
        or with_fixed_features(replace(spec, solver=replace(spec.solver, n_iter=7))).solver.n_features
    )


def of_options(setting):
    """Yield what the theorem lacks with each option of the method, and what meets it then."""
    spec = default_spec(setting)
    for own in SETTINGS[setting].parameters:
        for option in own.options if isinstance(own, Choice) else (False, True) if isinstance(own, Flag) else ():
            try:
                made = Spec.from_dict({"setting": setting, "problem": {own.name: option}})
            except SpecError as error:
                yield f"{own.name} {option}: {error}"
                continue
            lacks = [(one.sentence, one.why_not) for one in theory_of(made).assumptions if not one.holds]
            kept = kept_to(made)
            yield from lines_of(
                f"{own.name} {option}", (lacks, changes_in(made, kept), theory_of(kept).holds, fixed_of(made))
            )
    for kernel in SETTINGS[setting].kernels:
        kept = kept_to(Spec.from_dict({"setting": setting, "kernel": {"name": kernel}}))
        left = [(one.sentence, one.why_not) for one in theory_of(kept).assumptions if not one.holds]
        yield from lines_of(f"kernel {kernel}", (left, kept.kernel))
    yield from lines_of("assumptions", [one.sentence for one in theory_of(spec).assumptions])
    for name in (name for name, entry in DATASETS.items() if entry.suits(SETTINGS[setting].labels)):
        of_set = Spec.from_dict({"setting": setting, "data": {"name": name}})
        yield from lines_of(f"with {name}", changes_in(spec, of_set))


def test_specs():
    found = []
    for setting in SETTINGS:
        found += [f"# {setting}", *of_options(setting), *of_wrong_values(setting)]
        changes = BAD_CHANGES if setting in ("auc", "multiclass") else ()
        for name, wrong in [*product(["changes"], changes), *product(["data"], BAD_DATA)]:
            found += tried(name, lambda given: Spec.from_dict(given).sha256[:4], {"setting": setting, name: wrong})
    many, names = SETTINGS["multiclass"], ("loss", "feature_map", "fit_intercept", "variant")
    options = [next(p for p in many.parameters if p.name == name).options for name in names[:2]]
    plain = [(*(own[0] for own in options), True, variant) for variant in VARIANTS[2:]]
    for given in (*product(*options, (True, False), VARIANTS[:2]), *plain):
        own = many(**dict(zip(names, given, strict=True)))
        found += lines_of(str(given), (own.without_effect, own.engine_of_run, changes_of(own, own.baseline())))
    for text in NO_SPECS:
        found += tried("text", Spec.from_json, text)
    golden_files.check("specs", found)


# --- judgements: of runs by what spoils them, and of one run by what may have been measured of it

GOOD = {"kernel": {"name": "gaussian", "sigma": 10.0}, "data": {"name": "two_moons", "n": 400, "n_labeled": 60}}
OF_AUC = {"setting": "auc", **GOOD}
OF_HINGES = {"setting": "s3vm"}
OF_ORDERED = {"setting": "ordinal", "data": {"n": 400, "n_labeled": 60}}
OF_PAIRS = {"setting": "similar_unlabeled", **GOOD, "problem": {"correction": "identity", "prior": 0.7}}
SPOILT = (
    (OF_HINGES, {"step_size": 2.0, "n_iter": 60}),
    (OF_HINGES, {"step_size": 10.0, "n_iter": 5, "schedule": "theta/t"}),
    (OF_HINGES, {"step_size": 0.05, "n_iter": 30}),
    (OF_HINGES | {"kernel": {"sigma": 1e5}}, {"step_size": 0.1, "n_iter": 60}),
    (OF_AUC, {"step_size": 0.1, "n_iter": 30}),
    (OF_AUC, {"step_size": 0.2, "n_iter": 30}),
    (OF_AUC, {"step_size": 0.5, "n_iter": 300, "lam": 0.3}),
    (OF_AUC, {"step_size": 0.5, "n_iter": 100, "batch_size": 2}),
    (OF_AUC, {"step_size": 0.5, "n_iter": 100, "n_features": 2, "batch_size": 1024}),
    (OF_AUC, {"step_size": 1e4, "n_iter": 100}),
    (OF_AUC | {"kernel": {"name": "gaussian", "sigma": 1e6}}, {"step_size": 0.5, "n_iter": 60}),
    (OF_PAIRS, {"step_size": None, "n_iter": 60, "schedule": "theta/t", "batch_size": 4}),
    (OF_PAIRS | {"problem": {"prior": 0.05}}, {"n_iter": 60}),
    (OF_ORDERED, {"step_size": 0.01, "n_iter": 150, "lam": 0.01}),
    (OF_ORDERED, {"step_size": 0.5, "n_iter": 100, "lam": 0.01, "n_features": 4, "batch_size": 1024}),
    (OF_ORDERED, {"step_size": 0.2, "n_iter": 100, "lam": 5.0}),
    (OF_ORDERED | {"data": {"n": 400, "n_labeled": 6}}, {"step_size": 0.5, "n_iter": 100, "lam": 0.01}),
    ({"setting": "similar_unlabeled"}, {"step_size": 20.0}),  # whose score has fallen
    ({"setting": "multiclass"}, {"lam": 1.0}),
)
AMPLE = {"optimisation": 0.01, "batches": 0.01, "features": 0.01}
MEASURED = (  # parts of the distance, other runs' scores, the largest step
    *(({}, {}, 3.0), *(({"optimisation": 0.5}, {}, largest) for largest in (3.0, 0.3, None))),
    *(({"batches": 0.5}, {}, 3.0), ({"features": 0.09}, {}, 3.0), ({"features": 0.09}, {LESS: 0.02}, 3.0)),
    *(({}, {MORE: 0.02}, 3.0), ({}, {HALF_THE_LABELS: -0.02}, 3.0), ({}, {LESS: -0.02, HALF_THE_LABELS: 0.02}, 3.0)),
    ({}, {LESS: 0.004, MORE: -0.02, HALF_THE_LABELS: -0.004}, 3.0),
    (dict.fromkeys(AMPLE, float("nan")), {}, None),  # a run that grows
)


def of_judgement(spec, found):
    reason = {one.cause.name: one.value for one in found.reason}
    after = changes_in(spec, found.changed(spec)) if found.changes else "nothing"
    return lines_of(found.cause.name, (found.sentence, found.remedy, after, found.expected, reason))


def test_judgements():
    found = []
    for given, solver in SPOILT:
        run = finished(Spec.from_dict({**given, "solver": {"dtype": "float64", **solver}}))
        found += of_judgement(run.spec, judgement(run))
    run = finished(Spec.from_dict(OF_AUC | {"solver": {"step_size": 0.05, "n_iter": 40, "dtype": "float64"}}))
    measured = limits(small("auc", solver={"dtype": "float64"}), seeds=1)
    for parts, scores, largest in MEASURED:
        parts = AMPLE | parts
        whole = max(parts.values())
        leading = max(parts, key=parts.get) if whole > NEGLIGIBLE else "none"
        scores = {name: Difference.around(mean, 0.001, 3, "seeds") for name, mean in scores.items()}
        runs = tuple(replace(one, scale=0.0) for one in measured.runs) if largest is None else measured.runs
        more = {"parts": parts | {"together": whole}, "leading": leading, "scores": scores, "largest_step": largest}
        for own in {measured.runs: 0, runs: 1}:
            found += of_judgement(run.spec, judgement(run, limits=replace(measured, runs=own, **more)))
    for own in ({"step_size": 1e4, "n_iter": 30}, {"lam": 500.0, "step_size": 1e-3}, {"lam": 0.0}):
        of_limits = limits(small("auc", solver={"dtype": "float64", **own}), seeds=3)
        found += lines_of(
            f"limits {own}",
            (of_limits.leading, of_limits.has_grown, of_limits.converged, of_limits.scores),
        )
    for choices, score in product(([0.5], [0.4, 0.6, 0.6, 0.9], [*np.linspace(0.3, 0.7, 41)]), (0.2, 0.5, 0.6, 0.9)):
        found += lines_of(f"{score} among {len(choices)}", choice_measures(np.array(choices), score))
    spec = Spec.from_dict(OF_AUC | {"solver": {"n_iter": 40_000, "tol": 0.5, "n_features": 16}})
    found += of_judgement(spec, judgement(finished(spec), limits=replace(measured, leading="optimisation")))
    golden_files.check("judgements", found)
