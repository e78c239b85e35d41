"""The base class of the project's errors."""


class DSGError(ValueError):
    """Error that the user can correct: the input cannot be used, and the message gives the reason in one sentence.

    Every error class of the project derives from it. An error of another class is a bug in the program, and keeps its
    traceback.
    """


class DivergedError(DSGError):
    """A fit diverged: its step size is too large for the data and the other parameters."""
