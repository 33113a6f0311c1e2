"""What `w2vneg.ground.jit` takes from inside Numba; setup.cfg pins Numba below the first version that
nobody has tried. Where a new Numba fails here, mend `w2vneg/jit` before the pin is raised.
"""

import configparser
import inspect
from pathlib import Path

import numba
import pytest
from numba.core import caching
from numba.core.compiler import Compiler, Flags
from numba.core.options import DefaultOptions
from numba.core.registry import CPUDispatcher

from w2vneg.ground import jit

SETUP = Path(__file__).parents[2] / "setup.cfg"


def version(text):
    return tuple(int(part) for part in text.split(".")[:2])


def test_numba_is_pinned_below_what_was_tried():
    config = configparser.ConfigParser()
    config.read(SETUP)
    needed = [line for line in config["options"]["install_requires"].splitlines() if line.startswith("numba")]
    low, high = needed[0].removeprefix("numba>=").split(",<")
    assert version(low) <= version(numba.__version__) < version(high)


@pytest.mark.parametrize("flag", ["nrt", "no_cfunc_wrapper", "no_cpython_wrapper", "forceinline", "noalias"])
def test_flags_of_the_compiler(flag):
    assert hasattr(Flags(), flag)


@pytest.mark.parametrize("option", ["_nrt", "no_cfunc_wrapper", "no_cpython_wrapper", "forceinline"])
def test_options_of_njit(option):
    assert hasattr(DefaultOptions, option)


def test_pipelines_are_defined_where_flags_can_be_set():
    assert "pipeline_class" in inspect.signature(CPUDispatcher.__init__).parameters
    assert callable(Compiler.define_pipelines)


@pytest.mark.parametrize(
    ("owner", "name", "parameters"),
    [
        (caching.FunctionCache, "_index_key", ["self", "sig", "codegen"]),
        (caching.FunctionCache, "load_overload", ["self", "sig", "target_context"]),
        (caching.FunctionCache, "save_overload", ["self", "sig", "data"]),
        (caching.IndexDataCacheFile, "__init__", ["self", "cache_path", "filename_base", "source_stamp"]),
        (caching.IndexDataCacheFile, "save", ["self", "key", "data"]),
        (caching.IndexDataCacheFile, "load", ["self", "key"]),
        (caching.IndexDataCacheFile, "_load_index", ["self"]),
        (caching.IndexDataCacheFile, "_load_data", ["self", "name"]),
        (caching.IndexDataCacheFile, "_data_path", ["self", "name"]),
        (caching.IndexDataCacheFile, "_open_for_write", ["self", "filepath"]),
    ],
)
def test_methods_of_the_disk_cache(owner, name, parameters):
    assert list(inspect.signature(getattr(owner, name)).parameters) == parameters


def test_a_loop_counts_no_references():
    """What `_nrt` and `loop` are for: no call of the runtime that counts them is in the machine code."""
    import numpy as np
    from numba.core.caching import NullCache

    @jit.njit(loop=True)
    def scaled(values, factor):
        for k in range(values.shape[0]):
            values[k] *= factor
        return values[0]

    if jit.DISABLE_JIT:
        pytest.skip("nothing is compiled")
    scaled._cache = NullCache()  # code from the disk cannot be looked at
    assert scaled(np.ones(4), 2.0) == 2.0
    (code,) = scaled.inspect_llvm().values()
    assert "NRT_incref" not in code and "NRT_decref" not in code
