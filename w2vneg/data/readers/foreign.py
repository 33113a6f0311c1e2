"""Foreign formats: how to recognise each by its first lines, and what to type instead.

Each test examines many lines, not just one: a false alarm is worse than a miss. No code in a file is ever run. To add
a format, add a row to `KINDS`.
"""

import ast
import csv
import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from ...ground.errors import InputError
from ...ground.files.bounded import scheme_of
from .column_names import column_of_text, columns_meant, sound_like_columns
from .frames import names_in
from .records import JSON, LINES, NETWORKX, columns_in, fits, lists_out
from .sources import STDIN, begun, find_files, start_of
from .text import codec_name

LOOKED_AT = 1 << 18  # bytes
_LINES = 200
_FEW = 20  # lines, below which columns do not show a table
_DELIMITERS = ",\t;|"
_TABLES = ("edges", "pairs", "ratings", "column")
_ALL = ("text", "baskets", *_TABLES)
_ANY = (*_ALL, "vectors")
_A_LINE = "extract its text, one sentence per line"
_OF_TEXT = "say which column holds the text: --text-col COLUMN"
_PARQUET = "a Parquet file"


class Head(NamedTuple):
    """data : bytes, the beginning of a file; text : str, the same, decoded
    lines : list of str, the first non-blank lines, all of them complete
    """

    data: bytes
    text: str
    lines: list

    @classmethod
    def of(cls, data, encoding="utf-8"):
        """Decode bytes; those invalid in this encoding become U+FFFD. ConfigError for an unknown encoding."""
        text = ""
        with suppress(UnicodeError):  # reported when all of it is read
            text = data[:LOOKED_AT].decode(codec_name(encoding), errors="replace").removeprefix("\ufeff")
        text = re.sub(r'(?i)\A"?sep=(.|\\t)"?\r?\n', "", text)  # as Excel writes it
        lines = [line for line in re.split(r"\r\n|\r|\n", text) if line.strip()]
        whole = len(data) < LOOKED_AT or len(lines) == 1
        return cls(data, text, (lines if whole else lines[:-1])[:_LINES])

    def share(self, test):
        """Return the share of lines that pass a test, from 0 to 1."""
        return sum(map(bool, map(test, self.lines))) / max(1, len(self.lines))


class Kind(NamedTuple):
    """name : str; test : callable, Head -> bool; remedy : str, or callable, Head -> str; where : tuple of str, what a
    file of this kind cannot be given as: "text", "baskets", "edges", "pairs", "ratings", "column", "vectors"
    columns : callable, Head -> dict, the names of a table's columns -> some of their cells
    """

    name: str
    remedy: object
    test: Callable
    where: tuple = _ALL
    columns: Callable | None = None


# ---- tests, which are functions of a Head, and longer remedies


def _starts(magic):
    return lambda head: head.data.startswith(magic)


def _has(*patterns):
    """Return a test that all patterns occur in the first lines; ``^`` matches at the beginning of each line."""
    return lambda head: all(re.search(pattern, "\n".join(head.lines), re.MULTILINE) for pattern in patterns)


def _each(pattern, share=0.9):
    """Return a test that at least this share of the lines match a pattern, ignoring blanks at both ends."""
    return lambda head: head.share(lambda line: re.fullmatch(pattern, line.strip())) >= share


def _by_python(program, out, module="json"):
    return f'python -c "import {module}, sys; {program}" < FILE > {out}'


_TREE, _LEAF = re.compile(r"\s*\( ?(\(|[\w-]+ \()"), re.compile(r"\(([A-Z]{1,6}\$?|[.,:$#'`]+|-\w+-|\d) [^\s()]+\)")
_OF_FASTA = (
    "write its sequences as k-mers, here of 3 letters, one per line: awk 'function out() {if (s) {for (i = 1; "
    """i < length(s) - 1; i++) printf "%s ", substr(s, i, 3); print ""}; s = ""} /^>/ {out(); next} """
    r"""{sub(/\r$/, ""); s = s $0} END {out()}' FILE > text.txt"""
)


def _is_json_lines(head):
    if head.share(lambda line: line.lstrip()[:1] == "{" and fits(line, JSON.parse)) < 0.9 or _is_lists_by_name(head):
        return False
    return not any(isinstance(value, list) and value and isinstance(value[0], dict) for value in _values(head))


def _is_lists_by_name(head):
    """Return whether one JSON object has lists of texts or numbers as the values of its keys, at least two."""
    lists = _values(head)
    return len(lists) > 1 and all(isinstance(own, list) and not isinstance((own or [0])[0], dict) for own in lists)


