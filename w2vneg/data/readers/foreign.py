"""Foreign formats: how each looks in its first lines, and what to type instead.

Each recogniser looks at many lines, not at one: a false alarm is worse than a miss. Nothing that a file says is run.
To add one, write a function of `Head` with ``@_kind(name, remedy, …)``.
"""

import ast
import csv
import json
import os
import re
import shlex
from typing import NamedTuple

from ...ground.errors import InputError
from .column_names import column_of_text, sound_like_columns
from .frames import names_in
from .rows import JSON, NETWORKX, fits
from .sources import STDIN, file_stamp, find_files, first_bytes, scheme_of

LOOKED_AT = 1 << 18  # bytes
_LINES = 200
_FEW = 20  # lines, below which columns are no sign of a table
_PYTHON = 'python -c "import json, sys; {}" < FILE > {}'
_AWK_WORDS = """awk '/^#/ {next} NF {printf "%s ", $COLUMN} !NF {print ""}' FILE > text.txt"""
_TEXT, _BASKETS, TABLES = "text", "baskets", ("edges", "pairs", "ratings", "column")
_ALL = (_TEXT, _BASKETS, *TABLES)
_PLAIN = "give --plain to read it as it is"
_OF_TEXT = "say which column holds the text: --text-col COLUMN"
_PARQUET = "a Parquet file"
_BLANK = re.compile(r"\s")
KINDS: list = []  # in the order in which they are asked


class Head(NamedTuple):
    """data : bytes, the beginning of a file; lines : list of str, the first that are not blank, all of them whole"""

    data: bytes
    lines: list

    @classmethod
    def of(cls, data):
        text = data[:LOOKED_AT].decode("utf-8-sig", errors="replace")
        lines = [line for line in re.split(r"\r\n|\r|\n", text) if line.strip()]
        whole = len(data) < LOOKED_AT or len(lines) == 1
        return cls(data, (lines if whole else lines[:-1])[:_LINES])

    def share(self, test):
        return sum(map(bool, map(test, self.lines))) / max(1, len(self.lines))


class Kind(NamedTuple):
    """name : str; test : callable, Head -> bool; remedy : str, or callable, Head -> str; where : tuple of str, what a
    file of this kind must not be given as: "text", "baskets", "edges", "pairs", "ratings", "column"
    columns : callable, Head -> list of str, the columns of a table
    """

    name: str
    test: object
    remedy: object
    where: tuple
    columns: object = None


def _kind(name, remedy, where=_ALL, columns=None):
    def keep(test):
        KINDS.append(Kind(name, test, remedy, where, columns))
        return test

    return keep


# ---- by magic bytes

_MAGIC = {
    b"PK\x03\x04": "a zip archive or an Excel workbook",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an old Excel workbook",
    b"PAR1": _PARQUET,
    b"\x89HDF\r\n\x1a\n": "an HDF5 file",
    b"SQLite format 3\0": "an SQLite database",
    b"\x93NUMPY": "a NumPy array",
    b"%PDF-": "a PDF file",
    b"ARROW1": "an Arrow file",
    b"\xff\xff\xff\xff": "an Arrow stream, as the library datasets saves to disk",
}


def _starts(magic):
    return lambda head: head.data.startswith(magic)


for _magic, _name in _MAGIC.items():
    if _name == _PARQUET:
        _kind(_name, _OF_TEXT, (_TEXT,))(_starts(_magic))
    if _magic in (b"PAR1", b"PK\x03\x04"):  # which tables and matrices know themselves
        where = (_TEXT, _BASKETS) if _name == _PARQUET else (_TEXT, _BASKETS, "column")
        _kind(_name, "write its rows as text, unpacked", where)(_starts(_magic))
    elif "Arrow" in _name:
        _kind(_name, "write it as Parquet: datasets.load_from_disk(DIR).to_parquet(FILE)")(_starts(_magic))
    else:
        _kind(_name, "write its rows as text")(_starts(_magic))


@_kind(
    "a pickle of Python's", "it is not opened, as it may run any code; write it as text with the program that made it"
)
def _is_pickle(head):
    return re.match(rb"\x80[\x02-\x05][\x95\x8a-\x8f}\](cX}q]", head.data) is not None


