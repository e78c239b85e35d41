"""A dull twin of edits by hand: a dictionary of points, changed by one edit after another."""

from __future__ import annotations

import numpy as np


def edited(split, edits, *, is_pairs, test_share):
    """Return rows -> (position, label that the method sees, hidden label, is a test point), in the split's order."""
    points = {
        int(r): [x, int(s), int(h), False]
        for r, x, s, h in zip(split.train_rows, split.X_train, split.y_train, split.y_hidden, strict=True)
    }
    points |= {
        int(r): [x, -1, int(h), True] for r, x, h in zip(split.test_rows, split.X_test, split.y_test, strict=True)
    }
    next_row, painted = split.n_rows, {}
    for edit in edits:
        for row in list(points) if edit.rows == "all" else edit.rows:
            if edit.do == "erase":
                del points[row]
            elif edit.do == "move":
                points[row][0] = np.array(edit.at, dtype=np.float32)
            elif edit.do == "pair" or (is_pairs and edit.do == "label"):
                old = points[row][1]
                for point in points.values():
                    if old >= 0 and point[1] == old:
                        point[1] = -1
            elif edit.do == "label" and not points[row][3]:
                points[row][1] = -1 if edit.to is None else edit.to
        if edit.do == "pair":
            new = max((point[1] for point in points.values()), default=-1) + 1
            for row in edit.rows:
                points[row][1] = new
        for x, y in zip(edit.at[::2], edit.at[1::2], strict=True) if edit.do == "paint" else ():
            hidden, is_test = -1 if edit.to is None else edit.to, False
            if edit.to is not None and not edit.is_labeled:
                k = painted[edit.to] = painted.get(edit.to, 0) + 1
                is_test = int(k * test_share) > int((k - 1) * test_share)
            points[next_row] = [np.array([x, y], dtype=np.float32), hidden if edit.is_labeled else -1, hidden, is_test]
            next_row += 1
    return points
