"""What the papers' theorems promise of a run, what they assume, and whether the run's spec keeps to it."""

from __future__ import annotations

from dataclasses import dataclass

from dsgcore.experiments.spec import Spec


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
    error_slope : float
        Predicted slope of log |f - h|^2 against log t.
    assumptions : tuple of Assumption
    """

    statement: str
    error_slope: float
    assumptions: tuple[Assumption, ...]

    @property
    def holds(self) -> bool:
        """Whether all assumptions hold."""
        return all(assumption.holds for assumption in self.assumptions)


_AUC = """
**Theorem 1 of QSG-S2AUC.** With steps $\\eta_t = \\theta / t$ and $\\theta\\lambda \\in (1, 2) \\cup \\mathbb{Z}_+$,
$\\mathbb{E}\\,|f_t(x) - f^*(x)|^2 = O(1/t)$. The proof splits the error in two:
$|f_t - f^*|^2 \\le 2\\,|f_t - h_t|^2 + 2\\kappa\\,\\|h_t - f^*\\|^2_{\\mathcal{H}}$, what the random features add and what the
random data add. The first part is the chart above; Lemma 1 bounds it by $M^2(\\kappa+\\phi)^2 \\sum_i |a_t^i|^2$.
The band is not a bound but an unbiased estimate: the spread of the single features' contributions, carried forward.

The losses are squared, so no constant $M$ bounds their derivatives beforehand: the bound is drawn with the largest
$\\sum_b |c_b|$ met so far.
"""


def theory_of(spec: Spec) -> Theory:
    """Return what the paper of a spec's setting says about its run."""
    s = spec.solver
    product = s.step_size * s.lam
    in_range = 1 < product < 2 or (product >= 1 and float(product).is_integer())
    return Theory(
        statement=_AUC,
        error_slope=-1.0,
        assumptions=(
            Assumption(f"The steps are θ/t (here: {s.schedule}).", s.schedule == "theta/t"),
            Assumption(f"θλ lies in (1, 2) or is a positive whole number (here: {product:g}).", in_range),
            Assumption("Kernel and features are bounded: κ = φ = 1 for the Gaussian kernel.", True),
            Assumption("Nothing was changed during the run.", not spec.changes),
        ),
    )