# ---- JSON, and what Python prints


@_kind("JSON lines", _OF_TEXT, (_TEXT,), lambda head: list(JSON.parse(head.lines[0])))
@_kind(
    "JSON lines",
    "give a row for each thing to --ratings or --pairs, or write the list of a key with tabs: "
    + _PYTHON.format("[print(*json.loads(line)['KEY'], sep='\\t') for line in sys.stdin]", "baskets.tsv"),
    (_BASKETS,),
)
def is_json_lines(head):
    if head.share(lambda line: line.lstrip()[:1] == "{" and fits(line, JSON)) < 0.9:
        return False
    alone = JSON.parse(head.lines[0]).values() if len(head.lines) == 1 else ()
    return not any(isinstance(value, list) and isinstance(next(iter(value), None), dict) for value in alone)


def _rows_out(head):
    rows = "json.load(sys.stdin)" + ("['KEY']" if head.lines[0].lstrip()[:1] == "{" else "")
    return "write a list of rows as JSON lines, which tables are read from: " + _PYTHON.format(
        f"[print(json.dumps(row)) for row in {rows}]", "rows.jsonl"
    )


@_kind("a JSON document", _rows_out)
def _is_json_document(head):
    if not re.match(r'[\[{]\s*([\[{]\s*)*("[^"\n]*"\s*[:,\]}]|[\[{]|$)', head.lines[0].lstrip()):
        return False
    if len(head.lines) == 1:
        return re.match(r'\s*[\[{]\s*[\[{]?\s*"[^"]*"\s*:', head.lines[0]) is not None
    inside = r'\s*([\[\]{}]+,?|"[^"]*"\s*:.*|[\]}],?\s*[\[{]?|"[^"]*",?|-?\d[\d.eE+-]*,?|(true|false|null),?)\s*$'
    return head.share(lambda line: re.match(inside, line) or fits(line.strip().rstrip(","), JSON)) >= 0.95


@_kind(
    "JSON arrays, one a line",
    "write their parts with tabs: "
    + _PYTHON.format("[print(*json.loads(line), sep='\\t') for line in sys.stdin]", "table.tsv"),
)
def _is_json_arrays(head):
    return head.share(lambda line: _is_array(line.strip())) >= 0.9


def _is_array(line):
    if len(line) > 100_000 or line[:1] != "[":
        return False
    try:
        return isinstance(json.loads(line), list)
    except (ValueError, RecursionError):
        return False


@_kind(
    "an edge list of networkx with its attributes as Python dicts",
    "give it to --edges",
    (_TEXT, _BASKETS, "pairs", "ratings"),
)
def is_networkx(head):
    return head.share(lambda line: line.startswith("#") or ("{" in line and fits(line, NETWORKX))) >= 0.9


def _literal(text, kind):
    """Return whether a text is a literal of Python's of this kind; it is parsed, never run."""
    if len(text) > 100_000:
        return False
    try:
        return isinstance(ast.literal_eval(text.strip()), kind)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return False


@_kind(
    "Python's tuples, lists or dicts, one a line",
    "write the parts of tuples and lists with tabs: "
    + _PYTHON.replace("json", "ast").format(
        "[print(*ast.literal_eval(line.strip(' \\n,')), sep='\\t') for line in sys.stdin]", "table.tsv"
    ),
)
def _is_python(head):
    closed = r"\(.*\),?|\[.*\],?|\{.*\},?"
    if head.share(lambda line: re.fullmatch(closed, line.strip())) < 0.9:
        return False
    return head.share(lambda line: _literal(line.strip().rstrip(","), tuple | list | dict | set)) >= 0.9


@_kind(
    "baskets in braces or brackets",
    """take them off: sed 's/^"*[{[(]//; s/[])}]"*$//' FILE > baskets.txt""",
    (_BASKETS,),
)
def _is_braces(head):
    whole = r'("?[{\[(].*[}\])]"?)'
    return head.share(lambda line: re.fullmatch(whole, line.strip())) >= 0.9


