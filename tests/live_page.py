"""Contents of a page without a browser: the head's words and numbers, and the figures of charts."""

import json


def head(app):
    """Return what the script says to the live view, except the figures."""
    return json.loads(_lines(app)[0])


def status(app):
    return head(app)["status"]["text"]


def numbers(app):
    """Return the present values beside the curves' names, by chart; nothing if the page shows no run."""
    drawn = figures(app) if has_run(app) else {}
    return {key: meta["values"] for key, one in drawn.items() if "values" in (meta := one["layout"].get("meta", {}))}


def has_run(app):
    return any("live-head" in c.proto.id for c in app.get("bidi_component"))


def figures(app):
    """Return the figures of the live view by key."""
    first, *texts = _lines(app)
    return {chart["key"]: json.loads(text) for chart, text in zip(json.loads(first)["figures"], texts, strict=True)}


def figure(app, key):
    """Return a figure of the live view, or of a chart that stands alone."""
    if has_run(app) and key in figures(app):
        return figures(app)[key]
    chart = next(c for c in app.get("bidi_component") if key in c.proto.id)
    return json.loads(chart.proto.bytes.split(b"\n", 1)[1])


def alt_of_chart(app, key):
    """Return the words of a chart that stands alone."""
    chart = next(c for c in app.get("bidi_component") if key in c.proto.id)
    return json.loads(chart.proto.bytes.split(b"\n", 1)[0])["alt"]


def _lines(app):
    (mount,) = [c for c in app.get("bidi_component") if "live-head" in c.proto.id]
    return mount.proto.bytes.decode().split("\n")