def _values(head):
    """Return the values of a JSON object that is the only line (list); [] for any other file."""
    alone = len(head.lines) == 1 and fits(head.lines[0], JSON.parse)
    return list(JSON.parse(head.lines[0]).values()) if alone else []


def _is_json_document(head):
    if not re.match(r'[\[{]\s*([\[{]\s*)*("[^"\n]*"\s*[:,\]}]|[\[{]|$)', head.lines[0].lstrip()):
        return False
    if len(head.lines) == 1:
        return re.match(r'\s*[\[{]\s*[\[{]?\s*"[^"]*"\s*:', head.lines[0]) is not None
    inside = r'\s*([\[\]{}]+,?|"[^"]*"\s*:.*|[\]}],?\s*[\[{]?|"[^"]*",?|-?\d[\d.eE+-]*,?|(true|false|null),?)\s*$'
    return head.share(lambda line: re.match(inside, line) or fits(line.strip().rstrip(","), JSON.parse)) >= 0.95


def _rows_out(head):
    if sum(line.rstrip() == "{" for line in head.lines) > 1 and head.lines[0].rstrip() == "{":
        each = "[print(json.dumps(json.loads(row))) for row in re.split('\\n(?=[{])', sys.stdin.read())]"
        return f"write each object on a line of its own: {_by_python(each, 'rows.jsonl', 'json, re')}"
    found = re.finditer(r'"([\w .:/-]+)"\s*:\s*\[\s*\{', head.text)
    outer = (
        one[1] for one in found if head.text.count("{", 0, one.start()) - head.text.count("}", 0, one.start()) == 1
    )
    rows = "json.load(sys.stdin)" + (f"['{next(outer, 'KEY')}']" if head.lines[0].lstrip()[:1] == "{" else "")
    program = _by_python(f"[print(json.dumps(row)) for row in {rows}]", "rows.jsonl")
    return f"write the list of rows as JSON lines, which can be read as a table: {program}"


def _objects(head):
    """Return the lines that are complete JSON objects (list of dict)."""
    return [JSON.parse(line) for line in head.lines if fits(line, JSON.parse)]


def _below_comments(test):
    """Return a test that nine of ten of the lines that do not begin with #, if there are any, pass this one."""
    return lambda head: head._replace(lines=[line for line in head.lines if line[0] != "#"]).share(test) >= 0.9


_is_networkx = _below_comments(lambda line: "{" in line and fits(line, NETWORKX.parse))


def _is_python(head):
    if not _each(r"\(.*\),?|\[.*\],?|\{.*\},?")(head):
        return False
    kinds = tuple | list | dict | set
    return head.share(lambda line: fits(line.strip().rstrip(",").strip(), ast.literal_eval, kinds)) >= 0.9


_SQL = _has(
    r"(?i)\A\s*(--|/\*|set\b|begin\b|drop table|create\b|insert into\b|pragma\b)",
    r"(?i)^\s*(create table|insert into|copy \S+ \(.*\) from stdin)\b",
    r"[;,]\s*$",
)
_ARCHIVES = (b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\x04\x22\x4d\x18", b"\x1f\x9d", b"]\0\0")
_LITERAL = r'"(?:[^"\\]|\\.)*"(@[\w-]+|\^\^<[^<>\s]*>)?'
_TRIPLE = rf"(<[^<>\s]*>|_:\S+)\s+<[^<>\s]*>\s+(<[^<>\s]*>|_:\S+|{_LITERAL})\s*(<[^<>\s]+>\s*)?\."
_THIRD: dict[str, str | None] = {"unweighted": None, "dynamic": "changes", "signed": "signs", "multisigned": "signs"}
_THIRD |= {"weighted": "ratings", "multiweighted": "ratings"}
_THIRD |= dict.fromkeys(("positive", "posweighted", "multiposweighted"), "weights")
_KONECT = re.compile(rf"%\s*(sym|asym|bip)\s+({'|'.join(_THIRD)})\s*")


def _konect(head):
    """Return ("sym", "asym" or "bip"; what a third column holds, or None); (None, None) if it is not KONECT."""
    found = _KONECT.fullmatch(head.lines[0])
    return (found[1], _THIRD[found[2]]) if found else (None, None)