# ---- markup, graphs, data sets


@_kind(
    "GraphML or GEXF",
    "write its edges with networkx.write_weighted_edgelist(networkx.read_graphml(FILE), OUT), or read_gexf",
)
def _is_graph_xml(head):
    return re.search(r"<(graphml|gexf)\b", "\n".join(head.lines[:20])) is not None


@_kind("XML or HTML", "write what is needed of it as text or as a table", (_BASKETS, *TABLES))
def _is_xml(head):
    return re.match(r"\s*<(\?xml|!doctype|html|rss|svg)\b", head.lines[0], re.I) is not None


_TRIPLE = re.compile(
    r'\s*(<[^<>\s]*>|_:\S+)\s+<[^<>\s]*>\s+(<[^<>\s]*>|_:\S+|".*"(@[\w-]+|\^\^<\S*>)?)\s*(<\S+>\s*)?\.\s*'
)


@_kind(
    "N-Triples",
    """write subject and object as a table, without literals: awk '$3 !~ /^"/ {print $1 "\\t" $3}' FILE > edges.tsv""",
)
def _is_triples(head):
    return head.share(lambda line: line.startswith("#") or _TRIPLE.fullmatch(line)) >= 0.9


@_kind("Turtle", "write it as a table of subject and object")
def _is_turtle(head):
    return re.match(r"\s*@(prefix|base)\s+\S*\s*<[^>]*>\s*\.", head.lines[0]) is not None


_KONECT = re.compile(
    r"%\s*(sym|asym|bip)\s+(unweighted|positive|posweighted|signed|multisigned|weighted|multiweighted|dynamic|"
    r"multiposweighted)\s*"
)
_THIRD = {"weighted": "ratings", "multiweighted": "ratings", "signed": "signs", "multisigned": "signs"}
_THIRD |= {"dynamic": "changes"} | dict.fromkeys(("positive", "posweighted", "multiposweighted"), "weights")


def _konect(head):
    """Return ("sym", "asym" or "bip"; what a third column holds, or None); None for no KONECT."""
    found = _KONECT.fullmatch(head.lines[0])
    return found and (found[1], _THIRD.get(found[2]))


def _of_konect(head):
    """Return what to do with a graph of KONECT's, and what its third column is taken for."""
    shape, third = _konect(head)
    if shape == "bip" and third not in (None, "weights"):
        return (
            f"give it to --ratings with --rectangular: its third column holds {third}, which are no weights; "
            "--min-rating leaves low ones out"
        )
    row = next((line.split() for line in head.lines if not line.startswith("%")), [])
    kind, flags, why = "edges", "", []
    if shape == "bip":
        kind, flags, why = "pairs", " --rectangular", ["1 on the left is not 1 on the right"]
    if len(row) > 2:
        flags += f" --weight-col {3 if third == 'weights' else 'none'}"
        why.append(f"its third column holds {third or 'no weights'}")
    because = f": {', and '.join(why)}" if why else ""
    return f"take its header off, grep -v '^%' FILE > {kind}.txt, and give --{kind} {kind}.txt{flags}{because}"


@_kind("a KONECT graph", _of_konect, (_TEXT, _BASKETS))
def _is_konect(head):
    return _konect(head) is not None


@_kind("a bipartite KONECT graph", _of_konect, ("edges", "pairs"))
def _is_konect_bipartite(head):
    found = _konect(head)
    return found is not None and found[0] == "bip"


@_kind("a KONECT graph with ratings, signs or changes for weights", _of_konect, ("edges", "pairs"))
def _is_konect_rated(head):
    found = _konect(head)
    return found is not None and found[1] not in (None, "weights")


@_kind("Pajek's .net", "write its edges with networkx.write_weighted_edgelist(networkx.read_pajek(FILE), OUT)")
def _is_pajek(head):
    return re.match(r"\*(vertices|network)\b", head.lines[0], re.I) is not None and any(
        re.match(r"\*(vertices)\s+\d+", line, re.I) for line in head.lines[:5]
    )


