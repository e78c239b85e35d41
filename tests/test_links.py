"""Links from before settings had separate files: they still ask for the same runs.

`links_of_before.json` holds links of each setting with every control away from its default, and the specs that they gave.
"""

import json
from pathlib import Path

import pytest
from cases import each
from opened_pages import open_page, said

BEFORE = json.loads((Path(__file__).parent / "links_of_before.json").read_text(encoding="utf-8"))
pytestmark = pytest.mark.compiled


@each("before", BEFORE)
def test_a_link_of_before_gives_the_spec_of_before(before):
    app = open_page(before["setting"], **before["link"])
    assert not [sentence for sentence in said(app) if sentence.startswith("In the link")]
    spec = app.session_state[f"_bench_{before['setting']}"].live.run.spec.to_dict()
    for section, values in before["spec"].items():
        same = {name: spec[section][name] for name in values} if isinstance(values, dict) else spec[section]
        assert same == values
