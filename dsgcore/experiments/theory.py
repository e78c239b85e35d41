"""What the papers' theorems promise of a run, what they assume, and whether the run's spec keeps to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

from dsgcore.experiments.kernel_words import KERNEL_WORDS
from dsgcore.experiments.multiclass_setting import MultiClassSetting
from dsgcore.experiments.spec import Spec
from dsgcore.kernels import Kernel, OrthogonalGaussian


@dataclass(frozen=True)
class Assumption:
    """One thing that a theorem takes for granted, as a sentence, and whether it holds."""

    sentence: str
    holds: bool


@dataclass(frozen=True)
class Theory:
    """A theorem and its assumptions.

    Attributes
    ----------
    statement : str
        Markdown.
    error_slope : float or None
        Predicted slope of log |f - h|^2 against log t; None where the theorem speaks of the run's length only.
    assumptions : tuple of Assumption
    """

    statement: str
    error_slope: float | None
    assumptions: tuple[Assumption, ...]

    @property
    def holds(self) -> bool:
        """Whether all assumptions hold."""
        return all(assumption.holds for assumption in self.assumptions)


_SPLIT = """The proof splits the error in two: $|f_t - f^*|^2 \\le 2\\,|f_t - h_t|^2 + 2\\kappa\\,\\|h_t - f^*\\|^2_{\\mathcal{H}}$,
what the random features add and what the random data add."""
_LEMMA = """The chart of $|f - h|^2$ is the features' part. Lemma 1 bounds it by $M^2(\\kappa+\\phi)^2 \\sum_i |a_t^i|^2$. The band
is not a bound but an unbiased estimate: the spread of the single features' contributions, carried forward."""
_NO_CONSTANT = """The losses are squared, so no constant $M$ bounds their derivatives beforehand: the bound is drawn with the
largest $\\sum_b |c_b|$ met so far."""
_CONVEX_RATE = """With steps $\\eta_t = \\theta / t$ and $\\theta\\lambda \\in (1, 2) \\cup \\mathbb{Z}_+$,
$\\mathbb{E}\\,|f_t(x) - f^*(x)|^2 = O(1/t)$."""

_GENERALISATION = """It bounds the error of what is learned, not the path to it: with $n$ labeled and $u$ unlabeled points, a
loss within $[0, 1]$ and $\\|W\\| \\leq 1$, the excess risk is $O(K \\sum_{j>\\theta} \\lambda_j(W) / \\sqrt{n + u} + 1/n)$, against
$O(K/\\sqrt{n})$ without unlabeled points. Hence the two penalties: on the tail of the singular values, and on differences between
neighbouring points, for which no label is needed."""
_THRESHOLDING = """**Proposition 1.** After each sub-gradient step on loss, ridge and graph, the singular values after the first
$\\theta$ are made smaller by $\\tau_S/\\mu$, not below zero. With $\\tau_S = 0$ this is SS-MC, with $\\tau_I = 0$ LRC-MC,
and with both zero Linear-MC, the twin drawn beside the run. The gradients sum to zero over the classes, and so do the
weights: with as many features as classes or more, one singular value is always zero."""
_FIXED_FEATURES = """Random features are drawn once here, and not anew in each step as in the other settings: their error does
not average out."""

