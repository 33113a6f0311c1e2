"""Standard streams that are closed, full, or read by nobody: one sentence, the right exit code, no traceback."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

import w2vneg
from w2vneg.cli import main

needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")


def run(command, **options):
    """Run a shell command in which $W2VNEG is this package's command; return (exit code, out, err)."""
    path = os.pathsep.join([str(Path(w2vneg.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "PYTHON": sys.executable}
    command = command.replace("$W2VNEG", '"$PYTHON" -m w2vneg')
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=environment, **options)
    return done.returncode, done.stdout, done.stderr


@needs_full
def test_a_full_standard_output_is_told():
    for arguments in ("objectives", "--help", "data list"):
        code, out, err = run(f"$W2VNEG {arguments} > /dev/full")
        assert (code, out) == (1, "")
        assert err == "Error: cannot write to standard output: No space left on device\n"


def test_a_reader_that_has_seen_enough_is_no_error():
    assert run("($W2VNEG objectives; echo $? >&2) | head -n 1")[2] == "0\n"


def test_a_reader_that_is_gone_is_no_error_whatever_is_to_come(tmp_path):
    numbers = "".join(f"w{i} {i} 1\n" for i in range(3000))  # more than a pipe holds
    (tmp_path / "v.txt").write_text("3000 2\n" + numbers)
    asked = f"$W2VNEG nearest w1 w2 w3 -k 2900 --vectors '{tmp_path / 'v.txt'}'"
    assert run(f"({asked}; echo $? >&2) | head -n 1")[2] == "0\n"


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout on this system")
def test_standard_output_by_name_goes_where_the_shell_has_it_go(tmp_path):
    (tmp_path / "v.txt").write_text("2 2\na 1 2\nb 3 4\n")
    (tmp_path / "all.txt").write_text("former\n")
    export = "$W2VNEG export v.txt /dev/stdout --format word2vec"
    code, out, err = run(f"{export} > new.txt && {export} >> all.txt && {export} --force | cat", cwd=tmp_path)
    assert (code, out) == (0, (tmp_path / "new.txt").read_text()), err
    assert out.startswith("2 2\na 1")
    assert (tmp_path / "all.txt").read_text() == "former\n" + out


def test_closed_streams(tmp_path):
    assert run("$W2VNEG objectives >&-") == (0, "", "")
    code, out, err = run("$W2VNEG objectives no-such-name 2>&- >&-")
    assert (code, out, err) == (1, "", "")
    code, _, _ = run("$W2VNEG objectives no-such-name <&- 2>&-; echo $?")
    assert code == 0


@needs_full
def test_an_error_that_cannot_be_told_keeps_its_exit_code():
    assert run("$W2VNEG objectives no-such-name 2> /dev/full")[0] == 1
    assert run("$W2VNEG no-such-command 2> /dev/full")[0] == 2


class Interrupted:
    def __set_name__(self, owner, name):
        raise KeyboardInterrupt


def test_a_ctrl_c_that_meets_the_making_of_a_class(capsys):
    @click.command()
    def command():
        type("Made", (), {"field": Interrupted()})

    with pytest.raises(SystemExit) as ended:
        main([], command, "made")
    assert ended.value.code == 130
    assert capsys.readouterr().err.strip() == "Interrupted."  # click ends the line with ^C; before 3.12 it cannot tell