@_kind("GML", "write its edges with networkx.write_weighted_edgelist(networkx.read_gml(FILE), OUT)")
def _is_gml(head):
    text = "\n".join(head.lines[:40])
    return (
        re.match(r'\s*(Creator\s+".*"\s+)?graph\s*\[', text) is not None and re.search(r"\bnode\s*\[", text) is not None
    )


@_kind("Graphviz's DOT", "write its edges as a table: source, target")
def _is_dot(head):
    return re.match(r"\s*(strict\s+)?(di)?graph\b[^{]*\{", head.lines[0]) is not None and any(
        re.search(r"\S\s*-[->]\s*\S", line) for line in head.lines
    )


@_kind("METIS adjacency lists", "write its edges as a table: source, target", TABLES)
def _is_metis(head):
    lines = [line.split() for line in head.lines if not line.startswith("%")]
    if len(lines) < 4 or len(lines[0]) not in (2, 3, 4) or not all(cell.isdecimal() for row in lines for cell in row):
        return False
    n_nodes, n_edges = map(int, lines[0][:2])
    rows = lines[1:]
    return (
        len(rows) == n_nodes
        and len({len(row) for row in rows}) > 1
        and sum(map(len, rows)) in (2 * n_edges, 4 * n_edges)
        and len(lines) < _LINES
    )


@_kind(
    "a matrix in Matrix Market format",
    "write it as a sparse matrix for --cooccurrence or --edges: "
    "python -c \"import scipy.io, scipy.sparse; scipy.sparse.save_npz('matrix.npz', scipy.io.mmread('FILE'))\"",
)
def _is_matrix_market(head):
    return head.lines[0].startswith("%%MatrixMarket")


@_kind("LibSVM's rows of a label and feature:value", "write row and feature as a table of two columns")
def _is_libsvm(head):
    row = re.compile(r"[-+]?[\d.]+(\s+(qid:)?\d+:[-+\d.eE]+)+\s*(#.*)?")
    return len(head.lines) > 1 and head.share(row.fullmatch) >= 0.95


@_kind("ARFF", "cut its header off and give what stands below @data")
def _is_arff(head):
    text = "\n".join(head.lines)
    return re.search(r"(?im)^@relation\b", text) is not None and re.search(r"(?im)^@attribute\b", text) is not None


@_kind("an SQL dump", "write the table with the database's own export, as CSV")
def _is_sql(head):
    statement = r"(?im)^\s*(create table|insert into|copy \S+ \(.*\) from stdin)\b"
    begins = re.match(r"\s*(--|/\*|set\b|begin\b|drop table|create\b|insert into\b|pragma\b)", head.lines[0], re.I)
    return (
        begins is not None
        and len(re.findall(statement, "\n".join(head.lines))) > 0
        and any(line.rstrip().endswith((";", ",")) for line in head.lines)
        and head.share(lambda line: len(line.split()) > 0 and line.rstrip()[-1] in ";,()-/*") >= 0.5
    )


@_kind("CoNLL-U, a token a line", f"write a sentence a line: {_AWK_WORDS.replace('COLUMN', '2')}", (_TEXT,))
def _is_conll_u(head):
    rows = [line.split("\t") for line in head.lines if not line.startswith("#")]
    return len(rows) > 4 and all(len(row) == 10 and re.fullmatch(r"\d+([-.]\d+)?", row[0]) for row in rows)


@_kind("CoNLL columns, a token a line", f"write a sentence a line: {_AWK_WORDS.replace('COLUMN', '1')}", (_TEXT,))
def _is_conll(head):
    tags = re.compile(r"O|[BIES]-\w+")
    cells = [line.split() for line in head.lines if not line.startswith(("#", "-DOCSTART-"))]
    tagged = [len(row) > 1 and tags.fullmatch(row[-1]) is not None for row in cells]
    return len(cells) >= 5 and len({len(row) for row in cells}) == 1 and all(tagged)


# ---- a table given as text or as baskets


