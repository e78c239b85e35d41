"""A decorator that runs many cases as one test, without the time that pytest needs for each test."""

import functools
import inspect

import pytest

is_more_asked = False  # whether the tests of .ci/run run, too; conftest.py sets it
is_everything_asked = False  # whether the weekly tests run, too


def some(cases, n, ci=None):
    """Return n cases spread over all, so many for .ci/run, or every one where the weekly tests run: for cases that take long."""
    cases = list(cases)
    n = min((ci or n) if is_more_asked else n, len(cases))
    return cases if is_everything_asked else [cases[i * len(cases) // n] for i in range(n)]


def tiers(cases, readme, ci):
    """Return parameters: so many cases, spread over all, for the README's command, `ci` for .ci/run, all for the weekly tests."""
    cases = list(cases)
    chosen = [{i * len(cases) // n for i in range(n)} for n in (min(readme, len(cases)), min(ci, len(cases)))]
    marks = [
        () if i in chosen[0] else pytest.mark.ci if i in chosen[1] else pytest.mark.weekly for i in range(len(cases))
    ]
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=m)
        for case, m in zip(cases, marks, strict=True)
    ]


def each(names, cases):
    """Run the decorated test with every case; an error names the values of its case.

    All cases share the fixtures. Use `pytest.mark.parametrize` for a test that changes them.
    """
    names, cases = [name.strip() for name in names.split(",")], list(cases)

    def decorate(test):
        @functools.wraps(test)
        def run(**fixtures):
            assert cases, "there are no cases"
            for case in cases:
                given = dict(zip(names, case if len(names) > 1 else (case,), strict=True))
                try:
                    test(**given, **fixtures)
                except BaseException as error:
                    error.add_note(f"with {given}")
                    raise

        own = inspect.signature(test)
        run.__signature__ = own.replace(parameters=[p for name, p in own.parameters.items() if name not in names])
        return run

    return decorate
