"""The rooms of the house and the doors between them: who may import whom, prints, and how fast help comes."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import w2vneg
from w2vneg.ground import jit

ROOT = Path(w2vneg.__file__).parent
SOURCES = sorted(ROOT.rglob("*.py"))

LAYERS = (  # a room imports from its own row only itself, and from all rows above
    "ground",
    "kernels",
    "data",
    "objectives",
    "config",
    "vectors",
    "engines",
    "torch",
    "run",
    "gensim",
    "look",
    "cli",
)
HAND_OVER = {"vectors": {"look"}, "run": {"look"}}  # room -> rooms below that its functions import when called
FRONT = {"__init__", "__main__"}
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


@cache
def syntax(path):
    return ast.parse(path.read_bytes())


@cache
def imports(path):
    """Return a list of (module as a tuple of names, name taken from it or None, inside a function?), one an import."""
    return list(_imports(path))


def _imports(path):
    package = module_name(path) if path.name == "__init__.py" else module_name(path)[:-1]
    tree = syntax(path)
    in_functions = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    for_hints = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if id(node) in for_hints:
            continue  # nothing is imported when the program runs
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


def is_jit(path):
    return shown(path).startswith("ground/jit/")


def shown(path):
    return path.relative_to(ROOT).as_posix()


def level(name):
    return LAYERS.index(name)


def test_rooms_import_only_from_layers_below():
    for path in SOURCES:
        own = room(path)
        for imported, inside in rooms_imported(path):
            if own in FRONT or imported == own or (inside and imported in HAND_OVER.get(own, ())):
                continue
            assert level(imported) < level(own), f"{shown(path)} imports {imported}, which is not below {own}"


def test_no_module_imports_itself_by_way_of_others():
    """Imports inside functions do not count, nor those for type hints."""
    names = {module_name(path): path for path in SOURCES}
    needs = {}
    for own, path in names.items():
        taken = [(module, (*module, name or "")) for module, name, inside in imports(path) if not inside]
        needs[own] = {submodule if submodule in names else module for module, submodule in taken}
    above, done = [], set()

    def visit(module):
        assert module not in above, " imports ".join(map(".".join, [*above[above.index(module) :], module]))
        if module not in done:
            above.append(module)
            for needed in needs[module] & needs.keys() - {module}:
                visit(needed)
            done.add(above.pop())

    for module in needs:
        visit(module)


def test_every_room_has_a_layer():
    assert set(LAYERS) == {room(path) for path in SOURCES} - FRONT


def test_the_package_knows_nothing_of_its_benchmarks_and_studies():
    for path in SOURCES:
        assert all(module[0] not in ("benchmarks", "studies") for module, _, _ in imports(path)), shown(path)


def test_doors():
    for path in SOURCES:
        own = room(path)
        for module, name, _ in imports(path):
            if module[0] == "click":
                assert own == "cli", "only cli/ imports click"
            if module[0] == "matplotlib":
                assert shown(path).startswith("look/figures/"), "figures are drawn on what still.py hands out"
            if module[0] == "tqdm":
                who = ("cli/progress.py", "run/follow.py", "ground/progress.py")
                assert shown(path) in who, f"only {who} import tqdm"
            if module[0] == "numba" and not is_jit(path):
                assert name not in NUMBA_DOORS, "only jit.py imports Numba's decorators"
            if module[:2] == ("w2vneg", "cli") or (module == ("w2vneg",) and name == "cli"):
                assert own in ("cli", "__main__"), "nothing imports cli"


def test_nobody_prints_or_decorates_past_the_door():
    for path in SOURCES:
        for node in ast.walk(syntax(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                assert room(path) == "cli", f"{shown(path)}:{node.lineno} prints; only cli/ writes results"
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "numba":
                assert is_jit(path) or node.attr not in NUMBA_DOORS, f"{shown(path)}:{node.lineno}: numba.{node.attr}"


def test_compiled_code_lies_where_its_cache_looks():
    """Elsewhere only what no other compiled function calls may be compiled: of it the own file alone is looked at."""
    compiles = re.compile("njit|jitable|intrinsic|implementation_of|implement_.*")
    makers = {path for path in SOURCES for _, name, _ in imports(path) if compiles.fullmatch(name or "")}
    in_rooms = jit._files_of_rooms()
    assert {shown(path) for path in makers - in_rooms} == {"run/checks.py"}


def test_the_architecture_document_names_every_room():
    text = (ROOT.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    first = " ".join(row.split("|")[1] for row in text.splitlines() if row.startswith("| `"))
    named = {name.rstrip("/") for name in re.findall(r"`([a-z_0-9]+/?)`", first)}
    assert named == {room(path) for path in SOURCES} - FRONT | {"benchmarks", "studies"}


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
    """But Numba: options lie in the files of plugs, beside the code that is compiled."""
    lines = loaded_after("from w2vneg.cli import main\ntry: main(['train', '--help-all'])\nexcept SystemExit: pass")
    assert set(ast.literal_eval(lines[-1])) <= {"numpy", "numba", "scipy"}
    assert any("--temp" in line for line in lines)


def test_importing_the_package_imports_nothing_heavy():
    assert loaded_after("import w2vneg") == ["[]"]


def test_training_on_text_imports_no_sparse_matrices(tmp_path):
    """They take a quarter of a second. Numba imports scipy.linalg, which in some versions imports them."""
    (tmp_path / "text").write_text("a b c\n" * 20)
    fit = f"Word2Vec(loss='ns', dim=8, epochs=1, subsample=0, workers=1).fit({str(tmp_path / 'text')!r})"
    if "scipy.sparse" not in loaded_after("import scipy.linalg")[-1]:
        assert "scipy.sparse" not in loaded_after(f"from w2vneg import Word2Vec\n{fit}")[-1]


def test_what_is_read_is_compared_with_no_name_but_by_data():
    """Others ask the traversal or the source (`data.sources`), so that a new one needs no change elsewhere."""
    from w2vneg.data.sources import SOURCES as sources
    from w2vneg.data.sources import TRAVERSALS

    for path in SOURCES:
        if room(path) in ("data", "kernels"):
            continue
        for node in ast.walk(syntax(path)):
            if isinstance(node, ast.Compare) and re.search(r"\b(source|kind|walk)\b", ast.unparse(node.left)):
                named = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
                assert not named & {*sources, *TRAVERSALS}, f"{shown(path)}:{node.lineno}: {ast.unparse(node)}"
