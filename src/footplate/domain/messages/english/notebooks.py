"""Notebooks and their samples."""

TABLE = {
    "sample_unknown": "there is no sample {sample:quoted}; known: {known:comma}",
    "sample_first_steps": "First steps: submit a job from the notebook, follow its log, look at its result",
    "sample_distributed": "Distributed training: two workers average their gradients, and their curve is drawn while they train",
    "sample_compare": "Compare settings: the same training with three learning rates, and a table sorted by loss",
}
