"""Pages of the app without a browser: opened at a link, and what is asked of every one."""

import json
import re
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from dsgcore.experiments import SETTINGS
from pages.controls.link import names_of
from pages.controls.view import AXES, choices_of
from pages.shell import warm_up

# A setting of each engine: enough where all pages keep a rule by the same code.
OF_EACH_ENGINE = ("auc", "multiclass")
APP = str(Path(__file__).parents[1] / "app.py")


def open_page(name, **link):
    """Return a page as a link asks for it, with the core ready."""
    app = AppTest.from_file(APP, default_timeout=120)
    for key, value in link.items():
        app.query_params[key] = value
    warm_up.warm_up().thread.join()
    return app.switch_page(f"pages/{name}.py").run()


def open_auc(**link):
    return open_page("auc", **link)


def click_like_a_browser(app, key):
    """Click a button, and run only its fragment if it is in one, where AppTest would run the whole script.

    What the page then shows is the fragment alone, unless that asks for the whole page.
    """
    button = app.button(key=key)
    (metadata,) = (
        known
        for known in app.session_state._state._state._new_widget_state.widget_metadata.values()
        if known.id == button.id
    )
    request = LocalScriptRunner.request_rerun

    def only_the_fragment(self, rerun):
        self._requests = ScriptRequests()  # without the request for the whole script that a new runner begins with
        return request(self, replace(rerun, fragment_id=metadata.fragment_id))

    with patch.object(LocalScriptRunner, "request_rerun", only_the_fragment):
        return checked(button.click().run())


def checked(app):
    assert not app.exception
    return app


def shown(text):
    """A text of Markdown without what keeps it from being drawn as Markdown."""
    return text.replace("\\", "").replace("\N{WORD JOINER}", "")


def said(app):
    return [shown(warning.value) for warning in checked(app).warning]


def errors(app):
    return [shown(error.value) for error in app.error]


def bench_of(app, setting="auc"):
    return app.session_state[f"_bench_{setting}"]


def run_of(app, setting="auc"):
    return bench_of(app, setting).live.run


WRITTEN = "[Log in](https://a.test) **b** ![x](https://a.test/x.png) $x$ :red[x]"
LINKS = "https://a.test www.a.test me@a.test"
_MARKDOWN = re.compile(r"(?<!\\)(\]\(https://a\.t|\*\*b|:red\[x|\$x)")
_ADDRESS = re.compile(r"https?://a\.t|www\.a\.t|me@a\.t")
_NOT_MARKDOWN = (
    "code",
    "bidi_component",
    "html",
    "imgs",
    "iframe",
    "arrow_data_frame",
    "download_button",
    "text_input",
)
# Of selectboxes, tables and links to pages, which draw no Markdown in these.
_PLAIN_FIELDS = re.compile(r"^ *(id|options|query_param_key|query_string|data): .*$", re.MULTILINE)


def drawn_from_link(app):
    """The elements of a page that draw the Markdown in `WRITTEN` and the addresses in `LINKS`, instead of showing them."""
    drawn = [str(one.proto) for one in checked(app) if getattr(one, "proto", None) and one.type not in _NOT_MARKDOWN]
    texts = [_PLAIN_FIELDS.sub("", text).replace("\\\\", "\\") for text in drawn]
    return [text for text in texts if _MARKDOWN.search(text) or _ADDRESS.search(text.replace("\\", ""))]


def left_in_browser(app):
    """The link that a page leaves in the browser; empty on a page that has none."""
    written = [one for one in checked(app).get("bidi_component") if "part-state-link" in one.proto.id]
    return json.loads(written[0].proto.json)["values"] if written else {}


def full(setting, link):
    """A link's entries with the sections before the names of parameters and views."""
    known = names_of(SETTINGS[setting])
    views = {one.name: f"view.{one.name}" for one in choices_of(SETTINGS[setting])} | {x: f"view.{x}" for x in AXES}
    return {views.get(name, known.get(name, name)): text for name, text in link.items()}
