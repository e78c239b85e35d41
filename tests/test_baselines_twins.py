"""The competitors by a second route: support vector machines against naive twins, and all against their authors' programs."""

import warnings

import numpy as np
import oracle_files
import pytest
from cases import each
from four_estimators import moons_with_few_labels
from numpy.testing import assert_allclose
from scipy.optimize import check_grad
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.svm import SVC
from test_baselines import ordinal_objective

from dsgcore.baselines import PNUAUC, SAMULT, SUDH, SUSL, SVOREX, S3VMLight
from dsgcore.baselines.basis import IllPosedWarning
from dsgcore.baselines.centred_s3vm import BLS3VM, QNS3VM, Objective, centred_matrix
from dsgcore.baselines.gradient_s3vm import BGS3VM, FRS3VM
from dsgcore.baselines.s3vm import fit_to_tolerance
from dsgcore.core.sampling import batch_rows, generator
from dsgcore.kernels import Gaussian
from dsgcore.model_selection import PNUAUCRisk, SimilarUnlabeledRisk
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled

X, Y, FEW = moons_with_few_labels(160, noise=0.2, n_labeled=30)
IS_LABELED = FEW != -1
SIGNS = 2.0 * FEW[IS_LABELED] - 1.0
ORDERED = np.concatenate([X[IS_LABELED], X[~IS_LABELED]])


def fitted(cls, labels=FEW, **parameters):
    """Fit to the moons; what is not given is small."""
    given = {"sigma": 2.0, **({"random_state": 0} if cls in (BGS3VM, FRS3VM) else {}), **parameters}
    return cls(**given).fit(X, labels)


# --- S3VM-light


@each("share", [None, 0.3])
def test_s3vm_light_ends_in_a_machine_on_labels_that_no_switch_improves(share):
    model = fitted(S3VMLight, C=2.0, C_star=0.5, positive_share=share)
    labels = np.where(IS_LABELED, 2 * FEW - 1, 0)
    labels[~IS_LABELED] = model.labels_
    wanted = np.mean(SIGNS > 0) if share is None else share
    assert np.sum(model.labels_ > 0) == int(130 * wanted + 0.5)
    # By another route: libsvm's own Gaussian kernel, and a finer tolerance.
    svm = SVC(C=1.0, gamma=2.0, tol=1e-6).fit(X, labels, sample_weight=np.where(IS_LABELED, 2.0, 0.5))
    f = model.decision_function(X)
    assert_allclose(f, svm.decision_function(X), atol=5e-3)
    slack = np.maximum(0.0, 1.0 - labels * f)[~IS_LABELED]
    positive, negative = slack[model.labels_ > 0], slack[model.labels_ < 0]
    assert (np.add.outer(positive, negative)[np.minimum.outer(positive, negative) > 0] <= 2.0 + 1e-3).all()


def test_s3vm_light_labels_one_or_two_unlabeled_points():
    one, two = (fitted(S3VMLight, np.where(np.arange(160) < n, -1, Y)) for n in (1, 2))
    assert one.labels_.tolist() == [2 * round(np.mean(Y[1:])) - 1]
    assert sorted(two.labels_) == [-1.0, 1.0]


# --- BLS3VM


def check_optimality(model, X, few, *, C, C_star, s, atol):
    """The KKT conditions of the last convex step, from the coefficients and the values alone; return the values."""
    is_labeled = few != -1
    y, n = 2.0 * few[is_labeled] - 1.0, is_labeled.sum()
    f_l, f_u = model.decision_function(X[is_labeled]), model.decision_function(X[~is_labeled])
    pull = y * model.dual_coef_[:n]
    assert (pull > -atol).all()
    assert (pull < C + atol).all()
    assert_allclose(pull[y * f_l < 1 - atol], C, atol=atol)
    assert_allclose(pull[y * f_l > 1 + atol], 0.0, atol=atol)
    tangents = C_star * ((f_u < s) * 1.0 - (-f_u < s))
    pull = -(model.dual_coef_[n:] + tangents)  # in C* times the subdifferential of max(0, |f| - 1)
    assert (np.abs(pull) < C_star + atol).all()
    assert_allclose(pull[np.abs(f_u) < 1 - atol], 0.0, atol=atol)
    outside = np.abs(f_u) > 1 + atol
    assert_allclose(pull[outside], C_star * np.sign(f_u[outside]), atol=atol)
    return f_l, f_u


