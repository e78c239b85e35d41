"""Cases that share one test: like parametrize, without the time that pytest takes for each of thousands of tests."""

from __future__ import annotations

import functools
import inspect


def each(names, cases):
    """Decorate a test: it runs with every case, and the error of one that fails ends with its values.

    Fixtures are made once for all cases. A test that changes its fixtures takes `pytest.mark.parametrize` instead.
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
