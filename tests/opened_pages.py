"""Pages of the app without a browser: opened at a link, and what is asked of every one."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from pages.shell import warm_up

# A setting of each engine: enough where all pages keep a rule by the same code.
OF_EACH_ENGINE = ("auc", "multiclass")
APP = str(Path(__file__).parents[1] / "app.py")


def open_page(name, **link):
    """Return a page as a link asks for it, with the core ready."""
    app = AppTest.from_file(APP, default_timeout=120)
    for key, value in link.items():
        app.query_params[key] = value
    app.run()
    warm_up.warm_up().thread.join()
    return app.switch_page(f"pages/{name}.py").run()


def open_auc(**link):
    return open_page("auc", **link)


def checked(app):
    assert not app.exception
    return app


def said(app):
    return [warning.value for warning in checked(app).warning]


def errors(app):
    return [error.value.replace("\\", "") for error in app.error]


def bench_of(app, setting="auc"):
    return app.session_state[f"_bench_{setting}"]


def run_of(app, setting="auc"):
    return bench_of(app, setting).live.run
