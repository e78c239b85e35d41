"""Commands of `python -m dsgcore`, one file each."""
