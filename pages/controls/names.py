"""The names in a link, and the sentence about those that a page does not know."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher

from dsgcore.core.parameters import Parameter
from dsgcore.experiments import Setting
from dsgcore.experiments.settings import DATA_PARAMETERS, StopSpec, kernel_names, solver_parameters
from dsgcore.kernels import KERNELS
from pages.controls.also import LINE
from pages.controls.control import key_of
from pages.controls.from_link import refused
from pages.controls.kernel_parameters import OWN_KEYS, PICKER

# Names for the frame around a page, not for the page itself.
OF_THE_FRAME = ("hide", "present", "notes", "embed", "embed_options")
MOST_NAMED = 4
_OTHERS = (PICKER, "data", "seed", "file")


def names_of(problem: type[Setting], prefix: str = "") -> dict[str, str]:
    """Return the names of a setting's controls in a link, by themselves and by synonyms: their symbols and labels."""
    parameters = [*problem.parameters, *solver_parameters(problem), *StopSpec.parameters, *DATA_PARAMETERS, LINE]
    named = [(p.name, p) for p in parameters]
    named += [(OWN_KEYS.get((k, p.name), p.name), p) for k in kernel_names(problem) for p in KERNELS[k].parameters]
    known = {prefix + key_of(problem, name): prefix + key_of(problem, name) for name in (*_OTHERS, *dict(named))}
    for name, parameter in named:
        for word in _words(name, parameter):
            for written in (prefix + key_of(problem, word), word):
                known.setdefault(written, prefix + key_of(problem, name))
    return known


def _words(name: str, parameter: Parameter) -> list[str]:
    """Return synonyms of a parameter: its own name, its label, and its symbol, spelled out if it is Greek."""
    greek = unicodedata.name(parameter.symbol, "") if len(parameter.symbol) == 1 else ""
    spelled = greek.rpartition(" ")[2].lower() if greek.startswith("GREEK SMALL LETTER") else ""
    spelled = {"lamda": "lambda"}.get(spelled, spelled)
    return [word for word in (name, parameter.label.lower().replace(" ", "_"), parameter.symbol, spelled) if word]


def unknown_names(given: Iterable[str], known: Mapping[str, str]) -> list[str]:
    """Return a sentence about the names in a link that a page does not know, with the closest known names, or nothing.

    Parameters
    ----------
    given : iterable of str
    known : mapping of str to str
        The page's names, by themselves and by their synonyms.
    """
    unknown = [name for name in given if name not in set(known.values()) and name not in OF_THE_FRAME]
    if not unknown:
        return []
    said = [f"{refused(name)} (the closest name is {_closest(name, known)})" for name in unknown[:MOST_NAMED]]
    more = f" and {len(unknown) - MOST_NAMED} more" if len(unknown) > MOST_NAMED else ""
    it = "it is" if len(unknown) == 1 else "they are"
    return [f"In the link, this page does not know {', '.join(said)}{more}; {it} left out."]


def _closest(name: str, known: Mapping[str, str]) -> str:
    if name in known:
        return known[name]
    lower: dict[str, str] = {}
    for word, own in known.items():
        lower.setdefault(word.lower(), own)
    if name.lower() in lower:
        return lower[name.lower()]
    if with_prefix := [own for own in known.values() if own.endswith(f"_{name.lower()}")]:
        return min(with_prefix, key=len)
    return known[max(known, key=lambda word: SequenceMatcher(None, name.lower(), word.lower()).ratio())]
