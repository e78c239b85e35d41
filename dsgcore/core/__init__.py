"""What the papers share: kernels and their random features, the model, the one loop, and what is measured of it.

To read in this order: `dsgcore.problems.auc` (a problem), `solver` (the loop), `kernels`, `_loops` (what is compiled).
Nothing here imports anything of the package that is not here.
"""
