"""The figures and tables of the papers' experiments, as studies: one file a setting."""