def _of_konect(head):
    """Return how to give a KONECT graph, and how to use its third column."""
    shape, third = _konect(head)
    if shape == "bip" and third not in (None, "weights"):
        return (
            f"give it to --ratings with --rectangular: its third column holds {third}, not weights; "
            "--min-rating leaves low ones out"
        )
    kind, flags = ("pairs", " --rectangular") if shape == "bip" else ("edges", "")
    row = next((line.split() for line in head.lines if not line.startswith("%")), [])
    if len(row) > 2:
        column = "3" if third == "weights" else "none"
        flags += f" --weight-col {column} (its third column holds {third or 'no weights'})"
    return f"remove its header, grep -v '^%' FILE > {kind}.txt, and give --{kind} {kind}.txt{flags}"


def _is_metis(head):
    lines = [line.split() for line in head.lines if not line.startswith("%")]
    numbers = all(re.fullmatch(r"\d{1,99}", cell) for row in lines for cell in row)
    if not numbers or len(lines) < 4 or len(lines[0]) not in (2, 3, 4):
        return False
    n_nodes, n_edges = map(int, lines[0][:2])
    sizes = list(map(len, lines[1:]))
    whole = len(sizes) == n_nodes and sum(sizes) in (2 * n_edges, 4 * n_edges) and len(lines) < _LINES
    return whole and len(set(sizes)) > 1


_NUMBER = re.compile(r"(\d{1,9})([-.]\d+)?")
_OF_MARKS = re.compile(r"[^\w\s]+|SENT|PUN\w*|PONCT\w*|F[a-z]+")  # tags of punctuation


def _even(rows):
    """Return rows (list of list of str) if there are five or more, all of one length, at least two; else []."""
    return rows if len(rows) > 4 and len(rows[0]) > 1 and len(set(map(len, rows))) == 1 else []


def _tokens(head):
    """Return, for a file with one token per line, the column of words (int, from 1), what awk does with lines without a
    token (str), and the delimiter (a tab, or None for blanks); None for any other file.
    """
    said = re.match(r"#\s*global\.columns\s*=(.*)", head.lines[0])  # in CoNLL-U Plus
    names = said[1].split() if said else []
    names = names if names[:1] == ["ID"] and "FORM" in names else []
    rows = _even([line.split("\t") for line in head.lines if not line.startswith("#")])
    size = len(rows[0]) if rows and all(_NUMBER.fullmatch(row[0]) for row in rows) else 0
    if size and (size in (10, len(names)) or (size > 3 and _counts_words(head, rows))):  # ranges, as 1-2, are no tokens
        return names.index("FORM") + 1 if names else 2, "NF && $1 !~ /^[0-9]+$/ {next} ", "\t"
    rows = _even([line.split() for line in head.lines if not line.startswith(("#", "-DOCSTART-"))])
    last, first = (all(re.fullmatch(r"O|[BIES]-\w+", row[at]) for row in rows) for at in (-1, 0))
    if rows and (last or (first and len(rows[0]) == 2 and len({row[0] for row in rows}) > 1)):
        return 1 if last else 2, "/^(#|-DOCSTART-)/ {next} ", None
    sign = "\t" if "\t" in head.text else None
    return (1, "", sign) if _is_vertical(head, sign) else None


def _counts_words(head, rows):
    """Return whether the first cells count from 1, again after each blank line, and the second ones hold words."""
    n_parts = number = 0
    for line in re.split(r"\r\n|\r|\n", head.text)[:_LINES]:
        if not line.strip():
            number = 0
        elif (found := _NUMBER.match(line)) and not found[2]:
            number += 1
            n_parts += number == 1
            if int(found[1]) != number:
                return False
    of_words = sum(any(map(str.isalpha, row[1])) for row in rows) > len(rows) / 2
    return n_parts > 1 and of_words and sum(bool(re.search(r"\s", "".join(row))) for row in rows) <= len(rows) / 20


def _is_vertical(head, sign):
    """Return whether lines hold a token, its tag and perhaps its lemma, with punctuation or lines of markup between."""
    body = [line for line in head.lines if not re.fullmatch(r"<!--[^\t]*-->", line.strip())]
    lines = [line for line in body if not re.fullmatch(r"</?[A-Za-z][^<>\t]*>", line.strip())]
    rows = _even([row for row in (line.split(sign) for line in lines) if not re.search(r"\s", "".join(row))])
    if not rows or len(rows) < 0.95 * len(lines):
        return False
    if sign and len(lines) < len(body):
        return sum(any(map(str.isalpha, row[0])) for row in rows) > len(rows) / 2
    marks = any(not any(map(str.isalnum, row[0])) and _OF_MARKS.fullmatch(row[1]) for row in rows)
    words, *tags = (len(set(cells)) for cells in zip(*rows, strict=True))
    tagged = min(tags) <= min(words, len(rows) / 2)
    return len(rows[0]) < (6 if sign else 4) and marks and tagged


