"""The solver that all papers share: the protocol of a problem, the loop, the model it trains, and what a run computes about it.

Read in this order: `dsgcore.problems.auc` (a problem), `task`, `loop`, `model`, `carried`.
This package imports `dsgcore.core` and `dsgcore.kernels` only.
"""
