"""What the suite promises of itself: real data only where a test says so, and nothing from a network."""

import os
import socket
from pathlib import Path

import pytest

from w2vneg.data import catalog as datasets

pytest_plugins = ["pytester"]
CONFTEST = Path(__file__).with_name("conftest.py").read_text(encoding="utf-8")
MARKERS = "--override-ini=markers=realdata"


@pytest.fixture
def suite(pytester, monkeypatch):
    """A function that runs a test of the given text under our conftest, a mirror beside it, and returns the outcome."""
    pytester.makeconftest(CONFTEST)
    folder = pytester.mkdir("data")

    def run(text, *options, mirror=folder):
        monkeypatch.setenv("W2VNEG_MIRROR", str(mirror))
        monkeypatch.setenv("_TESTS_MIRROR", "")  # what this run itself has seen
        pytester.makepyfile("import os, pytest\n" + text)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", MARKERS, *options)

    return run


def test_what_a_mirror_beside_the_suite_has_is_found_by_no_test():
    assert "W2VNEG_MIRROR" not in os.environ
    assert "W2VNEG_DATA" not in os.environ
    assert "mirror" not in {datasets.where(name)[0] for name in datasets.names()}


def test_nobody_connects_to_another_machine():
    with pytest.raises(OSError, match="no network"):
        socket.create_connection(("192.0.2.1", 80), timeout=1)


def test_a_test_sees_the_mirror_if_it_is_marked(suite):
    text = """
@pytest.mark.realdata
def test_real(mirror):
    assert os.environ["W2VNEG_MIRROR"] == str(mirror)

def test_other():
    assert "W2VNEG_MIRROR" not in os.environ
"""
    suite(text).assert_outcomes(passed=2)
    suite(text, "-m", "realdata").assert_outcomes(passed=1, deselected=1)
    suite(text, "--numprocesses", "1").assert_outcomes(passed=2)  # another process runs them


def test_without_a_mirror_a_marked_test_is_skipped(suite):
    suite("@pytest.mark.realdata\ndef test_real(mirror): 1 / 0", mirror="").assert_outcomes(skipped=1)


@pytest.mark.parametrize("text", ["def test_real(mirror): pass", "@pytest.mark.realdata\ndef test_real(): pass"])
def test_marker_and_mirror_go_together(suite, text):
    result = suite(text)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*test_real: the marker 'realdata' and the fixture 'mirror' go together"])