def _of_tokens(head):
    column, over, sign = _tokens(head)
    sentences = (
        rf"""{{sub(/\r$/, "")}} {over}NF < 2 {{if (!/^</ || /^<\/s(entence)?>/) print ""; next}} """
        rf"""{{gsub(/ /, "_", ${column}); printf "%s ", ${column}}} $2 ~ /^(SENT|[$][.])$/ {{print ""}}"""
    )
    return "write one sentence per line: awk " + r"-F'\t' " * bool(sign) + f"'{sentences}' FILE > text.txt"


def rows_in(head, delimiter):
    """Return the first lines as rows of the most common size (list of list of str); [] unless nine of ten have it."""
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):
        with suppress(csv.Error):
            rows = [row for row in csv.reader(head.lines, delimiter=delimiter, quoting=quoting) if row]
            size = Counter(map(len, rows)).most_common(1)[0][0]
            alike = [row for row in rows if len(row) == size]
            if size > 1 and len(alike) >= 0.9 * len(rows):
                return alike
    return []


def _header(head):
    """Return the columns of a table by name (dict, str -> list of str); {} if it is no table with a header."""
    for delimiter in _DELIMITERS:
        names = [name.strip().strip('"') for name in head.lines[0].split(delimiter)]
        usual = len(names) > 1 and (sound_like_columns(names) or len(columns_meant(names)) > 1)
        rows = rows_in(head, delimiter) if usual else []
        if len(rows) >= 3 and len(rows[0]) == len(names):
            return dict(zip(names, zip(*rows[1:], strict=True), strict=True))
    quoted = sum(line.startswith('"') for line in head.lines) > 0.1 * len(head.lines)
    return {names[0]: head.lines[1:]} if quoted and len(names) == 1 and sound_like_columns(names) else {}


def _unnamed(head):
    """Return the columns of a table of text by number (dict, str -> list of str); {} if it is none.

    It has quoted cells, or an id of each row beside text; with tabs and three or more columns, text may be missing
    """
    for sign in _DELIMITERS:
        rows = rows_in(head, sign)[1:]  # the first may be a header
        columns = list(zip(*rows, strict=True))
        prose = sign != "\t" and sum(" " in [cell[:1] for cell in row] for row in rows) > len(rows) / 10
        if prose or len(rows) < _FEW - 1:
            continue
        ids = [len(set(cells)) == len(rows) and not re.search(r"\s", "".join(cells)) for cells in columns]
        named = any(ids) if len(columns) > 2 else ids[0] and all(re.search(r"\d", cell) for cell in columns[0])
        texts = any(sum(" " in cell for cell in cells) > len(rows) / 2 for cells in columns)
        quoted = head.share(re.compile(r'(^|{0})"([^"]|"")*"({0}|$)'.format(re.escape(sign))).search)
        quoted = quoted > (1 / 3 if sign == "\t" else 1 / 10)
        if (texts and (named or quoted)) or (named and sign == "\t" and len(columns) > 2):
            return {str(number): cells for number, cells in enumerate(columns, 1)}
    return {}


def _is_vectors(head):
    """Return whether two sizes stand above rows of a name and numbers, as many as the second says, with decimals."""
    sizes = re.fullmatch(r"\d+ (\d{1,4})\s*", head.lines[0])
    rows = [line.split() for line in head.lines[1:]]
    numbers = [cell for row in rows for cell in row[1:]]
    even = sizes and rows and all(len(row) == int(sizes[1]) + 1 for row in rows)
    return even and all(("." in number or "e" in number) and fits(number, float, float) for number in numbers)


def _label_of_gml(head):
    """Return the key that networkx should use for the names of nodes, or None for their numbers."""
    return next((key for key in ("label", "name") if re.search(rf"(?m)^\s*{key}\b", head.text)), None)


def _is_lgl(head):
    """Return whether lines of # and a node head lines of neighbours, some of them such nodes, perhaps with weights."""
    nodes = [line.split()[1] for line in head.lines if re.fullmatch(r"# \S+\s*", line)]
    others = [line.split() for line in head.lines if not line.startswith("#")]
    even = all(len(row) == 1 or (len(row) == 2 and fits(row[1], float, float)) for row in others)
    own = head.text.startswith("# ") and len(set(nodes)) == len(nodes) > 2
    return own and even and not {*nodes}.isdisjoint(row[0] for row in others)


