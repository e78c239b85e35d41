"""PS3VT: multi-class learning with a neighbour graph, by proximal steps instead of the solver.

The other four methods follow a functional gradient. They draw new random features in each iteration, so that their
model is a sum over iterations. Each of them is one file in `dsgcore.problems`. PS3VT moves one matrix of weights on
fixed features by proximal steps, and so has a package of its own:

- `problem`: the objective and its sub-gradients, and the setting of a spec;
- `loop`: a task, and the proximal steps;
- `graph`: the neighbours, the graph's term for a linear model, and what runs on a split share;
- `features`: what the weights multiply, and the model;
- `twin`: the same steps with the exact kernel;
- `engine`: a run on a spec's data, behind the protocol of `dsgcore.experiments.engine`;
- `softmax`: plain doubly stochastic gradients with the softmax loss, and their run, as a variant.

The scikit-learn estimator is `dsgcore.estimators.PS3VT`. Linear-MC, LRC-MC and SS-MC in `dsgcore.baselines` are PS3VT
with weights of zero.
"""
