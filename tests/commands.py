"""Commands of the command line, run in this process."""

from dsgcore.__main__ import main


def refusal(capsys, arguments):
    """Fail unless a command is refused in one sentence; return the sentence."""
    assert main([*map(str, arguments)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said