def _is_tgf(head):
    """Return whether a file has the numbers of nodes and their names, a line of just #, and pairs of these numbers."""
    nodes, sign, edges = head.text.replace("\r", "").partition("\n#\n")
    known = {line.split()[0] for line in nodes.split("\n") if line.strip()}
    ends = [line.split()[:2] for line in edges.split("\n")[:_LINES] if line.strip()]
    return bool(sign and ends) and all(len(own) == 2 and known.issuperset(own) for own in ends)


_TABLES_OF_OTHERS = b"ORC", b"Obj\x01", b"$FL", b"<stata_dta>", bytes(12) + b"\xc2\xea\x81", b"X\n\0\0\0"
_AS_TEXT = "write its rows as text"
_AS_EDGES = "write its edges as a table: source, target"
_EDGES = "write its edges, and give --directed if they are directed: "
_BY_NETWORKX = (
    f"{_EDGES}python -c \"import re, networkx as nx; [print(u, v, d.get('weight', d.get('value', 1)), sep='\\t') "
    'for u, v, d in nx.{}.edges(data=True)]" > edges.tsv'
)
_GML = "parse_gml(re.sub(r'graph\\s*\\[', 'graph [ multigraph 1 ', open('FILE').read(), count=1), label={!r})"
_PAJEK_OUT = (
    r"""awk 'function of(i) {return i in name ? name[i] : i} {sub(/\r$/, "")} /^[%\/]/ {next} """
    r"""/^\*/ {part = tolower($1); next} part ~ /vert/ {name[$1] = match($0, /"[^"]*"/) ? substr($0, RSTART + 1, """
    r"""RLENGTH - 2) : NF > 1 ? $2 : $1; next} part ~ /list/ {for (i = 2; i <= NF; i++) print of($1) "\t" of($i) """
    r""""\t" 1} part ~ /matrix/ {row++; for (i = 1; i <= NF; i++) if ($i != 0) print of(row) "\t" of(i) "\t" $i} """
    r"""part ~ /(edges|arcs)$/ {print of($1) "\t" of($2) "\t" (NF > 2 ? $3 : 1)}' FILE > edges.tsv"""
)
_OUT_OF_ARROW = "write it as Parquet: datasets.load_from_disk(DIR).to_parquet(FILE)"
_ARRAYS_OUT = _by_python(f"[print(*json.loads(line), sep='\\t') {LINES}]", "table.tsv")
_LISTS_OUT = _by_python("[print(*row, sep='\\t') for row in json.load(sys.stdin)]", "table.tsv")
_VALUES_OUT = _by_python("[print(*row, sep='\\t') for row in json.load(sys.stdin).values()]", "baskets.tsv")
_EACH = "for name, row in json.load(sys.stdin).items() for item in row"
_KEYS_OUT = _by_python(f"[print(name, item, sep='\\t') {_EACH}]", "rows.tsv")
_PYTHON = f"[print({{}}ast.literal_eval(line.strip(' \\n,')){{}}) {LINES}]"
_PYTHON_OUT = _by_python(_PYTHON.format("*", ", sep='\\t'"), "table.tsv", "ast")
_DICTS_OUT = _by_python(_PYTHON.format("json.dumps(", ")"), "rows.jsonl", "ast, json")
_TRIPLES_OUT = r"""awk '!/^#/ && sub(/[.][ \t\r]*$/, "") && $3 !~ /^"/ {print $1 "\t" $3}' FILE > edges.tsv"""
_BLOCKS_OUT = r"""awk -F : '{sub(/\r$/, "")} /:$/ {item = $1; next} {sub(/,|$/, "," item "&")} 1' FILE > rows.txt"""
_ARCS_OUT = "awk '$1 ~ /^[ae]$/ {print $2, $3, $4}' FILE > edges.txt"
MATRIX_OUT = (
    'python -c "import scipy.io, scipy.sparse; '
    "scipy.sparse.save_npz('matrix.npz', scipy.sparse.coo_matrix(scipy.io.mmread('FILE')))\""
)

