"""Theorems that several papers share: statements, assumptions and constants."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from dsgcore.core.parameters import AUTOMATIC
from dsgcore.kernels import Gaussian, OrthogonalGaussian
from dsgcore.kernels.dot_product import DotProduct
from dsgcore.settings.theorem import Assumption, Breach, Constant, Measured, Rate, Theorem
from dsgcore.solver.plan import SCHEDULE_WORDS, SCHEDULES

if TYPE_CHECKING:
    from dsgcore.experiments.spec import Spec

SPLIT = """The proof splits the error in two: $|f_t - f^*|^2 \\le 2\\,|f_t - h_t|^2 + 2\\kappa\\,\\|h_t - f^*\\|^2_{\\mathcal{H}}$,
the error of the random features and the error of the random data."""
LEMMA = """The chart of $|f - h|^2$ shows the error of the random features. Lemma 1 bounds it by
$M^2(\\kappa+\\phi)^2 \\sum_i |a_t^i|^2$. The band is an unbiased estimate, not a bound. It follows the spread of the
contributions of single features. **The bound is far above both, by several powers of ten.** It is the same for one random
feature and for a thousand, although the error falls as $1/m$. It also adds up $|c_b|$ as if all points of a mini-batch pulled
in the same direction. In fact they mostly cancel."""
NO_CONSTANT = """The losses are squared, so no constant $M$ bounds their derivatives in advance. The chart uses the largest
$\\sum_b |c_b|$ so far."""
CONVEX_RATE = """With steps $\\eta_t = \\theta / t$ and $\\theta\\lambda \\in (1, 2) \\cup \\mathbb{Z}_+$,
$\\mathbb{E}\\,|f_t(x) - f^*(x)|^2 = O(1/t)$."""


# Few features and small mini-batches: the rates are about their noise.
_SEEN_SOON = {"n_features": 64, "batch_size": 32}


def convex_theorem(title: str) -> Theorem:
    """Return the theorem for a convex risk with squared losses: a rate in t, with steps theta / t."""
    statement = f"**{title}** {CONVEX_RATE} {SPLIT}\n\n{LEMMA}\n\n{NO_CONSTANT}"
    return Theorem(
        statement,
        lambda spec: (*_decaying_steps(spec), *fresh_features(spec)),
        rates=dict.fromkeys(("distance", "error", "norm"), Rate(-1.0, "t", "1/t")),
        # A ridge of 1 keeps the first steps from overshooting.
        shown_with={"lam": 1.0, "n_iter": 2000, **_SEEN_SOON},
        cost="A larger ridge pulls f towards zero, and shrinking steps soon learn little more. The test score can fall by a lot.",
        constant=_convex_constant,
    )


def _convex_constant(spec: Spec, measured: Measured) -> Constant | None:
    """Return the bound on E |f - f*|^2 of QSG-S2AUC's and QS3ORAO's Theorem 1.

    The papers' statements have half of the Q_0 in their proofs. This function uses the proofs' value.
    """
    theta, lam, kappa, phi = spec.solver.step_size, spec.solver.lam, spec.kernel.bound, spec.kernel.feature_bound
    if theta is None:
        return None
    M, L, more = measured.M, measured.L, 2.0 * theta * lam - 1.0
    C2 = ((kappa + phi) * M * theta) ** 2
    Q0 = 2.0 * math.sqrt(2.0 * kappa) * (kappa + phi) * L * M * theta**2
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
    of_risk: Callable[[Spec], tuple[Assumption, ...]],
    constant: Callable[[Spec, Measured], Constant | None] = lambda spec, measured: None,
    cost: str = "",
    **shown_with: Any,
) -> Theorem:
    """Return a theorem that assumes a constant step, which depends on the length of the run. It gives no rate in t."""
    return Theorem(
        f"{statement}\n\n{LEMMA}",
        lambda spec: (_constant_step(spec, schedule), *of_risk(spec), *fresh_features(spec)),
        rates=rates,
        shown_with={"n_iter": 800, "schedule": schedule, **_SEEN_SOON} | shown_with,
        constant=constant,
        cost=cost,
    )


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
        Assumption(
            "The features of an iteration are drawn independently of each other"
            f"{' (here: in blocks of orthogonal ones)' if not kernel.has_independent_features else ''}.",
            kernel.has_independent_features,
            remedy={"kernel": {"name": Gaussian.name}},
            breach=Breach(
                "orthogonal features",
                {"kernel": {"name": OrthogonalGaussian.name}},
                "The proof no longer applies, but it does no harm. Orthogonal features are at least as good.",
            ),
        ),
        _unchanged(spec),
    )


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
LARGER = 10.0
# Length of run for which the step of a broken assumption is the theorem's.
SHORT = 50


def _decaying_steps(spec: Spec) -> tuple[Assumption, ...]:
    s = spec.solver
    product = math.nan if s.step_size is None else s.step_size * s.lam  # the automatic step depends on the data
    in_range = 1 < product < 2 or (product >= 1 and float(product).is_integer())
    here = AUTOMATIC if math.isnan(product) else f"{product:g}"
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
    )


def _constant_step(spec: Spec, schedule: str) -> Assumption:
    used, T = spec.solver.schedule, spec.solver.n_iter
    # The same step under another schedule. A decaying one is replaced by about its mean.
    given, theta = spec.solver.step_size, None
    if given is not None:
        step = SCHEDULES[used](given, math.ceil(T**0.5), T)
        theta = float(f"{step / SCHEDULES[schedule](1.0, 1, T):.3g}")
    remedy = {"solver": {"schedule": schedule, "step_size": theta}}
    return Assumption(
        f"The step is {SCHEDULE_WORDS[schedule]}, the same throughout (here: {SCHEDULE_WORDS[used]}).",
        used == schedule,
        remedy,
        breach=Breach(
            "a step that T does not shrink",
            {"solver": {"schedule": "constant", "step_size": theta and SCHEDULES[schedule](theta, 1, SHORT)}},
            "Longer runs come no closer. The noise of the step remains, and it is now the same for all lengths.",
        ),
    )
