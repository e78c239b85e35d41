"""The competitors against their authors' programs: a row for each kind of the programs' numbers."""

import warnings

import numpy as np
import oracle_files
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from test_baselines import ordinal_objective

from dsgcore.baselines import BLS3VM, PNUAUC, QNS3VM, SAMULT, SUDH, SUSL, SVOREX, S3VMLight
from dsgcore.baselines.basis import IllPosedWarning
from dsgcore.model_selection import PNUAUCRisk, SimilarUnlabeledRisk
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled


def apart(got, wanted, *, is_relative=False):
    """The largest distance of two arrays, also as a share of the largest value."""
    return float(np.abs(got - wanted).max() / (np.abs(wanted).max() if is_relative else 1.0))


# --- from similar pairs


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


# --- pairwise risks


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


# --- semi-supervised support vector machines


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
    ("su_sl_gauss_a", of_su_sl, limits_of_su_sl(1e-8)),
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
