"""Whoever listens hears of what is compiled, when it begins and when it is done, and of nothing that is there."""

import gc

import pytest
from numba.core.caching import NullCache

from w2vneg.cli.progress import compiling_noted
from w2vneg.ground.events import Compiled, Compiling
from w2vneg.ground.jit import DISABLE_JIT, njit, watched
from w2vneg.ground.jit.disk import keep_code

pytestmark = pytest.mark.skipif(DISABLE_JIT, reason="about compiled code")


@pytest.fixture
def function():
    @njit
    def inner(x):
        return x + 1

    @njit
    def outer(x):
        return 2 * inner(x)

    for dispatcher in (inner, outer):
        dispatcher._cache = NullCache()
    return outer


def test_a_function_is_told_of_once_with_what_it_calls(function):
    heard, again = [], []
    with watched(heard.append):
        assert function(3) == 8
        assert [type(event) for event in heard] == [Compiling, Compiled]
        function(4)
    with watched(again.append):
        function(5)
    assert again == [] and len(heard) == 2
    assert heard[0].function == heard[1].function and heard[0].function.endswith("test_watching.outer")
    assert heard[1].seconds > 0


def test_the_command_line_says_at_once_where_code_is_kept_and_then_how_long_it_took(function, monkeypatch, tmp_path):
    monkeypatch.setattr("w2vneg.ground.events._WORTH_A_LINE", 0.0)
    monkeypatch.setattr("w2vneg.ground.jit.cache_folder", lambda: tmp_path)
    told = []
    with compiling_noted(told.append):
        function(3)
        function(4.0)
    assert len(told) == 3
    assert told[0].startswith("Compiling kernels, 10–20 s, once; ") and f"kept in {tmp_path}" in told[0]
    assert all("test_watching.outer in " in line for line in told[1:])
    told.clear()
    with compiling_noted(told.append):
        function(3)
    assert told == []
    monkeypatch.setattr("w2vneg.ground.jit.cache_folder", lambda: None)
    with compiling_noted(told.append):
        function(3 + 4j)
    assert told[0] == "Compiling kernels, 10–20 s; not cached, as the cache folder cannot be written."


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_pauses_while_a_function_compiles_and_is_left_as_it_was(function, enabled, tmp_path):
    keep_code(function, tmp_path, (), {})
    states = []
    (gc.enable if enabled else gc.disable)()
    try:
        with watched(lambda event: states.append(gc.isenabled())):
            assert function(3) == 8
        assert gc.isenabled() is enabled and states[0] is False
        with pytest.raises(Exception, match="Failed in nopython mode"):
            function({}.keys())
        assert gc.isenabled() is enabled
    finally:
        gc.enable()