@each("s, target", [(0.0, None), (-0.3, 0.2), (-0.9, -0.5)])
def test_bls3vm_ends_where_its_last_convex_step_is_optimal(s, target):
    model = fitted(BLS3VM, C=5.0, C_star=0.7, s=s, balance_target=target, tol=1e-8)
    _, f_u = check_optimality(model, X, FEW, C=5.0, C_star=0.7, s=s, atol=1e-4)
    assert f_u.mean() == pytest.approx(np.mean(SIGNS) if target is None else target, abs=1e-9)
    assert model.converged_
    assert (np.diff(model.objectives_) < 1e-6).all()


def test_bls3vms_coefficients_are_those_of_its_function():
    model = fitted(BLS3VM, C=5.0)
    f = centred_matrix(Gaussian(2.0), ORDERED, len(SIGNS)) @ model.dual_coef_ + SIGNS.mean()
    assert_allclose(model.decision_function(ORDERED), f, atol=1e-9)
    ramps = sum(np.clip(1.0 - z, 0.0, 1.3).sum() for z in (f[30:], -f[30:]))
    hinges = np.maximum(0.0, 1.0 - SIGNS * f[:30]).sum()
    objective = 0.5 * model.dual_coef_ @ (f - SIGNS.mean()) + 5.0 * hinges + 5.0 * 30 / 130 * ramps
    assert model.objectives_[-1] == pytest.approx(objective, rel=1e-9)


def test_bls3vm_reaches_labeled_values_beyond_the_regressions_second_kink():
    x = np.concatenate([np.linspace(0.01, 0.1, 10), [30.0], -np.linspace(0.01, 0.1, 10), [-30.0], [0.5], [-0.5]])
    few = np.where(np.abs(x) == 0.5, -1, np.where(x > 0, 1, 0))
    model = BLS3VM("linear", C=1e4, C_star=1.0, tol=1e-9).fit(x[:, None], few)
    f_l, _ = check_optimality(model, x[:, None], few, C=1e4, C_star=1.0, s=-0.3, atol=1e-2)
    assert np.abs(f_l).max() > 1000


# --- QNS3VM


def test_qns3vms_objective_is_the_papers_and_its_gradient_is_right():
    points, signs = np.random.default_rng(3).normal(size=(20, 2)), np.where(np.arange(8) % 2, 1.0, -1.0)
    objective = Objective(centred_matrix(Gaussian(0.5), points, 8), signs, 0.1, 0.7, 0.2)
    coef = np.random.default_rng(4).normal(size=20)
    f = objective.K @ coef + 0.2
    hinge = np.log1p(np.exp(20 * (1 - objective.y * f[:8]))).mean() / 20
    wanted = hinge + 0.7 * np.exp(-3 * f[8:] ** 2).mean() + 0.1 * coef @ objective.K @ coef
    assert objective(coef)[0] == pytest.approx(wanted, rel=1e-12)
    assert f[8:].mean() == pytest.approx(0.2, abs=1e-12)
    for share in (0.0, 1.0):
        assert check_grad(lambda c: objective(c, share)[0], lambda c: objective(c, share)[1], coef) < 1e-5  # noqa: B023


def test_qns3vm_ends_where_the_gradient_vanishes():
    model = fitted(QNS3VM, lam=0.05, lam_u=0.5)
    objective = Objective(centred_matrix(Gaussian(2.0), ORDERED, len(SIGNS)), SIGNS, 0.05, 0.5, float(SIGNS.mean()))
    value, gradient = objective(model.dual_coef_)
    assert np.abs(gradient).max() < 1e-4
    assert model.objectives_[-1] == pytest.approx(value, rel=1e-9)
    assert (np.diff(model.objectives_)[np.diff(model.weights_) == 0] <= 1e-12).all()
    # If the last result is also good enough for the next weight, no iteration is made with that weight.
    assert set(model.weights_) <= {0.5 * share for share in (0, 1e-6, 1e-4, 0.01, 0.1, 0.5, 1)}
    assert {0.0, 0.005, 0.05, 0.25, 0.5} <= set(model.weights_)
    assert model.decision_function(X[~IS_LABELED]).mean() == pytest.approx(SIGNS.mean(), abs=1e-9)


# --- BGS3VM