STATEMENTS = {
    "auc": f"**Theorem 1 of QSG-S2AUC.** {_CONVEX_RATE} {_SPLIT}\n\n{_LEMMA}\n\n{_NO_CONSTANT}",
    "ordinal": f"**Theorem 1 of QS3ORAO.** {_CONVEX_RATE} {_SPLIT}\n\n{_LEMMA}\n\n{_NO_CONSTANT}",
    "similar_unlabeled": f"""**Theorem 1 of TSGSU.** The corrected risk is not convex: with a constant step
$\\theta / \\sqrt{{T}}$ over $T$ iterations, the mean of $\\|\\nabla J(h_t)\\|^2$ over the run is $O(1/\\sqrt{{T}})$: a stationary
point, not the optimum.\n\n{_LEMMA}""",
    "s3vm": f"""**Theorem 1 of TSGS3VM.** The risk is not convex: with a constant step $\\theta / T^{{3/4}}$ over $T$ iterations,
$\\mathbb{{E}}\\,|f - h|^2 = O(1/\\sqrt{{T}})$ and the mean of $\\|\\nabla R(h_t)\\|^2$ is $O(1/T^{{1/4}})$.\n\n{_LEMMA}""",
    "multiclass": f"**Theorem 1 of PS3VT.** {_GENERALISATION}\n\n{_THRESHOLDING}\n\n{_FIXED_FEATURES}",
}
CONVEX = ("auc", "ordinal")
SCHEDULES_OF_THEOREMS = {"similar_unlabeled": "theta/sqrt(T)", "s3vm": "theta/T^(3/4)"}


def theory_of(spec: Spec) -> Theory:
    """Return what the paper of a spec's setting says about its run."""
    name = spec.problem.name
    if name == "multiclass":
        return Theory(STATEMENTS[name], None, _papers_algorithm(spec))
    is_convex = name in CONVEX
    common = (*_good_features(spec.kernel), Assumption("Nothing was changed during the run.", not spec.changes))
    own = _decaying_steps(spec) if is_convex else _constant_steps(spec, SCHEDULES_OF_THEOREMS[name])
    # A constant step gives no rate in t within a run, only in the length T of the run.
    statement = f"{STATEMENTS[name]}\n\n{kernel_statement(spec.kernel)}"
    return Theory(statement, -1.0 if is_convex else None, (*own, *common))


def kernel_statement(kernel: Kernel) -> str:
    """Return in Markdown what a run's kernel and its random features are, and what the theorem does not say of them."""
    words = KERNEL_WORDS[kernel.name]
    said = f"**{words.title} kernel.** {words.formula}. Its random features are {words.features}."
    return f"{said} {words.remark}".rstrip()


def _good_features(kernel: Kernel) -> tuple[Assumption, ...]:
    is_bounded = math.isfinite(kernel.bound) and math.isfinite(kernel.feature_bound)
    here = f"κ = {kernel.bound:g}, φ = {kernel.feature_bound:g}" if is_bounded else "both grow with the points' length"
    is_orthogonal = isinstance(kernel, OrthogonalGaussian)
    return (
        Assumption(f"Kernel and features are bounded: κ and φ are finite (here: {here}).", is_bounded),
        Assumption(
            "The features of an iteration are drawn independently of each other"
            f"{' (here: in blocks of orthogonal ones)' if is_orthogonal else ''}.",
            not is_orthogonal,
        ),
    )


def _decaying_steps(spec: Spec) -> tuple[Assumption, ...]:
    s = spec.solver
    product = s.step_size * s.lam
    in_range = 1 < product < 2 or (product >= 1 and float(product).is_integer())
    return (
        Assumption(f"The steps are θ/t (here: {s.schedule}).", s.schedule == "theta/t"),
        Assumption(f"θλ lies in (1, 2) or is a positive whole number (here: {product:g}).", in_range),
    )


def _papers_algorithm(spec: Spec) -> tuple[Assumption, ...]:
    setting, s = cast(MultiClassSetting, spec.problem), spec.solver
    radius = 1.0 if setting.radius is None else setting.radius
    return (
        Assumption("The steps are those of Algorithm 1, not of the released program.", setting.variant == "paper"),
        Assumption(f"The step 1/μ is constant (here: {s.schedule}).", s.schedule == "constant" and not spec.changes),
        Assumption(f"The weights stay in the ball of radius 1 (here: {radius:g}).", radius == 1.0),
        Assumption("The features are the points' own coordinates, as in the paper.", setting.features == "linear"),
    )


def _constant_steps(spec: Spec, schedule: str) -> tuple[Assumption, ...]:
    used = spec.solver.schedule
    return (Assumption(f"The step is {schedule}, the same throughout (here: {used}).", used == schedule),)
