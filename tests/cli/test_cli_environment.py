"""What the command line is started in: streams, encodings, variables, folders. One sentence, the right exit code."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import w2vneg

needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
CODE = "import sys; from w2vneg.cli import main; main(sys.argv[1:])"


def run(*arguments, code=CODE, streams=None, cwd=None, **variables):
    """Run a command line in a process of its own; return (exit code, out, err), with bytes."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA"))}
    environment |= {"PYTHONPATH": str(Path(w2vneg.__file__).parents[1])} | variables
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | (streams or {})
    done = subprocess.run([sys.executable, "-c", code, *arguments], env=environment, cwd=cwd, check=False, **streams)
    return done.returncode, done.stdout, done.stderr


FAILS = """
import click
from w2vneg.cli import main
from w2vneg.ground.errors import InputError

@click.command()
@click.argument("how")
def command(how):
    print("half of the output")
    if how == "ours":
        raise InputError("wrong")
    if how == "usage":
        raise click.UsageError("wrong")
    raise SystemExit(130)

main(None, command, "made")
"""


@needs_full
@pytest.mark.parametrize(("how", "status"), [("ours", 1), ("usage", 2), ("exit", 130)])
def test_streams_that_are_full_at_the_end_leave_the_exit_code_as_it_is(how, status):
    with open("/dev/full", "wb") as full:
        for streams in ({"stdout": full}, {"stderr": full}, {"stdout": full, "stderr": full}):
            code, _, err = run(how, code=FAILS, streams=streams)
            assert code == status
            assert b"Exception" not in (err or b"")


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "euc-jp", "ascii", "ascii:surrogateescape", "utf-8"])
def test_signs_that_standard_output_has_no_code_for(encoding):
    said = "na\u00efve \u2026 \u4e2d \U0001f600 \udcff"
    code = (
        f"from w2vneg.cli import main; import click\n@click.command()\ndef c():\n    print({said!a})\nmain([], c, 'c')"
    )
    status, out, err = run(code=code, PYTHONIOENCODING=encoding)
    assert (status, err) == (0, b"")
    shown = out.decode(encoding.partition(":")[0]).strip()
    assert json.loads(f'"{shown}"') == said
    assert encoding == "ascii" or shown.startswith("na\u00efve") != ("surrogateescape" in encoding)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "euc-jp", "ascii"])
def test_commands_in_an_encoding_that_is_not_utf_8(encoding):
    for arguments in (["train", "--help"], ["objectives"], ["objectives", "relaxed"], ["data", "list"]):
        status, out, err = run(*arguments, PYTHONIOENCODING=encoding)
        assert (status, err) == (0, b"") and out


@pytest.mark.parametrize("threads", ["0", "-1", "two", ""])
def test_a_number_of_threads_that_is_none(run_cli, monkeypatch, threads):
    monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
    result = run_cli("objectives")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(f"Error: NUMBA_NUM_THREADS={threads}: expected a number of threads, 1 or more")


@pytest.mark.parametrize("variable", ["W2VNEG_CACHE", "W2VNEG_DATA", "W2VNEG_JIT_CACHE"])
def test_the_home_of_nobody(run_cli, monkeypatch, variable):
    monkeypatch.setenv(variable, "~no-such-user/cache")
    result = run_cli(*(["data", "list"] if variable == "W2VNEG_DATA" else ["cache", "list"]))
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(f"Error: ~no-such-user/cache: no such home folder; set {variable} to the full path")


@pytest.mark.parametrize("variable", ["W2VNEG_CACHE", "W2VNEG_JIT_CACHE"])
def test_the_home_of_nobody_when_compiled_code_is_looked_for(variable):
    code, out, err = run("objectives", "relaxed", **{"W2VNEG_JIT_CACHE": "", variable: "~no-such-user"})
    assert (code, out) == (1, b"")
    assert err.startswith(b"Error: ~no-such-user: no such home folder") and err.count(b"\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="a current folder cannot be deleted on this system")
def test_a_current_folder_that_is_gone(run_cli, tmp_path, monkeypatch):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("a b c\n", encoding="utf-8")
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    result = run_cli("train", "--corpus", corpus)
    monkeypatch.chdir(tmp_path)
    assert (result.code, result.out) == (1, "")
    assert result.err == "Error: the current folder no longer exists; change to another one, for example with: cd\n"


@pytest.mark.parametrize("arguments", [["nearest", "word", "--vectors"], ["report"], ["train", "--init"]])
def test_names_that_are_too_long_for_the_system(run_cli, tmp_path, arguments):
    (tmp_path / "corpus.txt").write_text("a b c\n", encoding="utf-8")
    result = run_cli(*arguments, "x" * 300, *(["--corpus", tmp_path / "corpus.txt"] if arguments[0] == "train" else []))
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("Error: ") and result.err.count("\n") == 1 and "too long" in result.err


def test_what_the_system_says_of_a_file_is_one_sentence(run_cli, monkeypatch):
    def refuse(*arguments):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), "loop")

    monkeypatch.setattr("w2vneg.ground.files.caches.cached", refuse)
    result = run_cli("cache", "list")
    assert (result.code, result.err) == (1, f"Error: loop: {os.strerror(errno.ELOOP)}; choose another place\n")


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [(["train"], "fewer --workers"), (["eval", "x"], "trained with a smaller"), (["split"], "read fewer files")],
)
def test_too_little_memory_has_the_remedy_of_its_command(monkeypatch, run_cli, arguments, remedy):
    from w2vneg import cli

    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(cli.cli, "main", fail)
    result = run_cli(*arguments)
    assert result.code == 1
    assert result.err.startswith("Error: not enough memory; ") and remedy in result.err
