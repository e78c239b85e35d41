"""A model's values at points in many files: a folder of Parquet files in, another one out; and the command for it."""

from dsgcore.scoring.parquet import score_parquet as score_parquet
