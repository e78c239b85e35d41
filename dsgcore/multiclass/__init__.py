"""PS3VT, multi-class learning with a graph: the one method here that is not of the solver's kind.

The other four follow a functional gradient, with random features drawn anew in each iteration, so that their model is a sum over
iterations; what differs is one file in `dsgcore.problems`. PS3VT moves one matrix of weights on features that stay the same, by
proximal steps. So everything is its own, and stands here:

`problem` the objective and its sub-gradients; `loop` the proximal steps; `graph` the neighbours and what they ask of a linear
model; `weights` the model; `twin` the same steps with the exact kernel; `setting`, `ground` and `engine` a run of it on a spec's
data, behind the protocol of `dsgcore.experiments.engine`; `estimator`, `ps3vt` and `special` scikit-learn's side, where
Linear-MC, LRC-MC and SS-MC are PS3VT with weights of zero.
"""
