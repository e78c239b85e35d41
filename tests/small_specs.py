"""Settings' first specs, made small, and their runs."""

from dsgcore import Run, Spec
from dsgcore.experiments import default_spec


def small(setting, **sections):
    """Return a setting's first spec with few points and iterations; keywords are sections with their changes."""
    plain = default_spec(setting).to_dict()
    plain["data"] |= {"n": 150, "n_labeled": min(plain["data"]["n_labeled"], 100)}
    plain["solver"] |= {"n_iter": 20, "n_features": 32}
    if setting == "similar_unlabeled":
        plain["data"]["n_labeled"] = 20
    if setting == "auc":
        plain["data"] |= {"name": "two_moons", "noise": 0.2, "n_labeled": 20, "convert": None}
    for section, values in sections.items():
        plain[section] = {**plain[section], **values} if isinstance(values, dict) else values
    return Spec.from_dict(plain)


def changed(plain, **changes):
    """Return a spec of plain data; each change goes to the section that has its name."""
    for name, value in changes.items():
        section = next((s for s in plain.values() if isinstance(s, dict) and name in s), plain)
        section[name] = value
    return Spec.from_dict(plain)


def finished(spec):
    """Return the run of a spec, at its end."""
    run = Run(spec)
    run.advance()
    return run


# A lesson of one's own: its first step's right answer is the second, and its goal is reached by its solution.
OWN_LESSON = """
setting = "auc"
title = "My lesson"
learned = "That."
minutes = 1
order = 1

[[steps]]
values = { n_iter = 20 }
text = "Look."
pick.text = "How many labels are there?"
pick.options = [
    { words = "none", claims = [{ measure = "labels", high = 0 }] },
    { words = "some", is_expected = true, claims = [{ measure = "labels", low = 1 }] },
]
explanation = "So it is."
claims = [{ measure = "labels", low = 1 }]

[[steps]]
controls = ["n_labeled"]
text = "And now?"
goal.text = "Have 20 labels."
goal.claims = [{ measure = "labels", low = 20 }]
goal.solution = { n_labeled = 20 }
explanation = "There."
"""
