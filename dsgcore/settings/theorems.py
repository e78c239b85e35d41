"""Theorems that several papers share: statements, assumptions and constants."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from dsgcore.core.parameters import AUTOMATIC
from dsgcore.kernels.kernels import DotProduct
from dsgcore.settings.theorem import Assumption, Breach, Constant, Measured, Rate, Theorem
from dsgcore.solver.plan import SCHEDULE_WORDS, SCHEDULES

if TYPE_CHECKING:
    from dsgcore.experiments.spec import Spec

SPLIT = """The proof splits the error in two: $|f_t - f^*|^2 \\le 2\\,|f_t - h_t|^2 + 2\\kappa\\,\\|h_t - f^*\\|^2_{\\mathcal{H}}$,
the error of the random features and the error of the random data."""
LEMMA = """The chart of $|f - h|^2$ shows the error of the random features. {lemma} The band is an unbiased estimate, not a
bound. It follows the spread of the contributions of single features. **The bound is far above both, by several powers of
ten.** It is the same for one random feature and for a thousand, although the error falls as $1/m$. It also adds up $|c_b|$
as if all points of a mini-batch pulled in the same direction. In fact they mostly cancel."""
SUM_OF_SQUARES = "$M^2(\\kappa+\\phi)^2 \\sum_i |a_t^i|^2$"
NO_CONSTANT = """The losses are squared, so no constant $M$ bounds their derivatives in advance. The chart uses the largest
$\\sum_b |c_b|$ so far. The constant $L$ of the paper counts how each derivative changes with its own value. A pair's
derivatives change with both values, so a step of the proof needs $2L$. The bound is the printed one, with $L$. With $2L$ it
is at most four times as large."""
CONVEX_RATE = """With steps $\\eta_t = \\theta / t$ and $\\theta\\lambda \\in (1, 2) \\cup \\mathbb{Z}_+$,
$\\mathbb{E}\\,|f_t(x) - f^*(x)|^2 = O(1/t)$."""


# Few features and small mini-batches: the rates are about their noise.
_SEEN_SOON = {"n_features": 64, "batch_size": 32}


def convex_theorem(title: str, bound: str, lemma: str) -> Theorem:
    """Return the theorem for a convex risk with squared pair losses: a rate in t, with steps theta / t.

    `bound` is the paper's name of the bound on |f - h|^2, and `lemma` the sentence about it.
    """
    statement = f"**{title}** {CONVEX_RATE} {SPLIT}\n\n{LEMMA.format(lemma=lemma)}\n\n{NO_CONSTANT}"
    return Theorem(
        statement,
        lambda spec: (*_decaying_steps(spec), *fresh_features(spec)),
        rates=dict.fromkeys(("distance", "error", "norm"), Rate(-1.0, "t", "1/t")),
        # A ridge of 1 keeps the first steps from overshooting.
        shown_with={"lam": 1.0, "n_iter": 2000, **_SEEN_SOON},
        cost="A larger ridge pulls f towards zero, and shrinking steps soon learn little more. The test score can fall by a lot.",
        constant=_convex_constant,
        bound=bound,
    )


def _lipschitz(spec: Spec) -> float:
    """Return the papers' L = gamma (L_1 + L_2) + (1 - gamma) (L_3 + ... + L_6), where each L_i of (1 - u + v)^2 is 2.

    Also gamma 2 + (1 - gamma) 4 pairs, each with a Hessian of norm at most 2 |k_u - k_v|^2 <= 4 kappa: the largest
    curvature of the risk is at most kappa L.
    """
    return 4.0 * (2.0 - cast(Any, spec.problem).gamma)


def _convex_constant(spec: Spec, measured: Measured) -> Constant | None:
    """Return the bound on E |f - f*|^2 of QSG-S2AUC's and QS3ORAO's Theorem 1, as printed.

    The proofs end with twice this Q_0. But their recursion, with beta_1 = 2 sqrt(2 kappa) L M (kappa + phi) theta^2,
    gives Q_0 = beta_1 / 2, as the statements have it.
    """
    theta, lam, kappa, phi = spec.solver.step_size, spec.solver.lam, spec.kernel.bound, spec.kernel.feature_bound
    if theta is None:
        return None
    M, L, more = measured.M, _lipschitz(spec), 2.0 * theta * lam - 1.0
    C2 = ((kappa + phi) * M * theta) ** 2
    Q0 = math.sqrt(2.0 * kappa) * (kappa + phi) * L * M * theta**2
    root = math.sqrt(Q0**2 + more * ((1.0 + theta * lam) * theta * M) ** 2 * kappa)
    Q1 = max(measured.f_star, (Q0 + root) / more)
    made = {"C²": C2, "Q₁": Q1, "Q₀": Q0}
    given = {"κ": kappa, "φ": phi, "M": M, "L": L, "θ": theta, "λ": lam, "‖f*‖": measured.f_star}
    return Constant(
        "distance", 2.0 * (C2 + kappa * Q1**2), Rate(-1.0, "t", "1/t"), "(2 C² + 2 κ Q₁²) / t", made | given
    )


def constant_step_theorem(
    statement: str,
    schedule: str,
    rates: Mapping[str, Rate],
    *,
    largest: tuple[str, Callable[[int], float]],
    bound: str,
    lemma: str,
    of_risk: Callable[[Spec], tuple[Assumption, ...]],
    constant: Constant,
    cost: str = "",
    **shown_with: Any,
) -> Theorem:
    """Return a theorem that assumes a constant step, which depends on the length of the run. It gives no rate in t.

    Parameters
    ----------
    largest : str and callable
        The paper's largest theta, in words and as a function of T.
    bound, lemma : str
        The paper's name of the bound on |f - h|^2, and the sentence about it.
    constant : Constant
        That bound for M = theta = 1.
    """

    def assumptions(spec: Spec) -> tuple[Assumption, ...]:
        return (*_constant_step(spec, schedule, *largest), *of_risk(spec), *fresh_features(spec))

    return Theorem(
        f"{statement}\n\n{LEMMA.format(lemma=lemma)}",
        assumptions,
        rates=rates,
        shown_with={"n_iter": 800, "schedule": schedule, **_SEEN_SOON} | shown_with,
        constant=lambda spec, measured: _features_constant(spec, measured, constant),
        cost=cost,
        bound=bound,
    )


def _features_constant(spec: Spec, measured: Measured, unit: Constant) -> Constant | None:
    """Return the bound on E |f - h|^2 of TSGSU's Lemma 1 and TSGS3VM's Theorem 1, theta^2 M^2 (sqrt kappa + sqrt phi)^2."""
    theta, kappa, phi = spec.solver.step_size, spec.kernel.bound, spec.kernel.feature_bound
    if theta is None:
        return None
    value = (theta * measured.M * (kappa**0.5 + phi**0.5)) ** 2
    return replace(unit, value=value, ingredients={"κ": kappa, "φ": phi, "M": measured.M, "θ": theta})


def unbiased_batches(spec: Spec, *, why: str, name: str, without: Any, breach: Breach) -> Assumption:
    """Return the assumption that mini-batch gradients are unbiased. It holds if `name` of the problem is `without`."""
    holds = getattr(spec.problem, name) == without
    sentence = f"The gradient of a mini-batch is unbiased{'' if holds else f' (here it is biased: {why})'}."
    return Assumption(sentence, holds, {"problem": {name: without}}, breach=breach)


def fresh_features(spec: Spec) -> tuple[Assumption, ...]:
    """Return the assumptions of all methods that draw new random features in each iteration."""
    kernel = spec.kernel
    is_bounded = math.isfinite(kernel.bound) and math.isfinite(kernel.feature_bound)
    here = f"κ = {kernel.bound:g}, φ = {kernel.feature_bound:g}" if is_bounded else "both grow with the points' length"
    return (
        Assumption(
            f"Kernel and features are bounded: κ and φ are finite (here: {here}).",
            is_bounded,
            why_not="This depends on the kernel. Choose a kernel with bounded features.",
            breach=Breach(
                "unbounded features",
                {"kernel": {"name": DotProduct.name}},
                "No lemma bounds the error any more. The error of the features grows with the length of the points.",
            ),
        ),
        _unchanged(spec),
        *_as_printed(spec),
    )


def _as_printed(spec: Spec) -> tuple[Assumption, ...]:
    """Return the assumption that a run begins, draws and ends as in the papers, if it does so as an estimator's fit."""
    printed = {"start": None, "sampling": "independent", "tol": 0.0}
    others = {name: value for name, value in printed.items() if getattr(spec.solver, name) != value}
    if not others:
        return ()
    sentence = (
        "The run starts at 0, draws its mini-batches independently, and makes all iterations (here: as a fit does)."
    )
    return (Assumption(sentence, holds=False, remedy={"solver": others}),)


