"""Common properties of the four estimators that the solver trains. Each has a file of its own besides."""

import numpy as np
import pytest
from cases import each
from four_estimators import FOUR, SMALL, make, moons_with_few_labels
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from dsgcore import LRCMC, PS3VT, QS3ORAO, QSGS2AUC, SSMC, TSGS3VM, TSGSU, LinearMC
from dsgcore.kernels import KERNELS, DotProduct, Gaussian, Laplacian, Matern
from dsgcore.problems.auc import SemiSupervisedAUC
from dsgcore.problems.ordinal import SemiSupervisedOrdinal
from dsgcore.problems.s3vm import SemiSupervisedSVM
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.solver.loop import solve
from dsgcore.solver.plan import Plan
from dsgcore.solver.task import SAMPLING, Task

# Without the library's additions to the papers.
AS_PRINTED = {"lam": 1e-2, "step_size": 0.5, "average": None}
each_of_four = each("cls", FOUR)


@pytest.fixture(scope="module")
def moons():
    return moons_with_few_labels()


def trained(problem, kernel, X, labels, *, sampling, step=0.5, schedule="constant", lam=1e-2):
    """Run the solver without an estimator."""
    problem = problem.bind(labels)
    task = Task(
        problem=problem,
        kernel=kernel,
        X=np.ascontiguousarray(X, dtype=np.float32),
        rows=problem.rows(labels),
        plan=Plan(schedule, step, lam, 16, 12),
        batch_size=16,
        seed=7,
        dtype=np.dtype("float32"),
        sampling=sampling,
    )
    model = task.new_model()
    for _ in solve(task, model):
        pass
    return model


