"""The foundation that every other package uses: parameters, errors, random streams, threads, files and metrics.

This package imports nothing else of `dsgcore`.
"""
