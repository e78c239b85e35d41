"""Folds, scorers and searches over parameters. `dsgcore.model_selection` has the public names."""
