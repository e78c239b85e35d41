"""Theorems of the papers: their assumptions, ways to break one, and constants. Their statements are in `theorems.toml`."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from dsgcore.core.parameters import AUTOMATIC
from dsgcore.kernels.kernels import DotProduct
from dsgcore.solver.parameters import RunSpec
from dsgcore.solver.task import SCHEDULE_WORDS, SCHEDULES


@dataclass(frozen=True)
class Breach:
    """Way to break an assumption: a name, values of a spec by section ("changes" is a list), and the consequence."""

    name: str
    values: Mapping[str, Any]
    then: str


@dataclass(frozen=True)
class Rate:
    """Rate at which a quantity falls, according to a theorem.

    Attributes
    ----------
    slope : float
        Exponent of t or T.
    of : {"t", "T"}
        The iteration, or the length of the run.
    words : str
        The rate in mathematical notation.
    """

    slope: float
    of: str
    words: str


@dataclass(frozen=True)
class Constant:
    """Bound of a theorem on a quantity of `dsgcore.diagnostics.convergence`: `value` times a power of t or T.

    Attributes
    ----------
    words : str
        Formula in Markdown.
    ingredients : mapping of str to float
        Values in the formula, by the paper's symbols.
    """

    of: str
    value: float
    rate: Rate
    words: str
    ingredients: Mapping[str, float]


@dataclass(frozen=True)
class Assumption:
    """Assumption of a theorem.

    Attributes
    ----------
    remedy : mapping of str to mapping
        Values of a spec that make it hold, by section.
    why_not : str
        Reason why no value makes it hold. Empty if there is a remedy.
    breach : Breach or None
        Way to break it and see the consequence.
    """

    sentence: str
    holds: bool
    remedy: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    why_not: str = ""
    breach: Breach | None = None


@dataclass(frozen=True)
class Theorem:
    """Theorem of a paper."""

    # Text in Markdown.
    statement: str
    # Function from a spec to the assumptions, and whether the spec meets them; and those of a spec (`theory_of`).
    assumed: Callable[[RunSpec], tuple[Assumption, ...]] = lambda spec: ()
    assumptions: tuple[Assumption, ...] = ()
    # Rates, by the quantities of `dsgcore.diagnostics.convergence`.
    rates: Mapping[str, Rate] = field(default_factory=dict)
    # Values with which the rates are visible after few iterations.
    shown_with: Mapping[str, Any] = field(default_factory=dict)
    # True if its random features are those of the spec's kernel.
    names_kernel: bool = True
    # Possible cost of meeting the assumptions.
    cost: str = ""
    # The paper's name of its bound on |f - h|^2, such as "Lemma 1".
    bound: str = ""
    # Function to the bound from a spec that meets the assumptions, the largest sum of the absolute coefficients of a
    # mini-batch, and the norm of f* in the kernel's space. None if the paper gives none.
    constant: Callable[[RunSpec, float, float], Constant | None] = lambda spec, M, f_star: None

    @property
    def holds(self) -> bool:
        """True if the spec meets all assumptions."""
        return all(assumption.holds for assumption in self.assumptions)

    @property
    def error_slope(self) -> float | None:
        """Predicted slope of log |f - h|^2 against log t, or None if the theorem is about the length of the run only."""
        rate = self.rates.get("error")
        return None if rate is None or rate.of != "t" else rate.slope


NO_THEOREM = Theorem("DSG Lab knows no theorem for this method.")


SAID = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def said_of(setting: str) -> dict[str, Any]:
    """Return the texts of a setting's theorem, as keywords of `Theorem`."""
    parts = SAID["shared"] | SAID[setting]

    def whole(text: str) -> str:
        return re.sub(r"<(\w+)>", lambda found: whole(parts[found[1]].strip()), text.strip())

    return {name: whole(text) for name, text in SAID[setting].items() if name != "lemma"}


def assumption(
    name: str,
    spec: RunSpec,
    holds: bool,
    remedy: Mapping[str, Mapping[str, Any]] | None = None,
    breach: Mapping[str, Any] | None = None,
    **words: Any,
) -> Assumption:
    """Return an assumption of `theorems.toml` with the run's words; `breach` are values of a spec that break it."""
    said = SAID["assumptions"][name]
    unless = "" if holds else said.get("unless", "").format(**words)
    sentence, place = said["sentence"].format(**words, unless=unless), said.get("place", name)
    if place := SAID["places"].get(spec.problem.name, {}).get(place):
        sentence = f"{sentence} {place}."
    broken = None if breach is None else Breach(said["breach"][0], breach, said["breach"][1])
    return Assumption(sentence, holds, remedy or {}, said.get("why_not", ""), broken)


