"""Golden results of what fits, scores, problems, folds and priors refuse or warn of: the sentence for each unsuitable argument."""

from decimal import Decimal

import numpy as np
import pandas as pd
from four_estimators import FOUR, SMALL, make, moons_with_few_labels
from golden_text import asked_all, check, said
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from test_golden_estimators import learned

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, DSGSoftmax, LinearMC, Safe, prior
from dsgcore.baselines import BLS3VM, CUU, MPNUAUC, MSAMULT, PNUAUC, QNS3VM, SAMULT, SUDH, SUSL, SVOREX, EverydaySVC
from dsgcore.baselines import everyday as peers
from dsgcore.core.parameters import check_all
from dsgcore.data.reading.unlabeled import labels_given
from dsgcore.estimators import inputs
from dsgcore.kernels import KERNELS
from dsgcore.model_selection import (
    Calibrated,
    LabeledFolds,
    PairFolds,
    SeenLabels,
    SimilarUnlabeledRisk,
    UnlabeledFolds,
    accuracy,
    auc_score,
    mean_auc_score,
    paper_grid,
)
from dsgcore.problems import SemiSupervisedAUC
from dsgcore.problems.ordinal import SemiSupervisedOrdinal
from dsgcore.problems.s3vm import SemiSupervisedSVM
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.problems.supervised import Supervised
from dsgcore.problems.thresholds import thresholds

X, Y, FEW = moons_with_few_labels(120)
RNG = np.random.default_rng(3)
SIX, TWO, IDS, FOUR_CLASSES = RNG.normal(size=(6, 3)), [0, 1, -1] * 2, [0, 0, 1, 1, -1, -1], [0, 1, 2, 3, -1, -1]
THREE = np.where(np.arange(120) < 90, np.arange(120) % 3, -1)
NAMED = pd.DataFrame(X, columns=["a", "b"]).assign(word=np.resize(["x", "y", "z"], 120))
WORDS = [("low", "medium", "high"), ("1", "2", "10"), ("bronze", "gold", "silver"), ("a: low", "b: fair", "c: high")]
WORDS += [("1", "2", "3"), ("average", "good", "very good"), ("A", "B", "C")]


def by_sentence(rows):
    """Return each sentence that calls give, and what was called for it."""
    found = {}
    for what, call, *arguments in rows:
        given = arguments.pop() if isinstance(arguments[-1], dict) else {}
        found.setdefault(said(call, *arguments, **given), []).append(" ".join(what.split()))
    return [f"{sentence}\n    {'; '.join(names)}" for sentence, names in found.items()]


def words_of(names, is_ordered):
    texts = np.array(["", *names])[THREE + 1]
    return pd.Categorical(np.where(THREE < 0, None, texts), names, ordered=True) if is_ordered else texts


