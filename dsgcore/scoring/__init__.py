"""Scores of a model for folders of Parquet files, written to new Parquet files; and the command for it."""

from dsgcore.scoring.parquet import score_parquet as score_parquet