# Few features and small mini-batches: the rates are about their noise.
_SEEN_SOON = {"n_features": 64, "batch_size": 32}


def _lipschitz(spec: RunSpec) -> float:
    """Return the papers' L = gamma (L_1 + L_2) + (1 - gamma) (L_3 + ... + L_6), where each L_i of (1 - u + v)^2 is 2.

    QS3ORAO's is the mean over its sub-problems.

    Also gamma 2 + (1 - gamma) 4 pairs, each with a Hessian of norm at most 2 |k_u - k_v|^2 <= 4 kappa: the largest
    curvature of the risk is at most kappa L.
    """
    return 4.0 * (2.0 - float(np.mean(cast(Any, spec.problem).gamma)))


def convex_theorem(
    setting: str,
    *,
    lipschitz: Callable[[RunSpec], float] = _lipschitz,
    of_risk: Callable[[RunSpec], tuple[Assumption, ...]] = lambda spec: (),
    **shown_with: Any,
) -> Theorem:
    """Return the theorem of a setting with a convex risk: a rate in t, with steps theta / t.

    `lipschitz` returns the papers' L for a spec: by default that of squared pair losses, whose papers print a constant, too.
    """
    return Theorem(
        **said_of(setting),
        assumed=lambda spec: (*_decaying_steps(spec, lipschitz(spec)), *of_risk(spec), *fresh_features(spec)),
        rates=dict.fromkeys(("distance", "error", "norm"), Rate(-1.0, "t", "1/t")),
        # A ridge of 1 keeps the first steps from overshooting.
        shown_with={"lam": 1.0, "n_iter": 2000, **_SEEN_SOON} | shown_with,
        constant=_convex_constant if lipschitz is _lipschitz else Theorem.constant,
    )


def _convex_constant(spec: RunSpec, M: float, f_star: float) -> Constant | None:
    """Return the bound on E |f - f*|^2 of QSG-S2AUC's and QS3ORAO's Theorem 1, as printed.

    The proofs end with twice this Q_0. But their recursion, with beta_1 = 2 sqrt(2 kappa) L M (kappa + phi) theta^2,
    gives Q_0 = beta_1 / 2, as the statements have it.
    """
    theta, lam, kappa, phi = spec.solver.step_size, spec.solver.lam, spec.kernel.bound, spec.kernel.feature_bound
    if theta is None:
        return None
    L, more = _lipschitz(spec), 2.0 * theta * lam - 1.0
    C2 = ((kappa + phi) * M * theta) ** 2
    Q0 = math.sqrt(2.0 * kappa) * (kappa + phi) * L * M * theta**2
    root = math.sqrt(Q0**2 + more * ((1.0 + theta * lam) * theta * M) ** 2 * kappa)
    Q1 = max(f_star, (Q0 + root) / more)
    made = {"C²": C2, "Q₁": Q1, "Q₀": Q0}
    given = {"κ": kappa, "φ": phi, "M": M, "L": L, "θ": theta, "λ": lam, "‖f*‖": f_star}
    return Constant(
        "distance", 2.0 * (C2 + kappa * Q1**2), Rate(-1.0, "t", "1/t"), "(2 C² + 2 κ Q₁²) / t", made | given
    )


