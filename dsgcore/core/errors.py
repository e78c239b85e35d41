"""The base class of the project's errors."""


class DSGError(ValueError):
    """Error that a person can mend: the input cannot be used, and the message says why in one sentence.

    Every error class of the project derives from it. An error of another class is a fault of the program, and keeps its traceback.
    """