def naive_bgs3vm(*, budgets, sigma, C, n_iter, seed):
    """The same descent over dictionaries from rows to coefficients."""
    labeled, unlabeled = np.flatnonzero(IS_LABELED), np.flatnonzero(~IS_LABELED)
    C_star = C * len(labeled) / len(unlabeled)
    first = generator(seed, "labeled").integers(len(labeled), size=n_iter)
    second = generator(seed, "unlabeled").integers(len(unlabeled), size=n_iter)
    coef = [{}, {}]

    def f(x):
        return sum(c * np.exp(-sigma * np.sum((x - X[row]) ** 2)) for part in coef for row, c in part.items())

    for t in range(1, n_iter + 1):
        i, j = labeled[first[t - 1]], unlabeled[second[t - 1]]
        y, r = 2 * FEW[i] - 1, f(X[j])
        slopes = [-C * y * (y * f(X[i]) < 1), -C_star * np.sign(r) * (abs(r) < 1)]
        coef = [{row: (1 - 1 / t) * c for row, c in part.items()} for part in coef]
        for part, row, slope, budget in zip(coef, (i, j), slopes, budgets, strict=True):
            if slope != 0:
                part[row] = part.get(row, 0.0) - slope / t
            if len(part) > budget:
                least = min(abs(c) for c in part.values())
                del part[next(row for row, c in part.items() if abs(c) <= (1 + 1e-9) * least)]
    return np.array([f(x) for x in X]), [len(part) for part in coef]


# By default it keeps a fifth of the 130 unlabeled points.
@each("budgets, given", [((100, 130), 130), ((7, 11), 11), ((1, 1), 1), ((7, 26), None)])
def test_bgs3vm_equals_its_naive_twin(budgets, given):
    sizes = {"budget_labeled": budgets[0], "budget_unlabeled": given}
    model = fitted(BGS3VM, labeled_weight=3.0, n_passes=2, random_state=5, **sizes)
    f, sizes = naive_bgs3vm(budgets=budgets, sigma=2.0, C=3.0, n_iter=260, seed=5)
    assert_allclose(model.decision_function(X), f, rtol=1e-9, atol=1e-12)
    assert len(model.model_.basis.centers) == sum(sizes)
    assert sizes[0] <= budgets[0]
    assert sizes[1] <= budgets[1]


def test_bgs3vms_objective_is_that_of_its_function():
    model = fitted(BGS3VM, labeled_weight=3.0, loss="ramp", s=-0.4)
    f = model.decision_function(X)
    centers, coef = model.model_.basis.centers, model.model_.coef[:-1]
    ridge = 0.5 * coef @ np.exp(-2.0 * cdist(centers, centers, "sqeuclidean")) @ coef
    hinge = np.maximum(0.0, 1.0 - SIGNS * f[IS_LABELED]).mean()
    ramp = np.minimum(0.6, np.maximum(0.0, 1.0 - np.abs(f)))[~IS_LABELED].mean()
    # The objective uses all points, because there are less than 500.
    assert model.objectives_[-1] == pytest.approx(ridge + 3.0 * hinge + 3.0 * 30 / 130 * ramp, rel=1e-9)
    assert len(model.objectives_) == model.n_iter_ == 10


# --- FRS3VM


def test_frs3vm_equals_its_naive_twin():
    sizes = {"n_features": 9, "batch_size": 16, "n_passes": 2}
    model = fitted(FRS3VM, labeled_weight=4.0, step_size=0.5, random_state=3, **sizes)
    omega = 2 * np.pi * Gaussian(2.0).frequencies(generator(3, "frequencies"), 2, 9).astype(float)
    phi = [np.concatenate([np.cos(x @ omega), np.sin(x @ omega)]) / 3.0 for x in ORDERED]
    rows = {
        "positive": np.flatnonzero(SIGNS > 0),
        "negative": np.flatnonzero(SIGNS < 0),
        "unlabeled": np.arange(30, 160),
    }
    w, C_star = np.zeros(18), 4.0 * 30 / 130
    for t in range(1, 2 * 9 + 1):  # nine batches of 16 are a pass over 130 points
        gradient = w.copy()
        for source, index in rows.items():
            for i in batch_rows(3, source, t, index, 16):
                f = phi[i] @ w
                if source == "unlabeled":
                    slope = -C_star * np.sign(f) * (abs(f) < 1)
                else:
                    slope = -4.0 * len(index) / 30 * SIGNS[i] * (SIGNS[i] * f < 1)
                gradient += slope * phi[i] / 16
        w -= 0.5 / t * gradient
    assert_allclose(model.model_.W[:, 0], w, rtol=1e-9, atol=1e-12)
    f = np.array(phi) @ w
    hinge, both = np.maximum(0.0, 1.0 - SIGNS * f[:30]).mean(), np.maximum(0.0, 1.0 - np.abs(f[30:])).mean()
    assert model.objectives_[-1] == pytest.approx(0.5 * w @ w + 4.0 * hinge + C_star * both, rel=1e-9)


