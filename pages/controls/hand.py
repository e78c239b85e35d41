"""Edits of the data by hand on one setting's page: made, undone, kept apart for other data, and as text for the link."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dsgcore import SpecError
from dsgcore.core.parameters import quoted
from dsgcore.data import DataError, Edit, Split, read_edits
from dsgcore.data.edits import LABEL, fit_any_seed
from dsgcore.experiments import Spec
from dsgcore.experiments.data_of import edited_split
from dsgcore.experiments.spec import DataSpec

EDITS = "edits"
# Bounds that are checked before anything is read: characters of the text, and bytes after it is unpacked. The most edits
# that are allowed need less.
LONGEST_TEXT, MOST_BYTES = 400_000, 1_000_000


def edits_to_text(edits: Sequence[Edit]) -> str:
    """Return edits as text for the link: compressed JSON. Without edits the text is empty."""
    if not edits:
        return ""
    plain = json.dumps([edit.to_dict() for edit in edits], separators=(",", ":"), allow_nan=False)
    return base64.urlsafe_b64encode(zlib.compress(plain.encode(), 9)).decode().rstrip("=")


def edits_in(text: str) -> tuple[Edit, ...]:
    """Return the edits of a link's text.

    Raises
    ------
    SpecError
        If the text is too long, or is not a list of edits.
    DataError
        If an edit is not valid, or if there are too many.
    """
    if not text:
        return ()
    if len(text) > LONGEST_TEXT:
        raise SpecError(f"edits must have at most {LONGEST_TEXT:,} characters, got {len(text):,}")
    padded, unpacker = text.encode("ascii", "replace") + b"=" * (-len(text) % 4), zlib.decompressobj()
    try:
        plain = unpacker.decompress(base64.b64decode(padded, altchars=b"-_", validate=True), MOST_BYTES + 1)
        if len(plain) > MOST_BYTES:
            raise SpecError(f"edits must have at most {MOST_BYTES:,} bytes of plain data, got more")
        read = json.loads(plain if unpacker.eof else b"")  # without its end it is nothing
    except SpecError:
        raise
    except (ValueError, zlib.error, RecursionError):  # also for text that is no base64, and for too deep lists
        raise SpecError("edits must be text that this app has written, got something else") from None
    return read_edits(read)


Edits = tuple[Edit, ...]
MOST_STATES = 200  # of undo
MOST_AT_ONCE = 1_000


@dataclass
class Hand:
    """The edits of a page's data.

    They belong to the data on which they were made: if the reader chooses other data or another seed, they are set aside,
    and they come back with their data. Edits of an empty sheet name only painted points, so they fit every seed.
    """

    made: Edits = ()
    base: Edits = ()  # those of a lesson's step, which undo keeps
    is_new: bool = True  # no edits of these data were made or set aside; a lesson may begin with some
    past: list[Edits] = field(default_factory=list)
    future: list[Edits] = field(default_factory=list)
    owner: tuple[DataSpec, int] | None = None  # the data and the seed; None before the first drawing
    aside: dict[tuple[DataSpec, int], Edits] = field(default_factory=dict)
    split: Split | None = None  # the edited data if they lack what a run needs
    lacks: str = ""  # what to do first then
    refused: str = ""  # the sentence about the last edit, if it was not valid
    taken: tuple[str, int] = ("", 0)  # the browser's mount, and its last edit that was taken
    written: tuple[Edits, str] = ((), "")  # the edits' text for the link
    shown: tuple[Any, str] = (None, "")  # the points as they were last sent to the browser

    @property
    def text(self) -> str:
        if self.written[0] is not self.made:
            self.written = self.made, edits_to_text(self.made)
        return self.written[1]

    @property
    def can_undo(self) -> bool:
        """True if there is an edit of the reader, or of the link."""
        return bool(self.past) or self.made != self.base

    def edit(self, spec: Spec) -> Spec:
        """Return a spec of controls with the edits of its data."""
        asked = replace(spec.data, edits=()), spec.seed
        if self.owner != asked:
            # Set the edits of other data aside, and take those of these data.
            is_sheet = bool(self.made) and fit_any_seed(self.made)
            if self.owner is not None and not (is_sheet and self.owner[0] == asked[0]):
                self.aside[self.owner] = self.made
                self.is_new = asked not in self.aside
                self.made, self.past, self.future = self.aside.pop(asked, ()), [], []
            self.owner = asked
        return replace(spec, data=replace(spec.data, edits=self.made)) if self.made else spec

    def begin(self, made: Edits) -> None:
        """Begin with the edits of a lesson's step."""
        self.made, self.base, self.past, self.future, self.is_new = made, made, [], [], False

    def change(self, made: Edits) -> None:
        """Replace the edits; undo brings the present ones back."""
        self.past = [*self.past[-MOST_STATES:], self.made]
        self.made, self.future = made, []

    def take(self, asked: object, spec: Spec, split: Split) -> None:
        """Take what the browser sends: its mount, and its edits with their numbers. Edits that were taken before are ignored.

        An edit that is not valid changes nothing, and `refused` says why.
        """
        if not isinstance(asked, Mapping) or not isinstance(asked.get("edits"), list):
            return
        mount = str(asked.get("mount"))
        for sent in asked["edits"][:MOST_AT_ONCE]:
            if not (isinstance(sent, list | tuple) and len(sent) == 2 and type(sent[0]) is int):
                continue
            number, edit = sent
            if self.taken[0] == mount and number <= self.taken[1]:
                continue
            self.taken, self.refused = (mount, number), ""
            try:
                self._do(edit, spec, split)
            except DataError as error:
                self.refused = str(error)

    def _do(self, asked: Any, spec: Spec, split: Split) -> None:
        match asked.get("do") if isinstance(asked, Mapping) else None:
            case "undo" if self.can_undo:
                self.future.append(self.made)
                self.made = self.past.pop() if self.past else self.made[:-1]
            case "redo" if self.future:
                self.past.append(self.made)
                self.made = self.future.pop()
            case "undo" | "redo":
                return
            case "reset":
                self.change(())
            case None:
                raise DataError(f"an edit must be an object, got {quoted(asked)}")
            case _:
                made = joined(self.made, asked)
                edited_split(replace(spec, data=replace(spec.data, edits=made)), split.before or split, may_lack=True)
                self.change(made)


def joined(made: Edits, asked: Mapping[str, Any]) -> Edits:
    """Return edits and one more. A label for the point that was labeled last replaces that label."""
    both = read_edits([*made, asked])
    is_again = len(both) > 1 and both[-1].do == both[-2].do == LABEL and both[-1].rows == both[-2].rows
    return (*made[:-1], both[-1]) if is_again else (*made, both[-1])
