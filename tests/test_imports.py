"""The rooms of the house and the doors between them: who may import whom, prints, and how fast help comes."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import w2vneg
from w2vneg import jit

ROOT = Path(w2vneg.__file__).parent
SOURCES = sorted(ROOT.rglob("*.py"))
PLUGS = {"kernels", "registry", "jit", "errors"}
INGEST = {"bounded", "errors", "registry", "atomic", "cachedir", "kernels", "jit", "readers", "vocab", "encoded"}

MAY_IMPORT = {  # room -> rooms of ours it may import; a room may always import itself
    "errors": set(),
    "events": set(),
    "cachedir": set(),
    "memory": set(),
    "bounded": {"errors"},
    "npy": {"errors"},
    "words": {"errors"},
    "registry": {"errors"},
    "exchange": set(),
    "locks": {"errors"},
    "signals": set(),
    "signature": {"atomic", "cachedir", "errors"},
    "atomic": {"errors", "exchange", "locks"},
    "jit": {"cachedir", "errors", "jitcache", "syntax"},
    "jitcache": {"syntax"},
    "syntax": set(),
    "kernels": {"jit"},
    "dense": {"errors", "jit", "kernels", "memory"},
    "losses": PLUGS,
    "samplers": PLUGS | {"dense", "cooccurrence"},
    "cooccurrence": {"errors", "memory"},
    "splits": {"cooccurrence", "encoded", "errors"},
    "splitfiles": {"atomic", "bounded", "errors", "splits"},
    "weighers": PLUGS,
    "readers": INGEST - {"vocab", "encoded"} | {"memory"},
    "vocab": INGEST - {"encoded"} | {"words"},
    "encoded": INGEST | {"cooccurrence", "memory", "npy", "schedule"},
    "embeddings": {"words", "errors"},
    "formats": {"bounded", "npy", "words", "vocab", "errors", "atomic", "kernels"},
    "evaluators": {"bounded", "embeddings", "registry", "errors", "kernels"},
    "datasets": {"bounded", "errors", "atomic", "cachedir", "builtin"},
    "builtin": {"errors", "atomic", "cachedir"},
    "option": {"errors"},
    "presets": {"errors"},
    "rules": {"errors", "option"},
    "config": {"errors", "option", "presets", "rules"},
    "setting": set(),
    "exclusions": {"kernels"},
    "plugins": {"errors", "losses", "presets", "samplers", "weighers"},
    "schedule": set(),
    "model": {"atomic", "bounded", "config", "errors", "npy", "signature", "vocab"},
    "checkpoints": {"errors", "locks", "model"},
    "engines": {"cachedir", "dense", "jit", "kernels", "memory", "schedule"},
    "estimate": {"engines", "events"},
    "temperature": {"errors", "schedule"},
    "diagnostics": {"events", "kernels", "schedule"},
    "assembly": {
        "dense",
        "engines",
        "errors",
        "events",
        "exclusions",
        "kernels",
        "losses",
        "plugins",
        "rules",
        "samplers",
        "schedule",
        "setting",
        "temperature",
        "weighers",
    },
    "trainer": {
        "assembly",
        "config",
        "diagnostics",
        "errors",
        "events",
        "jit",
        "losses",
        "model",
        "rules",
        "schedule",
        "signals",
        "temperature",
    },
    "judgement": {"encoded", "errors", "evaluators", "memory"},
    "recommend": {"embeddings", "errors", "evaluators", "readers"},
    "validation": {"encoded", "errors", "evaluators", "events", "model"},
    "searchspace": {"config", "errors", "option"},
    "trials": {"atomic", "bounded", "config", "errors"},
    "tuning": {"errors", "events", "locks", "model", "plugins", "trials", "word2vec"},
    "progress": {"events"},
    "inputs": {"datasets", "errors"},
    "word2vec": {
        "bounded",
        "checkpoints",
        "config",
        "embeddings",
        "encoded",
        "errors",
        "inputs",
        "jit",
        "losses",
        "model",
        "plugins",
        "rules",
        "samplers",
        "setting",
        "trainer",
        "validation",
        "weighers",
    },
    "bench": {
        "atomic",
        "bounded",
        "config",
        "dense",
        "embeddings",
        "encoded",
        "errors",
        "evaluators",
        "events",
        "formats",
        "jit",
        "kernels",
        "presets",
        "readers",
        "trainer",
        "validation",
        "vocab",
    },
    "warmup": {"config", "encoded", "errors", "jit", "word2vec"},
}
MAY_IMPORT_INSIDE_FUNCTIONS = {
    "embeddings": {"formats", "evaluators", "datasets"},  # its methods hand over to them
    "evaluators": {"datasets"},
    "bench": {"jit"},
    "word2vec": {"judgement", "recommend"},
    "inputs": {"encoded"},  # so that the help of commands that take one comes fast
}
NEVER = {
    "evaluators": {"trainer"},
    "engines": {"trainer"},
    "reproduce": {"cli", "bench"},
}
NUMBA_DOORS = {
    "njit",
    "jit",
    "prange",
    "overload",
    "vectorize",
    "guvectorize",
    "generated_jit",
    "register_jitable",
    "intrinsic",
}


def room(path):
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def module_name(path):
    parts = ("w2vneg", *path.relative_to(ROOT).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "__init__" else parts


def imports(path):
    """Yield (module as a tuple of names, name taken from it or None, inside a function?) of each import."""
    package = module_name(path) if path.name == "__init__.py" else module_name(path)[:-1]
    tree = ast.parse(path.read_bytes())
    in_functions = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        inside = id(node) in in_functions
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield tuple(alias.name.split(".")), None, inside
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = (*base, *(node.module.split(".") if node.module else ()))
            for alias in node.names:
                yield module, alias.name, inside


def rooms_imported(path):
    for module, name, inside in imports(path):
        if module[0] != "w2vneg":
            continue
        if len(module) > 1:
            yield module[1], inside
        elif name and ((ROOT / f"{name}.py").exists() or (ROOT / name).is_dir()):
            yield name, inside


def shown(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", SOURCES, ids=shown)
def test_rooms_import_only_what_the_table_allows(path):
    own = room(path)
    for imported, inside in rooms_imported(path):
        if imported == own:
            continue
        assert imported not in NEVER.get(own, ()), f"{shown(path)} must never import {imported}"
        if own in MAY_IMPORT:
            allowed = MAY_IMPORT[own] | (MAY_IMPORT_INSIDE_FUNCTIONS.get(own, set()) if inside else set())
            assert imported in allowed, f"{shown(path)} imports {imported}; {own} may import {sorted(allowed)}"


@pytest.mark.parametrize("path", SOURCES, ids=shown)
def test_doors(path):
    own = room(path)
    for module, name, _ in imports(path):
        if module[0] == "click":
            assert own == "cli", "only cli/ imports click"
        if module[0] == "matplotlib":
            assert own == "cli", "figures are drawn on what cli/reproduce.py hands out"
        if module[0] == "tqdm":
            assert own == "progress", "only progress.py imports tqdm"
        if module[0] == "numba" and own != "jit":
            assert name not in NUMBA_DOORS, "only jit.py imports Numba's decorators"
        if module[:2] == ("w2vneg", "cli") or (module == ("w2vneg",) and name == "cli"):
            assert own in ("cli", "__main__"), "nothing imports cli"


@pytest.mark.parametrize("path", SOURCES, ids=shown)
def test_nobody_prints_or_decorates_past_the_door(path):
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            assert room(path) == "cli", f"{shown(path)}:{node.lineno} prints; only cli/ writes results"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "numba":
            assert room(path) == "jit" or node.attr not in NUMBA_DOORS, (
                f"{shown(path)}:{node.lineno}: numba.{node.attr}"
            )


def test_compiled_code_lies_where_its_cache_looks():
    """Elsewhere only what no other compiled function calls may be compiled: of it the own file alone is looked at."""
    compiles = re.compile("njit|jitable|intrinsic|implementation_of|implement_.*")
    makers = {path for path in SOURCES for _, name, _ in imports(path) if compiles.fullmatch(name or "")}
    in_rooms = jit._files_of_rooms()
    assert {shown(path) for path in makers - in_rooms} == {"reproduce/steps.py"}
    assert "reproduce" not in set().union(*(MAY_IMPORT[room(path)] for path in in_rooms))


def test_the_table_names_the_rooms_that_exist():
    """All but those that may import nearly everything."""
    rooms = {room(path) for path in SOURCES}
    assert set(MAY_IMPORT) == rooms - {"cli", "reproduce", "__init__", "__main__"}


def test_the_architecture_document_names_every_room():
    text = (ROOT.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    first = " ".join(row.split("|")[1] for row in text.splitlines() if row.startswith("| `"))
    named = {name.rstrip("/") for name in re.findall(r"`([a-z_0-9]+/?)`", first)}
    rooms = {room(path) for path in SOURCES} - {"__init__", "__main__"}
    assert named == rooms


def loaded_after(code):
    heavy = ["numpy", "numba", "scipy", "scipy.sparse", "pandas", "gensim", "tqdm", "urllib.request"]
    script = f"import sys\n{code}\nprint([name for name in {heavy!r} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_help_imports_nothing_heavy():
    lines = loaded_after("from w2vneg.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass")
    assert lines[-1] == "[]"
    assert any("doctor" in line for line in lines)


def test_help_of_a_command_with_options_of_every_plug_imports_nothing_heavy():
    lines = loaded_after("from w2vneg.cli import main\ntry: main(['train', '--help'])\nexcept SystemExit: pass")
    assert lines[-1] == "[]"
    assert any("--temp" in line for line in lines)


def test_importing_the_package_imports_nothing_heavy():
    assert loaded_after("import w2vneg") == ["[]"]


def test_training_on_text_imports_no_sparse_matrices(tmp_path):
    """With what they bring along they take a quarter of a second."""
    (tmp_path / "text").write_text("a b c\n" * 20)
    fit = f"Word2Vec(loss='ns', dim=8, epochs=1, subsample=0, workers=1).fit({str(tmp_path / 'text')!r})"
    assert "scipy.sparse" not in loaded_after(f"from w2vneg import Word2Vec\n{fit}")[-1]