def _rows(lines, delimiter):
    try:
        return [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error:
        return []


def csv_head(head):
    """Return the names of a table's columns (list of str); [] if it is no table with a header."""
    for delimiter in ",\t;|":
        names = [name.strip().strip('"') for name in head.lines[0].split(delimiter)]
        if len(names) < 2 or not sound_like_columns(names):
            continue
        rows = _rows(head.lines, delimiter)
        alike = sum(len(row) == len(names) for row in rows)
        if len(rows) >= 3 and alike >= 0.9 * len(rows):
            return names
    quoted = sum(line.startswith('"') for line in head.lines) > 0.1 * len(head.lines)
    return names if quoted and len(names) == 1 and sound_like_columns(names) else []


@_kind("a table with a header", _OF_TEXT, (_TEXT,), csv_head)
def _is_csv(head):
    return bool(csv_head(head))


def _numbered(head):
    """Return the remedy with the number of the column that has the most blanks."""
    rows = [row.split("\t") for row in head.lines]
    blanks = [sum(cell.count(" ") for cell in cells) for cells in zip(*rows, strict=True)]
    return _OF_TEXT.replace("COLUMN", str(blanks.index(max(blanks)) + 1))


@_kind("a table without a header", _numbered, (_TEXT,))
def _is_table_of_text(head):
    """Three columns or more parted by tabs in every line, of which one has another name without blanks each time."""
    rows = [line.split("\t") for line in head.lines]
    if len(rows) < _FEW or len({len(row) for row in rows}) > 1 or len(rows[0]) < 3:
        return False
    return any(len(set(cells)) == len(rows) and not any(map(_BLANK.search, cells)) for cells in zip(*rows, strict=True))


@_kind("a log, a row for each thing", "give it to --ratings, or --pairs", (_BASKETS,))
def _is_log_by_header(head):
    return bool(csv_head(head))


# ---- asking them all


def recognise(data, where):
    """Return the `Kind` that the beginning of a file is of, or None.

    data : bytes, unpacked; where : str, what it is given as: "text", "baskets", "edges", "pairs", "ratings", or
        "column", of text in a table
    """
    head = Head.of(data)
    if not head.lines:
        return None
    return next((kind for kind in KINDS if where in kind.where and kind.test(head)), None)


def refuse(name, data, where):
    """Raise InputError if a file is of a foreign format; name : str, of the file; otherwise as `recognise`."""
    kind = recognise(data, where)
    if kind is not None:
        head = Head.of(data)
        override = "give --delimiter if it is a table all the same" if where in TABLES else _PLAIN
        what = {"text": "text", "baskets": "baskets, one a line"}.get(where, "a table of rows")
        columns = kind.columns(head) if kind.columns else []
        columns = names_in(name) if kind.name == _PARQUET else columns
        remedy = kind.remedy(head) if callable(kind.remedy) else kind.remedy
        if where == "text" and kind.remedy is _OF_TEXT and columns:
            remedy = f"say which column holds the text: --text-col {shlex.quote(column_of_text(columns))}"
        shown = f" Its columns: {', '.join(columns)[:200]}." if columns else ""
        raise InputError(f"{name}: looks like {kind.name}, not like {what}; {remedy} ({override}).{shown}")


def form_of_records(data, where):
    """Return the `records.Form` of a table whose rows name their own cells, by its beginning; None for another.

    data : bytes, unpacked; where : str, "edges", "pairs" or "ratings"
    """
    head = Head.of(data)
    if not head.lines:
        return None
    if is_json_lines(head) or (where == "column" and re.match(rb'\s*\{[ \t]*"', data)):  # whose lines may be long
        return JSON
    return NETWORKX if where == "edges" and is_networkx(head) else None


def beginnings(files):
    """Yield (name, first bytes, unpacked) of files, of URLs the first; pipes and {rank} are left out."""
    present = [file for file in files if "{rank}" not in str(file)]
    remote = 0
    for path in find_files(present) if present else ():
        local = path != STDIN and scheme_of(path) is None
        remote += scheme_of(path) is not None
        if (remote > 1 and not local) or (local and (not os.path.isfile(path) or file_stamp(path) is None)):
            continue
        yield "standard input" if path == STDIN else path, first_bytes(path, LOOKED_AT)
