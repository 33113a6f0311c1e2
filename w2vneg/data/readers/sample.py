"""How a text is to become tokens, by its beginning."""

import os
from collections import Counter
from contextlib import nullcontext, suppress

from ...ground.errors import InputError
from ...ground.files.bounded import scheme_of
from ..phrases import Tally
from .frames import InMemoryTable
from .sources import STDIN, file_stamp, find_files, first_bytes, opened
from .tables import Begun
from .text import codec_name

_LOOKED_AT = 1 << 20  # bytes
_MOST_FILES = 8
_ENDS = frozenset(',;:!?…"”»)]}，。！？；：、')
_ALONE = _ENDS | frozenset(".(“«[{")
_MANY = 0.01  # of the tokens; at most .0002 in plain and tokenised text, at least .067 in raw text


class Chosen(str):
    """A tokenizer; why : str, what spoke for it, in words"""

    why = ""


def tokenizer_of(files, table, encoding):
    """Return the tokenizer that the beginning calls for: ``whitespace`` for words set apart, or ``words``.

    Text is raw where words carry punctuation, one in a hundred or more, and more often than it stands alone: in
    tokenised text it always stands alone, and in cleaned text there is none. A full stop counts at the end of a line,
    for elsewhere it may be an abbreviation's.

    Parameters
    ----------
    files : as for `find_files`; of pipes and of what lies with ranks nothing is looked at
    table : TextColumn or None
    encoding : str

    Returns
    -------
    Chosen
    """
    text, where = _beginning(files, table, codec_name(encoding))
    tokens = Counter(text.split())
    last = Counter(line.rsplit(None, 1)[-1] for line in text.splitlines() if line.strip())
    at_words, example, alone = 0, "", 0
    for token, count in tokens.items():
        if any(map(str.isalnum, token)):
            count = count if token[-1] in _ENDS else last[token] if token[-1] == "." else 0
            at_words += count
            example = example or (token[:20] if count else "")
        elif token[0] in _ALONE:
            alone += count
    share = at_words / max(1, tokens.total())
    raw = share >= _MANY and at_words > alone
    chosen = Chosen("words" if raw else "whitespace")
    few = "punctuation stands alone" if alone > at_words else "hardly a word ends in punctuation"
    seen = f"{share:.0%} of the tokens end in punctuation, as {example!r}" if raw else where or few
    other = "whitespace keeps it" if raw else "words is for raw text"
    chosen.why = f"--tokenizer {chosen} chosen, for {seen}: {other}"
    return chosen


def _beginning(files, table, encoding):
    """Return the beginning of a text (str), and why there is none, in words."""
    there = [file for file in files if "{rank}" not in str(file)]
    found = find_files(there) if there else []
    files = [file for file in found if isinstance(file, InMemoryTable) or file == STDIN or _again(file)]
    step = -(-len(files) // _MOST_FILES) or 1
    chosen = files[::step]
    text = ""
    for file in chosen:
        size = _LOOKED_AT // len(chosen)
        with suppress(InputError):  # whoever reads all of it will tell
            if table is None:
                text += first_bytes(file, size).decode(encoding, errors="replace")[:size] + "\n"
            else:
                text += _cells(file, table, encoding, size) + "\n"
    return text, "" if files else "what can be read only once is not looked at"


def _again(file):
    return scheme_of(file) or (os.path.isfile(file) and file_stamp(file) is not None)


def _opened(file, size):
    return opened(file) if file != STDIN else nullcontext(Begun("standard input", first_bytes(file, size), ()))


def _cells(file, table, encoding, size):
    text = b""
    with suppress(InputError), _opened(file, size) as source:
        for piece in table.pieces(source, encoding, Tally()):
            text += piece
            if len(text) >= size:
                break
    return text.decode()