def test_fits():
    far = X / np.abs(X).max() * 100
    dot, wild = {"kernel": "dot_product", "sigma": 1e6}, {"step_size": 1e3, "schedule": "constant", "n_iter": 40}
    rows = [
        (f"{cls.__name__} {given} {what}", make(cls, **given).fit, points, y)
        for cls in FOUR
        for what, given, points, y in (
            *(("", given, X, FEW) for given in ({"sigma": np.inf}, {"sigma": -1.0}, {"step_size": 0}, dot | wild)),
            ("far", {**dot, "power": 5}, far, FEW),
            ("farther", {"sigma": 1.0}, 1e39 * X, FEW),
            ("wide", {}, 1e8 * X / X.std() / 2**0.5, FEW),
            ("near", {}, 1e-310 * X, FEW),
        )
    ]
    pairs = np.zeros((2, 2, 3))
    models = [(TSGS3VM(C=2.0, labeled_weight=40.0), TWO), (TSGS3VM(C_star=0.0, unlabeled_weight=4.0), TWO)]
    models += [(QS3ORAO(gamma=[0.1, 0.2]), FOUR_CLASSES), (QS3ORAO(thresholds="squared", margin=0), FOUR_CLASSES)]
    models += [(TSGSU(prior=0.5), IDS), (TSGSU(y_holds="classes"), [0, 0, 0, 1, 1, 1]), (TSGSU(prior="guess"), IDS)]
    models += [(TSGSU(prior="estimate"), y) for y in ([0, 0, 1, -1, -1, -1], list("aabbcc"))]
    models += [(TSGSU(prior=0.7), [0.5, 0.5, -1, -1, -1, -1]), (TSGSU(prior=0.7), {"y": IDS, "pairs": pairs})]
    models += [(TSGSU(y_holds="classes"), {"pairs": pairs}), (TSGSU(prior=0.7), {"pairs": pairs + np.nan})]
    of_pairs = [np.zeros((4, 2)), np.zeros((5, 2, 4)), np.zeros(6), [[0, 6]], [[0, -1]], [[0, 1], [2, 2]]]
    of_pairs += [np.zeros((0, 2), int), np.zeros((0, 2, 3)), np.ma.MaskedArray([[0, 1]], [[0, 1]])]
    models += [(TSGSU(prior=0.7), {"pairs": own}) for own in of_pairs]
    models += [(SAMULT(centers=own), TWO) for own in (np.zeros((3, 5)), 0, 2.5, "all", [1, 2])]
    models += [(PNUAUC(prior=p, eta=eta), TWO) for p, eta in ((1.0, 0.5), (0.0, -0.5))] + [
        (MPNUAUC(prior="guess"), TWO)
    ]
    models += [(MSAMULT(gamma=g), [0, 1, 2, -1, -1, -1]) for g in ([0.1, 0.2, 0.3], [0.1, 2.0], np.ones((2, 2)))]
    models += [(peers.EverydaySelfTraining(), [0, 1, 0, 0, -1, -1]), (QSGS2AUC(random_state=-1), TWO)]
    models += [(Safe(one), TWO) for one in (SUSL(), make_pipeline(StandardScaler(), TSGSU(y_holds="classes")), Ridge())]
    models += [(outer(LogisticRegression()), TWO) for outer in (Safe, Calibrated)] + [(Calibrated(Ridge()), TWO)]
    models += [(SeenLabels(one), np.column_stack([TWO, TWO])) for one in (LogisticRegression(), Ridge())]
    models += [(SeenLabels(TSGS3VM()), TWO), (DSGSoftmax(n_features=65_536, n_iter=1), TWO)]
    models += [(PS3VT(feature_map="fourier", n_features=65_536, tau_I=0.1), TWO)]
    rows += [
        (f"{model!r} {y if isinstance(y, list) else ''}", model.fit, SIX, y if isinstance(y, dict) else np.array(y))
        for model, y in models
    ]
    lone = np.array([-1e9, -1e8, -1e-3, 1e-3, 1e8, 1e9])[:, None]
    rows += [
        (f"{one!r}", one.fit, lone, [0, 0, 0, 1, 1, 1]) for one in (SVOREX("linear", C=1e6), BLS3VM("linear", C=1e6))
    ]
    ids = np.where(np.arange(120) < 60, np.arange(120) // 2, -1)
    models = [(CUU(prior=0.7, step_size=1e4, random_state=0), ids), (SUDH(prior=0.7, lam=1e-4, max_iter=3), ids)]
    models += [
        (BLS3VM(sigma=2.0, C=10.0, s=0.0, max_iter=1), FEW),
        (QNS3VM(max_iter=2), FEW),
        (SVOREX(max_iter=1), FEW),
    ]
    models += [(peers.EverydayLogisticRegression(max_iter=1), FEW), (DSGSoftmax(step_size=1e6, lam=1e3), FEW)]
    models += [(PS3VT(tol=1e-9, n_iter=600, random_state=0), FEW), (make(tol=0.0, n_iter=120), FEW)]
    rows += [(f"{model!r}", model.fit, X, y) for model, y in models]
    rows += [("LinearMC far", LinearMC(step_size=1e6).fit, 1e305 * X, FEW)]
    words = make_column_transformer((OneHotEncoder(sparse_output=False), ["word"]), remainder="passthrough")
    rows += [("Safe around steps", Safe(make_pipeline(words, TSGS3VM(**SMALL))).fit, NAMED, FEW)]
    rows += [
        (
            f"{type(model).__name__} of {' '.join(names)}{' in order' * is_ordered}",
            model.fit,
            X,
            words_of(names, is_ordered),
        )
        for model in (QS3ORAO(**SMALL), SVOREX(), Safe(QS3ORAO(**SMALL)))
        for names in WORDS
        for is_ordered in (False, True)
    ]
    check("fits", by_sentence(rows))


def test_scores():
    small = {"tol": None, "random_state": 0, "n_iter": 20}
    models = [make(cls) for cls in FOUR] + [
        PS3VT(**small),
        DSGSoftmax(n_iter=3, random_state=0),
        SVOREX(),
        EverydaySVC(),
    ]
    models += [
        PNUAUC(random_state=0),
        peers.EverydaySVR(),
        Safe(make()),
        Calibrated(make(), n_splits=2, random_state=0),
    ]
    weights = {"two": [1.0, 2.0], "one number": 1.0, "negative": -np.ones(120), "nan": np.full(120, np.nan)}
    weights |= {"none of a label": FEW == -1, "masked": np.ma.MaskedArray(np.ones(120), FEW == 0)}
    few = np.where(np.arange(120) < 4, Y, -1)
    labels = {"fewer": Y[:-1], "more": np.append(Y, 0), "text": Y.astype(str), "dates": pd.to_datetime(Y, unit="D")}
    labels |= {"names": pd.Series(Y).map({0: "a", 1: "b"}), "hidden": -np.ones(120, int), "few": few, "other": Y + 5}
    labels |= {"one class": np.where(Y == 1, 1, -1), "a gap": np.where(Y == 1, 2, 0), "truth": Y == 1}
    rows = []
    for model in models:
        name = type(model).__name__
        rows += [(f"{name} not fitted", clone(model).score, X, Y)]
        said(model.fit, X, FEW)
        rows += [(f"{name} weights {kind}", model.score, X, FEW, own) for kind, own in weights.items()]
        rows += [(f"{name} labels {kind}", model.score, X, own) for kind, own in labels.items()]
    several = [model.fit(X, THREE) for model in (make(QS3ORAO), PS3VT(**small))]
    rows += [(f"{m!r} labels without a middle", m.score, X, np.where(THREE == 1, -1, THREE)) for m in several]
    rows += [(f"{m!r} labels of another class", m.score, X, THREE + 3) for m in several]
    texts = make(TSGS3VM).fit(X, np.where(FEW == -1, None, np.array(["a", "b"])[FEW]))
    rows += [("text, labels of numbers", texts.score, X, Y)]
    of_numbers = [(accuracy, models[2]), (auc_score, models[0]), (mean_auc_score, several[0])]
    of_numbers += [(SimilarUnlabeledRisk(p), models[1]) for p in (0.7, 0.5, 1.5)]
    rows += [(f"scorer {getattr(f, '__name__', f)} {kind}", f, model, X, labels[kind]) for f, model in of_numbers
             for kind in ("fewer", "names", "few")]  # fmt: skip
    check("scores", by_sentence(rows))


def test_parts():
    f = dict.fromkeys(("positive", "negative", "unlabeled"), np.array([0.3, -0.2]))
    rows = [(problem.rows, y) for problem, labels in (
        (SemiSupervisedAUC(), ([1, 0, -1, 1, -1], [1, 1, -1], [0, -1], [-1, -1], [])),
        (SemiSupervisedSVM(), ([1, 0, 1], [1, 1, -1], [1, 0, 2])), (Supervised(), ([-1, 0, 1, 1, -1], [-1, -1])),
        (SemiSupervisedOrdinal(), ([1, 0, -1, 1], [1, 0], [0, 0, -1], [-1, -1], [0, 2, -1], [1, 2, 3], [0, 0.5, 1], [-2, 0, 1])),
        (SimilarUnlabeled(), ([-1, 3, 0, 3, 0, -1], [3, 3, 3, -1], [3, 3, 5, -1], [3, 3, -2, -2, -1], [-1, -1], [0, 0, 1, 1])),
    ) for y in labels]  # fmt: skip
    rows += [(problem.bind, np.array(y)) for problem in (SemiSupervisedSVM(), Supervised(), SemiSupervisedOrdinal())
             for y in ([1, 1, -1], [0, 0, -1], [-1, -1], [1, 0, 0, -1, -1, -1], [1, 0, 2], [0, 1])]  # fmt: skip
    rows += [
        (SemiSupervisedSVM(unlabeled_weight=u).bind, np.array(y)) for u in (None, 0.0) for y in ([1, 0, 0], [1, 0, -1])
    ]
    rows += [(SemiSupervisedAUC(is_pooled=True).bind, np.array([1, 0, 0, -1]))]
    rows += [(SemiSupervisedAUC(is_pooled=True).coefficients, f), (SemiSupervisedSVM().terms, f)]
    rows += [(SemiSupervisedSVM(is_balanced=True).shift, np.zeros(2)), (lambda: SemiSupervisedOrdinal().sources,)]
    rows += [(SemiSupervisedOrdinal((0.1, 0.2, 0.3)).bind, np.arange(3))]
    rows += [(SemiSupervisedOrdinal().bind(np.arange(3)).rows, [0, 1])]
    rows += [(SemiSupervisedAUC(pairing="triplets").coefficients, f | {"negative": np.zeros(3)})]
    rows += [(thresholds, np.array(y), np.array(own), {"": 1, "margin": margin}) for y, own, margin in (
        ([0, 1], [0.0, 0.0], -1), ([0, 0], [0.0, 1.0], 1), ([0, 2], [0.0, 1.0], 1), ([0, 1], [0.0, np.nan], 1))]  # fmt: skip
    rows += [(SimilarUnlabeled, p) for p in (0.5, 0.4995, 0.5009)]
    own = SemiSupervisedOrdinal.parameters
    rows += [(check_all, own, {"gamma": g}, "it") for g in (1.5, [0.1, 2.0], [], "x", [[0.1]], [True], [0, 0.5], 1)]
    rows += [(lambda cv, y: list(cv.split(None, y)), cv, y) for cv, labels in (
        (LabeledFolds(), ([0, 1, 0, 1, -1, -1], None)), (LabeledFolds(3), ([0, 1, 0, 0, -1, -1],)),
        (PairFolds(3), ([0, 0, 1, 1, -1, -1, -1],)), (PairFolds(2), ([0, 0, 1, 1, -1],)),
        (UnlabeledFolds(), ([0, 1, -1], None)), (LabeledFolds(2, unlabeled="tested"), ([0, 1, 0, 1],)),
    ) for y in labels]  # fmt: skip
    folds = [kind(2, random_state=0) for kind in (LabeledFolds, PairFolds, UnlabeledFolds)]
    rows += [(lambda cv, *given: list(cv.split(SIX, *given)), cv, y, g) for cv in folds
             for y, g in ((TWO, SIX[:, 0]), (TWO[:-1], None), (IDS, SIX[:, 0]))]  # fmt: skip
    usual = [(SemiSupervisedAUC(), n) for n in ((20, 50), (50, 100_000), (50, 50, 900))]
    usual += [(SemiSupervisedAUC(is_pooled=pool), (n, m)) for pool in (False, True) for n, m in (
        (5, 95), (150, 5000), (400, 5000), (2048, 2048), (102_400, 102_400))]  # fmt: skip
    usual += [(SimilarUnlabeled(p), (200, 500)) for p in (0.99, 0.3, 0.7, 0.502)]
    usual += [(SimilarUnlabeled(0.1), (100, n)) for n in (100, 10_000)]
    rows += [(p.usual_ridge, {s: np.arange(n) for s, n in zip(p.sources, sizes, strict=False)}) for p, sizes in usual]
    rows += [(SemiSupervisedOrdinal().usual_ridge, {"a": np.arange(20), "b": np.arange(50)})]
    names = ("auc", "s3vm", "s3vm_step", "pnu_auc", "similar_unlabeled", "ordinal", "multiclass", "ranking")
    rows += [(paper_grid, name) for name in names] + [(paper_grid, "auc", {"": 1, "names": ("C",)})]
    rows += [(labels_given, y) for y in ([0.5, 1.0], [np.inf, 1.0], np.array([{1}, {2}], dtype=object), [2.0**60, 1.0])]
    rows += [(labels_given, np.array([2**24 + 1, np.nan], dtype=np.float32))]
    rows += [
        (labels_given, np.array(own, object))
        for own in ([2**63 + 1, 5], [2**64, 5], [-1, 2**63], [Decimal(2**53 + 1), 3], [Decimal("2.5"), 3])
    ]
    grades = np.array(["poor", "fair", "best"])
    rows += [(inputs.encode, np.array(y, object), grades) for y in (["best", "poor", -1, "fair"], ["good"])]
    rows += [(inputs.known_classes, *given, {"": 1, "is_sorted": s}) for s in (True, False) for given in (
        ([1, -1, 0], None), (None, np.array([4, 5])), (["b", "a"], np.array(["a", "b"])))]  # fmt: skip
    rows += [(inputs.seed_of, one) for one in (np.random.RandomState(3), 5, 2**32 - 1, -1)]
    rows += [(inputs.labeled_rows, np.array([0, 1] * 40 + [2, -1] + [0] * 20), n) for n in (5, 500)]
    rows += [(inputs.width, kind.parameters[0], "scale", own, name) for name, kind in KERNELS.items()
             for own in (3.0 + 2.0 * SIX, SIX * 0)]  # fmt: skip
    mixed, part = RNG.normal(size=(2, 5, 2))
    changes = ({"method": "km3"}, {"smallest": 0.9}, {"smallest": np.nan}, {"max_points": 1})
    rows += [(prior.mixture_proportion, mixed, part, {"": 1, **change}) for change in changes]
    samples = [(np.zeros((4, 3)), part), (np.empty((0, 2)), part), (mixed, [[np.nan, 1.0]]), (mixed, 1e200 * part)]
    samples += [(np.ma.MaskedArray(mixed, mixed > 1.0), part), (np.ones((4, 2)), np.ones((4, 2)))]
    rows += [(prior.mixture_proportion, *both) for both in samples]
    rows += [(prior.positive_prior, share) for share in (0.499, -1.0, 1.01, np.nan)]
    rows += [(prior.energy_class_prior, mixed, -mixed, mixed, {"": 1, "alpha": a}) for a in (0.0, 2.0, np.nan)]
    rows += [(prior.energy_class_prior, *own) for own in ((1e200 * mixed, part, mixed), (mixed, mixed, mixed))]
    check("parts", asked_all(rows))


def test_a_fit_with_weights_for_each_cut_and_a_partial_fit_go_on():
    lines = []
    for gamma in ([0.1, 0.9], (0.1, 0.9), 0.9, [0.9, 0.9]):
        model = QS3ORAO(**SMALL, gamma=gamma).fit(X, THREE)
        lines += [f"{gamma}", *learned(model)]
    model.set_params(lam=0.5, sigma=77.0, dtype="float64", random_state=5).partial_fit(X[20:] + 1.0, THREE[20:])
    check("parts_of_fits", [*lines, "another part", *learned(model)])