# --- the authors' programs


def apart(got, wanted, *, is_relative=False):
    """Return the largest distance of two arrays, also as a share of the largest value."""
    return float(np.abs(got - wanted).max() / (np.abs(wanted).max() if is_relative else 1.0))


def of_pairs(cls, o, **parameters):
    kernel = {"kernel": "lm"} if np.isnan(o["gamma"]) else {"kernel": "gaussian", "sigma": o["gamma"]}
    model = cls(prior=o["prior"], lam=o["lam"], **kernel, **parameters)
    return model.fit(o["x_u"], pairs=o["x_pairs"].reshape(-1, 2, o["x_u"].shape[1]))


def of_su_sl(o):
    model, members = of_pairs(SUSL, o), o["x_pairs"].reshape(-1, o["x_u"].shape[1])
    x = {"test": o["x_test"], "u": o["x_u"], "s": members}
    f = {name: model.decision_function(points) for name, points in x.items()}
    ids = np.concatenate([np.arange(len(members)) // 2, np.full(len(o["x_u"]), -1)])
    # The program's score is 1 minus twice the zero-one risk, 0 where that is below 0.
    score = 1.0 + 2.0 * SimilarUnlabeledRisk(o["prior"])(model, np.concatenate([members, o["x_u"]]), ids)
    return {
        "f": max(apart(f[name], o[f"f_{name}"], is_relative=True) for name in f),
        "objective": abs(model.objective_ / o["objective"] - 1.0),
        "coef": apart(model.model_.coef, o["coef"], is_relative=True),
        "predicted": np.mean(np.where(model.predict(o["x_test"]) == 1, 1, -1) != o["pred_test"]),
        "score": abs(max(0.0, score) - o["cv_score_on_train"]),
    }


def of_su_dh(o):
    model = of_pairs(SUDH, o, tol=1e-8)
    f = {name: model.decision_function(o[f"x_{name}"]) for name in ("test", "u")}
    return {
        "f": max(apart(f[name], o[f"exact_f_{name}"], is_relative=True) for name in f),
        "objective": abs(model.objective_ / o["exact_objective"] - 1.0),
        "released": model.objective_ - o["released_objective"],  # which is of no minimum
    }


def of_uu_risk(o):
    """Of the program's cases of two unlabeled sets, those that are pairs and unlabeled points with the logistic loss."""
    found = {"risk": [], "gradient": []}
    for i in np.flatnonzero((o["mode"] == 0) & o["loss"].astype(bool)):
        f, one, p = o["f"][i], o["y_set"][i] == 1, float(o["prior"][i])
        if np.allclose([o["theta1"][i], o["theta2"][i]], [p**2 / (p**2 + (1 - p) ** 2), p]):
            problem, values = SimilarUnlabeled(p, "logistic", "identity"), {"similar": f[one], "unlabeled": f[~one]}
            gradient = np.concatenate(list(problem.coefficients(values).values()))
            found["risk"].append(abs(sum(problem.terms(values).values()) - o["risk"][i]))
            found["gradient"].append(apart(gradient, np.concatenate([o["grad"][i][one], o["grad"][i][~one]])))
    return {name: max(values) for name, values in found.items()}


# --- those of pairwise risks


def codes(y):
    """Labels 1, -1 and 0 for unlabeled become 1, 0, -1."""
    return np.where(y == 0, -1, (y == 1).astype(int))


def kernel_of(o):
    if o.get("kernel", "gauss") == "gauss":
        return {"kernel": "gaussian", "sigma": 1.0 / (2.0 * o["sigma"] ** 2), "centers": o["centers"]}
    return {"kernel": "lm"} if o["kernel"] == "lm" else {"kernel": "linear", "centers": o["centers"]}


def of_pnu_auc(o):
    model = PNUAUC(eta=o["eta"], prior=o["prior"], lam=o["lam"], **kernel_of(o)).fit(o["x"], codes(o["y"]))
    f = model.model_.evaluate(o["x_test"])
    return {
        "f": max(apart(f, o["f_test"]), apart(model.model_.evaluate(o["x"]), o["f_train"])),
        "theta": apart(model.model_.coef, o["theta"], is_relative=True),
        "auc": abs(roc_auc_score(o["y_test"] == 1, f) - o["auc_test"]),
    }


def of_choice_of_pnu_auc(o):
    folds, y = np.concatenate([o["fold_p"], o["fold_n"], o["fold_u"]]).astype(int), codes(o["y"])
    # sigma runs fastest, and the first of equal risks counts
    grid = {"eta": o["eta_list"], "lam": o["lambda_list"], "sigma": 1.0 / (2.0 * o["sigma_list"] ** 2)}
    scoring = PNUAUCRisk(int((y == 1).sum()), int((y == 0).sum()))
    search = GridSearchCV(
        PNUAUC(prior=o["prior"], centers=o["centers"]), grid, scoring=scoring, cv=PredefinedSplit(folds)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IllPosedWarning)
        search.fit(o["x"], y)
    risks = -search.cv_results_["mean_test_score"].reshape([len(values) for values in grid.values()])
    return {
        "table": apart(risks.transpose(2, 1, 0), o["score_table"]),
        "f": apart(search.best_estimator_.model_.evaluate(o["x_test"]), o["f_test"]),
        "chosen": apart(np.unravel_index(search.best_index_, risks.shape)[::-1], o["selected"]),
    }


def of_samult(o):
    """SAMULT against its closed form in each norm."""
    wanted, found = {"euclidean": "f_test", "half euclidean": "f_test_lam_half", "half rkhs": "f_test_rkhs_half"}, {}
    for penalty, name in wanted.items():
        model = SAMULT(gamma=o["gamma"], lam=o["lam"], penalty=penalty, **kernel_of(o)).fit(o["x"], codes(o["y"]))
        found[penalty] = apart(model.model_.evaluate(o["x_test"]), o[name])
        if penalty != "half euclidean":
            objective = o["objective" if penalty == "euclidean" else "objective_rkhs_half"]
            found[f"objective, {penalty}"] = abs(model.objective_ - objective)
    return found


def of_svorex(o):
    kernel = "linear" if o["linear"] else "gaussian"
    model = SVOREX(kernel, sigma=o["kappa"], C=o["C"], jitter=o["ridge"]).fit(o["X"], o["y"])
    X, y = o["X"], o["y"].astype(int) - 1
    K = X @ X.T / X.shape[1] if o["linear"] else np.exp(-o["kappa"] * cdist(X, X, "sqeuclidean"))
    K += o["ridge"] * np.eye(len(X))
    theirs = ordinal_objective(K, y, o["alpha"], o["thresholds"], o["C"])
    return {
        "f": apart(model.ranking_function(o["X_test"]), o["f_test"]),
        "objective": abs(ordinal_objective(K, y, model.dual_coef_, model.thresholds_, o["C"]) / theirs - 1),
        "thresholds": apart(model.thresholds_, o["thresholds"]),  # in the middle of flat stretches, as the program's
        "predicted": np.mean(model.predict(o["X_test"]) != o["pred_test"]),
    }


# --- those of support vector machines


def of_s3vm(model, o):
    """A machine fitted on an oracle's points, labels 0 and 1, and how far it is from the program's."""
    kernel = {0: "linear", 1: "gaussian"}[o["kernel"]]
    y = np.concatenate([o["y_l"] > 0, np.full(len(o["x_u"]), -1)]).astype(int)
    model.set_params(kernel=kernel).fit(np.concatenate([o["x_l"], o["x_u"]]), y)
    objective = abs(model.objectives_[-1] / o["objective"] - 1)
    return model, {"f": apart(model.decision_function(o["x_test"]), o["f_test"]), "objective": objective}


def of_svmlight(o):
    given = {"sigma": o["gamma"] or "scale", "C_star": None if len(o["x_u"]) else 0.0}
    model, found = of_s3vm(S3VMLight(C=o["C"], positive_share=o["pos_fraction"], **given), o)
    if len(o["x_u"]):
        found["labels"] = np.mean((model.decision_function(o["x_u"]) > 0) != (o["f_u"] > 0))
    return found


def of_cccp(o):
    for name in ("x_l", "x_u", "x_test"):  # the program rounds its inputs to single precision
        o[name] = np.asarray(o[name], dtype=np.float32).astype(float)
    given = {name: o[name] for name in ("C", "C_star", "s", "balance_target")}
    model, found = of_s3vm(BLS3VM(sigma=o["gamma"] or "scale", **given), o)
    return found | {"steps": abs(model.n_iter_ - o["cccp_loops"])}


def of_default_weight(o):
    model, same = (of_s3vm(BLS3VM(sigma=2.0, C=o["C"], C_star=c), o)[0] for c in (None, o["C_star"]))
    return {"dual_coef": apart(model.dual_coef_, same.dual_coef_)}


def of_qns3vm(o):
    given = {"lam": o["lam"], "lam_u": o["lamU"], "balance_target": o["estimate_r"]}
    return of_s3vm(QNS3VM(sigma=1.0 / (2.0 * o["sigma"] ** 2), **given), o)[1]


def limits_of_su_sl(f):
    return {"f": f, "objective": f, "coef": 1e-6, "predicted": 0.0, "score": 1e-12}


CLOSED = {"f": 1e-8, "theta": 1e-8, "auc": 1e-8}
OF_SAMULT = {"euclidean": 1e-8, "half euclidean": 1e-8, "half rkhs": 1e-6}
ORACLES = [
    ("su_sl_linear", of_su_sl, limits_of_su_sl(1e-8)),
    ("su_sl_gauss_[!b]", of_su_sl, limits_of_su_sl(1e-8)),
    ("su_sl_gauss_b", of_su_sl, limits_of_su_sl(1e-6)),  # the worst conditioned one
    ("su_dh_", of_su_dh, {"f": 1e-3, "objective": 1e-6, "released": -1e-12}),
    # The program rounds the risk to single precision; its largest is some 5.
    ("uu_risk_", of_uu_risk, {"risk": 1e-6, "gradient": 1e-6}),
    *((prefix, of_pnu_auc, CLOSED) for prefix in ("pnu_auc_g", "pnu_auc_l", "samult_comp")),
    ("pnu_auc_cv_", of_choice_of_pnu_auc, {"table": 1e-8, "f": 1e-8, "chosen": 0.0}, pytest.mark.weekly),
    ("samult_derived_", of_samult, OF_SAMULT | {f"objective, {name}": 1e-8 for name in OF_SAMULT}),
    # The program stops at 1e-3.
    ("svorex_", of_svorex, {"f": 3e-3, "objective": 1e-3, "thresholds": 0.01, "predicted": 0.0}),
    ("svmlight_", of_svmlight, {"f": 5e-3, "objective": 1e-3, "labels": 0.05}),  # stops at 1e-4 in its own units
    ("cccp_tsvm_", of_cccp, {"f": 1e-4, "objective": 1e-5, "steps": 0}),  # prints six digits
    ("cccp_tsvm_rbf_defaultz", of_default_weight, {"dual_coef": 0.0}),
    # A local search: both stop near the same minimum.
    ("qns3vm_", of_qns3vm, {"f": 1e-2, "objective": 1e-3}, pytest.mark.ci),
]
CASES = [
    pytest.param(*file.values, residuals, limits, id=f"{residuals.__name__}-{file.id}", marks=[*marks, *file.marks])
    for prefix, residuals, limits, *marks in ORACLES
    for file in oracle_files.files(prefix)
]


@pytest.mark.parametrize(("path", "residuals", "limits"), CASES)
def test_a_competitor_equals_its_authors_program(path, residuals, limits, record_property):
    found = residuals(oracle_files.load(path))
    oracle_files.report(record_property, path, **found)
    assert {name: value for name, value in found.items() if not value <= limits[name]} == {}


@each("reached, asked", [(0.0, [1.0]), (5.0, [1.0, 10.0]), (100.0, [1.0, 10.0, 100.0]), (200.0, [1.0, 10.0, 100.0])])
def test_a_machine_that_cannot_reach_its_tolerance_is_fitted_to_a_coarser_one(reached, asked):
    class Machine:
        def set_params(self, tol, max_iter):
            found.append(tol)

        def fit(self, G, y, sample_weight):
            if found[-1] < reached:
                warnings.warn("not reached", ConvergenceWarning, stacklevel=1)

    found = []
    assert fit_to_tolerance(Machine(), np.eye(2), np.ones(2), np.ones(2), 1.0) is (reached <= 100.0)
    assert found == asked