def test_each_is_the_solver_on_its_problem(moons):
    X, _, few = moons
    ids = np.where(np.arange(300) < 80, np.arange(300) // 2, -1)
    settings = {**SMALL, **AS_PRINTED, "sigma": 2.0, "random_state": 7}
    at_pairs = settings | {"schedule": "theta/sqrt(T)"}
    decaying = settings | {"step_size": 1.0, "schedule": "theta/t", "lam": 1.0}
    for estimator, labels, problem, plan in (
        (QSGS2AUC(gamma=0.3, pairing="all", is_pooled=True, **settings), few, SemiSupervisedAUC(0.3, "all", True), {}),
        (
            TSGSU(prior=0.3, loss="logistic", correction="leaky ReLU", leak=0.2, **at_pairs),
            ids,
            SimilarUnlabeled(0.3, "logistic", "leaky ReLU", 0.2),
            {"schedule": "theta/sqrt(T)"},
        ),
        (
            TSGS3VM(C=5.0, C_star=2.0, C_per="mean", loss="ramp", s=-0.5, is_balanced=True, **decaying),
            few,
            SemiSupervisedSVM(5.0, 2.0, "ramp", -0.5, True),
            {"step": 1.0, "schedule": "theta/t", "lam": 1.0},
        ),
        (QS3ORAO(gamma=[0.1], pairing="all", **settings), few, SemiSupervisedOrdinal((0.1,), "all"), {}),
    ):
        for sampling in SAMPLING.options:
            model = trained(problem, Gaussian(2.0), X, labels, sampling=sampling, **plan)
            estimator.set_params(sampling=sampling).fit(X, labels)
            np.testing.assert_array_equal(estimator.model_.evaluate(X), model.evaluate(X))


@each_of_four
def test_same_seed_same_bits_other_seed_other_numbers(moons, cls):
    X, _, few = moons
    first, again, other = (make(cls, random_state=seed).fit(X, few).decision_function(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    one, same = (make(cls, random_state=np.random.RandomState(3)).fit(X, few).decision_function(X) for _ in range(2))
    np.testing.assert_array_equal(one, same)


@each("cls, step", [(QSGS2AUC, 0.5), (TSGSU, 1.0), (TSGS3VM, 1.0), (QS3ORAO, 0.5)])
def test_works_in_a_pipeline_and_a_grid_search_on_labeled_data(moons, cls, step):
    X, y, few = moons
    pipeline = make_pipeline(MinMaxScaler(), make(cls)).fit(X, few)
    assert set(pipeline.predict(X)) <= {0, 1}
    X, y = X[(y == 1) | (np.arange(300) % 3 == 0)], y[(y == 1) | (np.arange(300) % 3 == 0)]  # TSGSU: unequal shares
    search = GridSearchCV(make_pipeline(MinMaxScaler(), make(cls, n_iter=60, n_features=64)), {}, cv=3)
    # With a step of 1e-6, and with a kernel this sharp, next to nothing is learned from 60 iterations.
    name = cls.__name__.lower()
    search.param_grid = [{f"{name}__step_size": [step]}, {f"{name}__sigma": [1e5]}]
    search.fit(X, y)
    assert search.best_params_ == {f"{name}__step_size": step}
    assert search.score(X, y) > 0.8


@each(
    "name, parameters, kernel",
    [
        ("gaussian", {"sigma": 2.0}, Gaussian(2.0)),
        ("laplacian", {"sigma": 0.5}, Laplacian(0.5)),
        ("matern", {"length": 0.4, "nu": "1/2"}, Matern(0.4, "1/2")),
        ("dot_product", {"sigma": 0.3, "power": 1}, DotProduct(0.3, "1")),
    ],
)
@each_of_four
def test_kernels_take_their_parameters(moons, cls, name, parameters, kernel):
    X, _, few = moons
    assert make(cls, kernel=name, **parameters).fit(X, few).model_.kernel == kernel


@each("name", KERNELS)
@each_of_four
def test_every_kernel_works_with_its_own_scale(moons, cls, name):
    X, _, few = moons
    model = make(cls, kernel=name, step_size=0.05).fit(X, few)
    assert model.model_.kernel.name == name
    assert np.isfinite(model.decision_function(X)).all()


@each("name", KERNELS)
def test_scale_follows_the_units_of_the_points(moons, name):
    X, _, few = moons
    model = make(kernel=name, dtype="float64")
    f, same = (model.fit(u * X, few).decision_function(u * X) for u in (1.0, 8.0))
    np.testing.assert_allclose(same, f, rtol=1e-4, atol=1e-5)  # frequencies are drawn in float32


@each("schedule, average", [("constant", None), ("theta/t", None), ("constant", "tail")])
@each_of_four
def test_partial_fits_equal_one_longer_fit(moons, cls, schedule, average):
    X, _, few = moons
    asked = {"schedule": schedule, "average": average, "dtype": "float64"}
    asked |= {"step_size": "auto" if average else 0.1} if schedule == "constant" else {}
    whole = make(cls, **asked).fit(X, few)
    parts = make(cls, **asked).set_params(n_iter=5).partial_fit(X, few, classes=[0, 1])
    parts.set_params(n_iter=7).partial_fit(X, few)
    assert parts.n_iter_ == whole.n_iter_ == 12
    assert parts.step_size_ == whole.step_size_
    # The order of summation may differ.
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), rtol=1e-9, atol=1e-9)


@each_of_four
def test_partial_fit_goes_on_after_a_fit_and_on_other_points(moons, cls):
    X, _, few = moons
    model = make(cls).fit(X, few)
    before, kernel = model.decision_function(X), model.model_.kernel
    model.set_params(lam=0.5, sigma=77.0, dtype="float64", random_state=5).partial_fit(X[20:] + 1.0, few[20:])
    assert (model.n_iter_, model.model_.kernel, model.model_.seed) == (24, kernel, 0)
    assert (model.decision_function(X) != before).any()


@each_of_four
def test_partial_fit_wants_the_classes_and_stays_with_them(moons, cls):
    X, _, few = moons
    with pytest.raises(ValueError, match=r"^classes must be passed on the first call to partial_fit$"):
        make(cls).partial_fit(X, few)
    model = make(cls).partial_fit(X, few, classes=np.unique(few))
    assert model.classes_.tolist() == [0, 1]
    before = model.decision_function(X)
    for y, classes, said in (
        (few, [0, 2], "classes must be those of the first call, 0, 1, got 0, 2"),
        (np.where(few == 0, 3, few), None, "y must hold the classes 0, 1, or -1 for unlabeled points, got 3"),
        (np.where(few == 0, -1, few), None, "y must hold labeled points of every class, got none of class 0"),
    ):
        with pytest.raises(ValueError, match=f"^{said}$"):
            model.partial_fit(X, y, classes)
    with pytest.raises(ValueError, match="diverged at iteration"):
        model.set_params(step_size=1e6, lam=1000.0, schedule="constant", n_iter=40).partial_fit(X, few)
    np.testing.assert_array_equal(model.decision_function(X), before)
    assert model.n_iter_ == 12


@each("cls", [*FOUR, PS3VT, QS3ORAO, LinearMC, LRCMC, SSMC])
def test_a_bad_value_of_any_parameter_is_refused_by_its_name(moons, cls):
    X, _, few = moons
    for name in set(cls().get_params()) - {"random_state"}:
        kernel = {"length": "matern", "nu": "matern", "power": "dot_product"}.get(name)
        model = (make(cls) if cls in FOUR else cls(n_iter=12)).set_params(**{"kernel": kernel} if kernel else {})
        with pytest.raises(ValueError, match=rf"^(is_)?{name}\w* must [^\n]*, got '?{{}}'?$"):
            model.set_params(**{name: {}}).fit(X, few)


@each_of_four
def test_widths_and_steps_are_numbers_or_a_word(moons, cls):
    X, _, few = moons
    for parameters, said in (
        ({"sigma": "auto"}, "sigma must be a positive number or 'scale', got 'auto'"),
        ({"sigma": float("inf")}, r"sigma must be a number between 1e-06 and 1e\+06, got inf"),
        ({"kernel": "matern", "length": "wide"}, "length must be a positive number or 'scale', got 'wide'"),
        ({"step_size": 0}, r"step_size must be a number between 1e-06 and 1e\+06 or 'auto', got 0"),
        ({"lam": float("nan")}, "lam must be a number between 0 and 1000(?: or 'auto')?, got nan"),
    ):
        with pytest.raises(ValueError, match=f"^{said}$"):
            make(cls, **parameters).fit(X, few)


@each_of_four
def test_numbers_that_overflow_get_one_sentence(moons, cls):
    X, _, few = moons
    dot_product, unit = {"kernel": "dot_product", "sigma": 1e6}, X / np.abs(X).max()
    for parameters, points, said in (
        (
            {**dot_product, "power": 5},
            100 * unit,
            r"kernel 'dot_product' overflows float32 at these points, where .*e\+50",
        ),
        ({"sigma": 1.0}, 1e39 * X, r"X must hold numbers of size 3.4e\+38 at most for float32, got larger ones: scale"),
        ({}, 1e8 * X / X.std() / 2**0.5, r"sigma='scale' is \S+e-1\d for these points, but must be .*: scale them$"),
        ({}, 1e-310 * X, r"sigma='scale' is inf for these points, but must be .*: scale them$"),
        (
            {**dot_product, "step_size": 1e3, "schedule": "constant", "n_iter": 40},
            X,
            r"\S+ diverged at iteration \d+: .* ",
        ),
    ):
        with pytest.raises(ValueError, match=rf"^{said}"):
            make(cls, **parameters).fit(points, few)


@each_of_four
@each(
    "labels, said",
    [
        ([-1], "got 0 classes"),
        ([1, 1, -1], "got 1 class$"),
        ([0.5, 1.2], "Unknown label type: continuous"),
        ([0, 1, 2], r"^Only binary .*: y must hold two classes .*, got 3 classes$"),
    ],
)
def test_labels_of_another_number_of_classes_get_one_sentence(cls, labels, said):
    if cls is QS3ORAO and 2 in labels:
        return
    with pytest.raises(ValueError, match=said):
        make(cls).fit(np.random.default_rng(0).normal(size=(30, 2)), np.resize(labels, 30))


@each_of_four
def test_the_tail_average_is_the_mean_of_the_second_halfs_iterates(moons, cls):
    X, _, few = moons
    model = make(cls, average="tail", dtype="float64").fit(X, few)
    assert len(model.iterate_) == len(model.model_) == 12
    mean = np.mean([model.iterate_.evaluate(X, t) for t in range(7, 13)], axis=0)
    np.testing.assert_allclose(model.model_.evaluate(X), mean, rtol=1e-10, atol=1e-12)
    last = make(cls, average=None, dtype="float64").fit(X, few)
    np.testing.assert_array_equal(last.model_.evaluate(X), model.iterate_.evaluate(X))
    assert last.iterate_ is last.model_


@each_of_four
def test_the_automatic_step_is_the_one_that_is_said(moons, cls):
    X, _, few = moons
    found = make(cls, step_size="auto", schedule="constant").fit(X, few)
    said = make(cls, step_size=found.step_size_, schedule="constant").fit(X, few)
    assert said.step_size_ == found.step_size_ > 0
    np.testing.assert_array_equal(said.decision_function(X), found.decision_function(X))
