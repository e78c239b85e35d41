"""The parts that all papers share: kernels and their random features, the model, the solver, and measurements.

Read in this order: `dsgcore.problems.auc` (a problem), `solver` (the loop), `kernels`, `_loops` (the compiled code).
This package imports nothing else of `dsgcore`.
"""