def _unchanged(spec: Spec) -> Assumption:
    """Return the assumption that no parameter changed. Its breach is a tenfold step from the middle of the run on."""
    s, changes = spec.solver, list[dict[str, Any]]()
    if s.step_size is not None and "step_size" in spec.steerable:
        changes = [{"t": s.n_iter // 2 + 1, "name": "step_size", "value": float(f"{LARGER * s.step_size:.4g}")}]
    then = "At the change, the noise of the steps jumps up. Then it has to fall again."
    breach = Breach("step × 10 at half time", {"changes": changes}, then)
    return Assumption("Nothing was changed during the run.", not spec.changes, breach=breach)


# Steps theta / t begin at theta. With a smaller ridge, theta = 1.5 / lam is so large that many steps overshoot.
SMALLEST_RIDGE, PRODUCT = 0.2, 1.5
# Values of θ lam that break the assumptions: a constant step that does not diverge, and a product that is too small.
CONSTANT, TOO_SMALL = 0.3, 0.1
# A step multiplies f by at most |1 - eta_t (lambda + kappa L)|. With eta_t = theta / t the product of those above 1 is about
# 2 to the power theta (lambda + kappa L). The square of 2^64 is the largest number of single precision.
MOST_DOUBLINGS = 64
LARGER = 10.0
# Length of run for which the step of a broken assumption is the theorem's.
SHORT = 50


def _decaying_steps(spec: Spec) -> tuple[Assumption, ...]:
    s = spec.solver
    product = math.nan if s.step_size is None else s.step_size * s.lam  # the automatic step depends on the data
    in_range = 1 < product < 2 or (product >= 1 and float(product).is_integer())
    here = AUTOMATIC if math.isnan(product) else f"{product:g}"
    doublings = product + (s.step_size or math.nan) * spec.kernel.bound * _lipschitz(spec)
    lam = max(s.lam, SMALLEST_RIDGE)
    # Both together, because a theta that suits one schedule may not suit another.
    remedy = {"solver": {"schedule": "theta/t", "step_size": PRODUCT / lam, "lam": lam}}
    return (
        Assumption(
            f"The steps are θ/t (here: {SCHEDULE_WORDS[s.schedule]}).",
            s.schedule == "theta/t",
            remedy,
            breach=Breach(
                "constant step",
                {"solver": {"schedule": "constant", "step_size": CONSTANT / lam}},
                "f comes close sooner, and then its noise stops it: the curves become flat. Their average still improves.",
            ),
        ),
        Assumption(
            f"θλ lies in (1, 2) or is a positive whole number (here: {here}).",
            in_range,
            remedy,
            breach=Breach(
                "θλ = 0.1",
                {"solver": {"schedule": "theta/t", "step_size": TOO_SMALL / lam, "lam": lam}},
                "The steps shrink before f has arrived. The distance falls as t^−0.2 (2θλ = 0.2) instead of 1/t.",
            ),
        ),
        Assumption(
            "The derivatives of the loss are bounded by some M. Those of a squared loss are only as bounded as f, and the first "
            "steps can multiply f by up to 2 to the power θ(λ + κL) "
            f"(here: {f'{doublings:.3g}' if math.isfinite(doublings) else AUTOMATIC}, at most {MOST_DOUBLINGS} allowed).",
            doublings <= MOST_DOUBLINGS or not math.isfinite(spec.kernel.bound),
            remedy,
        ),
    )


def _constant_step(
    spec: Spec, schedule: str, limit_in_words: str, limit: Callable[[int], float]
) -> tuple[Assumption, ...]:
    """Return the assumptions on a constant step: its dependence on T, and the largest theta."""
    used, T, lam = spec.solver.schedule, spec.solver.n_iter, spec.solver.lam
    per_theta = SCHEDULES[schedule](1.0, 1, T)
    largest = min(limit(T), 1.0 / (per_theta * lam) if lam > 0 else math.inf)
    # The same step under another schedule. A decaying one is replaced by about its mean.
    given = spec.solver.step_size
    theta = largest if given is None else SCHEDULES[used](given, math.ceil(T**0.5), T) / per_theta
    allowed = min(float(f"{theta:.3g}"), largest)
    remedy = {"solver": {"schedule": schedule, "step_size": allowed}}
    here = AUTOMATIC if given is None else f"{given:g}"
    return (
        Assumption(
            f"The step is {SCHEDULE_WORDS[schedule]}, the same throughout (here: {SCHEDULE_WORDS[used]}).",
            used == schedule,
            remedy,
            breach=Breach(
                "a step that T does not shrink",
                {"solver": {"schedule": "constant", "step_size": SCHEDULES[schedule](allowed, 1, SHORT)}},
                "Longer runs come no closer. The noise of the step remains, and it is now the same for all lengths.",
            ),
        ),
        Assumption(
            f"θ is at most {limit_in_words}, and a step times λ is at most 1: here θ ≤ {largest:.4g} (here: {here}).",
            given is not None and given <= largest,
            remedy,
        ),
    )