KINDS = [  # in the order in which they are tried
    Kind(
        "a zip archive or an Excel workbook",  # tables and matrices handle these themselves
        f"{_AS_TEXT}, unpacked",
        _starts(b"PK\x03\x04"),
        ("text", "baskets", "column"),
    ),
    Kind("an old Excel workbook", _AS_TEXT, _starts(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")),
    Kind(_PARQUET, _OF_TEXT, _starts(b"PAR1"), ("text",)),
    Kind(_PARQUET, f"{_AS_TEXT}, unpacked", _starts(b"PAR1"), ("baskets",)),
    Kind(
        "an ORC, Avro, SPSS, Stata, SAS or R file",
        "write it as Parquet or CSV",
        lambda head: b"\0" in head.data and head.data.startswith(_TABLES_OF_OTHERS),
    ),
    Kind("an HDF5 file", _AS_TEXT, _starts(b"\x89HDF\r\n\x1a\n"), _ANY),
    Kind("an SQLite database", _AS_TEXT, _starts(b"SQLite format 3\0"), _ANY),
    Kind("a NumPy array", _AS_TEXT, _starts(b"\x93NUMPY")),
    Kind("a PDF, PostScript or RTF file", _AS_TEXT, _starts((b"%PDF-", b"%!PS", b"{\\rtf")), _ANY),
    Kind("a Git LFS pointer", "fetch its file: git lfs pull", _starts(b"version https://git-lfs"), _ANY),
    Kind(
        "a tar, 7-Zip, RAR, lz4, lzma or compress archive",
        "unpack it (tar -xf FILE, 7z x FILE), and give the files in it",
        lambda head: head.data.startswith(_ARCHIVES) or head.data[257:262] == b"ustar",
        _ANY,
    ),
    Kind("an Arrow file", _OUT_OF_ARROW, _starts(b"ARROW1")),
    Kind("an Arrow stream, as the datasets library saves to disk", _OUT_OF_ARROW, _starts(b"\xff\xff\xff\xff")),
    Kind(
        "a Python pickle",
        "it is not opened, as it may run any code; write it as text with the program that made it",
        lambda head: re.match(rb"\x80[\x02-\x05][\x95\x8a-\x8f}\](cX}q]", head.data) is not None,
    ),
    Kind("JSON lines", _OF_TEXT, _is_json_lines, ("text",), lambda head: columns_in(_objects(head))),
    Kind(
        "JSON lines",
        lambda head: (
            "if each line holds one item, give it to --ratings or --pairs; else write the list of a key with tabs: "
            + lists_out(_objects(head))
        ),
        _is_json_lines,
        ("baskets",),
    ),
    Kind(
        "a JSON document of lists by name",
        f"write a list on each line for --baskets: {_VALUES_OUT}, or each name beside its items: {_KEYS_OUT}",
        _is_lists_by_name,
    ),
    Kind("a JSON document", _rows_out, _is_json_document),
    Kind(
        "a JSON document of lists",
        f"write a list on each line, its parts separated by tabs: {_LISTS_OUT}",
        lambda head: re.match(r"\s*\[\s*\[", head.lines[0]) is not None and len(head.lines) == 1,
    ),
    Kind(
        "JSON arrays, one per line",
        f"write their parts separated by tabs: {_ARRAYS_OUT}",
        lambda head: head.share(lambda line: fits(line.strip(), json.loads, list)) >= 0.9,
    ),
    Kind(
        "a networkx edge list with attributes as Python dicts",
        "give it to --edges",
        _is_networkx,
        ("text", "baskets", "pairs", "ratings"),
    ),
    Kind(
        "Python dicts, one per line",
        f"write them as JSON lines, which can be read as a table: {_DICTS_OUT}",
        lambda head: _is_python(head) and fits(head.lines[0].strip().rstrip(","), ast.literal_eval),
    ),
    Kind(
        "Python tuples, lists or sets, one per line", f"write their parts separated by tabs: {_PYTHON_OUT}", _is_python
    ),
    Kind(
        "baskets in braces or brackets",
        r"""remove these: awk '{sub(/^"*[{[(]/, ""); sub(/[])}]"*\r?$/, "")} 1' FILE > baskets.txt""",
        _each(r'("?[{\[(].*[}\])]"?)'),
        ("baskets",),
    ),
    Kind("GraphML", _BY_NETWORKX.format("read_graphml('FILE')"), _has(r"\A(.*\n){0,19}.*<graphml\b")),
    Kind("GEXF", _BY_NETWORKX.format("read_gexf('FILE')"), _has(r"\A(.*\n){0,19}.*<gexf\b")),
    Kind(
        "XML or HTML",
        "write the part you need as text or as a table",
        _has(r"(?i)\A\s*<(\?xml|!doctype|html|rss|svg)\b"),
        ("baskets", *_TABLES, "vectors"),
    ),
    Kind(
        "lists of tags, as <a><b>",
        r"""separate them by tabs: awk '{gsub(/^<|>\r?$/, ""); gsub(/></, "\t")} 1' FILE > baskets.txt""",
        _each(r'(<[^<>\s/?!="]+>)+', 1),
        ("baskets",),
    ),
    Kind(
        "N-Triples",
        f"write subject and object as a table, without literals: {_TRIPLES_OUT}",
        _below_comments(lambda line: re.fullmatch(_TRIPLE, line.strip())),
    ),
    Kind("Turtle", "write it as a table of subject and object", _has(r"(?i)\A\s*@(prefix|base)\s+\S*\s*<[^>]*>\s*\.")),
    Kind("a KONECT graph", _of_konect, lambda head: _konect(head)[0] is not None, ("text", "baskets")),
    Kind(
        "a KONECT graph, bipartite or with ratings, signs or changes instead of weights",
        _of_konect,
        lambda head: _konect(head)[0] == "bip" or _konect(head)[1] not in (None, "weights"),
        ("edges", "pairs"),
    ),
    Kind(
        "a Pajek .net file",
        f"{_EDGES}{_PAJEK_OUT}",
        _has(r"(?i)\A((%|/\*).*\n)*\*(vertices|network)\b", r"(?i)^\*vertices\s+\d"),
    ),
    Kind(
        "GML",
        lambda head: _BY_NETWORKX.format(_GML.format(_label_of_gml(head))),
        _has(r'\A(\s*#.*\n)*\s*(Creator\s+".*"\s+)?(Version\s+\S+\s+)?graph\s*\[', r"\bnode\s*\["),
    ),
    Kind(
        "Graphviz DOT",
        _AS_EDGES,
        _has(r"\A(\s*(//.*\n|#.*\n|/\*[^*]*\*/))*\s*(strict\s+)?(di)?graph\b[^{\n]*\{", r"\S[ \t]*-[->][ \t]*\S"),
    ),
    Kind(
        "a graph in DIMACS format",
        f"write its edges: {_ARCS_OUT}, and give --directed if they are directed, --weight-col none if their numbers "
        "are lengths or costs",
        _has(r"\A(c\b.*\n)*p\s+(edge|col|sp|max|min)\s+\d+\s+\d+\s*$"),
    ),
    Kind(
        "blocks of rows, each below a line with their item, as in the Netflix data",
        f"write a row for each user and item: {_BLOCKS_OUT}",
        lambda head: _has(r"\A\d+:\s*$", r"^\d+(,.*)?$")(head) and _each(r"\d+(:|,.*)?", 1)(head),
        ("baskets", *_TABLES),
    ),
    Kind("LGL", _AS_EDGES, _is_lgl, _TABLES),
    Kind("METIS adjacency lists", _AS_EDGES, _is_metis, _TABLES),
    Kind("TGF", _AS_EDGES, _is_tgf),
    Kind(
        "a networkx multi-line adjacency list",
        _BY_NETWORKX.format("read_multiline_adjlist('FILE')"),
        lambda head: _has(r"^[^#\s]\S*\s+\d+\s*$", r"^\S+\s+\{")(head) and _each(r"#.*|\S+\s+(\d+|\{.*\})", 1)(head),
    ),
    Kind(
        "a matrix in Matrix Market format",
        f"write it as a sparse matrix for --cooccurrence or --edges: {MATRIX_OUT}",
        _has(r"\A%%MatrixMarket"),
    ),
    Kind(
        "LibSVM rows of a label and feature:value",
        "write row and feature as a table of two columns",
        lambda head: len(head.lines) > 1 and _each(r"[-+]?[\d.]+(\s+(qid:)?\d+:[-+\d.eE]+)+\s*(#.*)?", 0.95)(head),
    ),
    Kind("ARFF", "remove its header and give the rows below @data", _has(r"(?i)^@relation\b", r"(?i)^@attribute\b")),
    Kind(
        "an SQL dump",
        "write the table with the database's own export, as CSV",
        lambda head: _SQL(head) and head.share(lambda line: line.rstrip()[-1] in ";,()-/*") >= 0.5,
    ),
    Kind(
        "FASTA",
        _OF_FASTA,
        lambda head: _has(r"\A>", r"^[A-Za-z*-]{20,}$")(head) and _each(r">.*|[A-Za-z*-]+")(head),
        ("text",),
    ),
    Kind(
        "treebank trees in brackets",
        _A_LINE,
        lambda head: _TREE.match(head.text) and head.share(_LEAF.search) > 0.7,
        ("text",),
    ),
    Kind("a CHAT transcript", _A_LINE, _has(r"\A@(UTF8|Begin|Font)", r"^\*\w+:\t"), ("text",)),
    Kind("an archive of web pages (WARC)", _A_LINE, _has(r"\AWARC/1\.\d\s*$", r"^WARC-Type:"), ("text",)),
    Kind(
        "subtitles with times",
        """remove the times: awk '!/^WEBVTT|-->|^[0-9]*\\r?$/' FILE > text.txt""",
        lambda head: head.share(re.compile(r"\s*\d[\d:.,]+ --> \d").match) > 1 / 7,
        ("text",),
    ),
    Kind("word vectors", "give them to --init, or to commands that read vectors", _is_vectors, ("text", "baskets")),
    Kind("a vertical file, CoNLL or CoNLL-U, one token per line", _of_tokens, _tokens, ("text",)),
    Kind("a table with a header", _OF_TEXT, _header, ("text",), _header),
    Kind("a table without a header", _OF_TEXT, _unnamed, ("text",), _unnamed),
    Kind("a log, one item per row", "give it to --ratings or --pairs", _header, ("baskets",)),
    Kind(
        "lines that end in carriage returns only, as on old Macs",
        r"turn these into line feeds: tr '\r' '\n' < FILE > text.txt",
        lambda head: not re.search(r"[\n\0]", head.text) and head.text.rstrip().count("\r") > 1,
        ("text", "baskets"),
    ),
]


# ---- trying them all


def recognise(data, where, encoding="utf-8"):
    """Return the `Kind` of a file, by its beginning, or None.

    data : bytes, unpacked; where : str, what it is given as, as in `Kind`; "column" is text in a table
    encoding : str, of its text
    """
    head = Head.of(data, encoding)
    return next((kind for kind in KINDS if head.lines and where in kind.where and kind.test(head)), None)


def refuse(name, data, where, encoding="utf-8"):
    """Raise InputError if a file is of a foreign format; name : str, of the file; the others as in `recognise`."""
    kind = recognise(data, where, encoding)
    if kind is None:
        return
    head = Head.of(data, encoding)
    override = "give --delimiter if it is a table after all" if where in _TABLES else "give --plain to read it as it is"
    what = {"text": "text", "baskets": "baskets, one per line"}.get(where, "a table of rows")
    columns = kind.columns(head) if kind.columns else {}
    columns = dict.fromkeys(names_in(name), ()) if kind.name == _PARQUET else columns
    remedy = kind.remedy(head) if callable(kind.remedy) else kind.remedy
    shown = f" Its columns: {', '.join(columns)[:200]}." if columns else ""
    if kind.remedy is _OF_TEXT and columns:
        column = column_of_text(columns)
        remedy = f"say which column holds the text: --text-col {shlex.quote(column)}"
        shown += f" In Python: Input('corpus', {name!r}, text_col={column!r})." * os.path.exists(name)
    raise InputError(f"{name}: looks like {kind.name}, not like {what}; {remedy} ({override}).{shown}")


_MARKUP = re.compile(
    r"""(?i)</(?!s>)[a-z][\w:-]*\s*>|<[a-z][\w:-]{0,40}\s[^<>=]{0,99}=\s{0,9}["'][^<>]{0,2000}>|"""
    r"""<br ?/?>|<!doctype|<\?xml"""
)


def tag_in(data, encoding="utf-8"):
    """Return a tag (str) if a text begins with one, or has some in three of its first lines, else ""."""
    head = Head.of(data, encoding)
    found = list(filter(None, map(_MARKUP.search, head.lines)))
    return found[0][0][:40] if len(found) > 2 or (found and _MARKUP.match(head.lines[0].lstrip())) else ""


def form_of_rows(name, data, where, encoding):
    """Return the `records.Form` of a table whose rows name their own cells, by its beginning, or None; see `refuse`."""
    head = Head.of(data, encoding)
    if _is_json_lines(head) or (where == "column" and re.match(r'\s*\{[ \t]*"', head.text)):  # lines may be long
        return JSON
    if where == "edges" and _is_networkx(head):
        return NETWORKX
    refuse(name, data, where, encoding)
    return None


def beginnings(files):
    """Yield (name, first bytes, unpacked) of files, but only of the first URL; pipes are skipped."""
    remote = 0
    for path in find_files(files) if files else ():
        local = path != STDIN and scheme_of(path) is None
        remote += scheme_of(path) is not None
        if (remote > 1 and not local) or (local and not os.path.isfile(path)):
            continue
        with begun(path) as source:
            yield source.name, start_of(source.pieces(), LOOKED_AT)