def constant_step_theorem(
    setting: str,
    schedule: str,
    rates: Mapping[str, Rate],
    *,
    largest: tuple[str, Callable[[int], float]],
    of_risk: Callable[[RunSpec], tuple[Assumption, ...]],
    constant: Constant,
    **shown_with: Any,
) -> Theorem:
    """Return a setting's theorem if it assumes a constant step, which depends on the length of the run. It gives no rate in t.

    `largest` is the paper's largest theta, in words and as a function of T; `constant` is the bound for M = theta = 1.
    """

    def bound(spec: RunSpec, M: float, f_star: float) -> Constant | None:
        """Return the bound on E |f - h|^2 of TSGSU's Lemma 1 and TSGS3VM's Theorem 1, theta^2 M^2 (sqrt kappa + sqrt phi)^2."""
        theta, kappa, phi = spec.solver.step_size, spec.kernel.bound, spec.kernel.feature_bound
        if theta is None:
            return None
        value = (theta * M * (kappa**0.5 + phi**0.5)) ** 2
        return replace(constant, value=value, ingredients={"κ": kappa, "φ": phi, "M": M, "θ": theta})

    return Theorem(
        **said_of(setting),
        assumed=lambda spec: (*_constant_step(spec, schedule, *largest), *of_risk(spec), *fresh_features(spec)),
        rates=rates,
        shown_with={"n_iter": 800, "schedule": schedule, **_SEEN_SOON} | shown_with,
        constant=bound,
    )


def fresh_features(spec: RunSpec) -> tuple[Assumption, ...]:
    """Return the assumptions of all methods that draw new random features in each iteration."""
    kernel, s = spec.kernel, spec.solver
    is_bounded = math.isfinite(kernel.bound) and math.isfinite(kernel.feature_bound)
    here = f"κ = {kernel.bound:g}, φ = {kernel.feature_bound:g}" if is_bounded else "both grow with the points' length"
    fresh, fixed, changes = {"solver": {"features": "fresh"}}, {"solver": {"features": "fixed"}}, list[dict[str, Any]]()
    if s.step_size is not None and "step_size" in spec.steerable:
        changes = [{"t": s.n_iter // 2 + 1, "name": "step_size", "value": float(f"{LARGER * s.step_size:.4g}")}]
    # The papers' runs do not begin, draw and end as an estimator's fit does.
    printed = {"start": None, "sampling": "independent", "tol": 0.0}
    unlike = {name: value for name, value in printed.items() if getattr(s, name) != value}
    return (
        assumption("kernel", spec, is_bounded, breach={"kernel": {"name": DotProduct.name}}, here=here),
        assumption("features", spec, s.features == "fresh", fresh, fixed),
        assumption("unchanged", spec, not spec.changes, breach={"changes": changes}),
        *([assumption("from_0", spec, holds=False, remedy={"solver": unlike})] if unlike else []),
    )


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


def _decaying_steps(spec: RunSpec, L: float) -> tuple[Assumption, ...]:
    s = spec.solver
    product = math.nan if s.step_size is None else s.step_size * s.lam  # the automatic step depends on the data
    in_range = 1 < product < 2 or (product >= 1 and float(product).is_integer())
    here = AUTOMATIC if math.isnan(product) else f"{product:g}"
    doublings = product + (s.step_size or math.nan) * spec.kernel.bound * L
    grows, lam = f"{doublings:.3g}" if math.isfinite(doublings) else AUTOMATIC, max(s.lam, SMALLEST_RIDGE)
    # Both together, because a theta that suits one schedule may not suit another.
    remedy = {"solver": {"schedule": "theta/t", "step_size": PRODUCT / lam, "lam": lam}}
    constant = {"solver": {"schedule": "constant", "step_size": CONSTANT / lam}}
    small = {"solver": {"schedule": "theta/t", "step_size": TOO_SMALL / lam, "lam": lam}}
    is_bounded = doublings <= MOST_DOUBLINGS or not math.isfinite(spec.kernel.bound)
    return (
        assumption("steps", spec, s.schedule == "theta/t", remedy, constant, here=SCHEDULE_WORDS[s.schedule]),
        assumption("product", spec, in_range, remedy, small, here=here),
        assumption("slopes", spec, is_bounded, remedy, here=grows, most=MOST_DOUBLINGS),
    )


def _constant_step(
    spec: RunSpec, schedule: str, limit_in_words: str, limit: Callable[[int], float]
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
    same = {"solver": {"schedule": "constant", "step_size": SCHEDULES[schedule](allowed, 1, SHORT)}}
    words = {"words": SCHEDULE_WORDS[schedule], "here": SCHEDULE_WORDS[used]}
    here, fits = AUTOMATIC if given is None else f"{given:g}", given is not None and given <= largest
    return (
        assumption("constant", spec, used == schedule, remedy, same, **words),
        assumption("largest", spec, fits, remedy, words=limit_in_words, largest=largest, here=here),
    )
