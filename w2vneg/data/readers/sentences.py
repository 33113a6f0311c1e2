"""Sentences that are in memory already, or come from an iterator, in the form that readers yield."""

import glob
import numbers
import os

from ...ground.errors import InputError
from ...ground.files.bounded import scheme_of
from .sources import PIECE, STDIN

_SOME = 100  # sentences that are looked at before they are read


def read_sentences(sentences, *, lowercase=False):
    """Yield lists of tokens as UTF-8, a sentence a line.

    sentences : iterable of iterables of str, gone through once; a token is not empty and has no white space and no
        NUL
    InputError, with the sentence's number from 1 on, if one is a string or holds something else than such tokens
    """
    lines, size = [], 0
    for number, sentence in enumerate(_iterate(sentences), 1):
        line = _line(sentence, number)
        lines.append(line.lower() if lowercase else line)
        size += len(line) + 1
        if size >= PIECE:
            yield _joined(lines, number)
            lines, size = [], 0
    if lines:
        yield _joined(lines, number)


def check_sentences(corpus):
    """Raise InputError for what is easily taken for sentences: strings that name no files, pairs."""
    if not isinstance(corpus, (list, tuple)) or not corpus:
        return
    some = corpus[:_SOME]
    if all(isinstance(one, str) for one in some) and not any(_names_a_file(one) for one in some):
        raise InputError(
            f"a list of strings names files, and {some[0][:60]!r} is none; sentences are lists of words: "
            "[line.split() for line in lines]"
        )
    if all(isinstance(one, tuple) and (len(one) == 2 or _is_weighted(one)) for one in some):
        raise InputError(
            f"{some[0]!r:.60} looks like a pair, not a sentence; give Input('pairs', PAIRS, rectangular=True) for "
            "users and items, Input('pairs', PAIRS) for items seen together; sentences of two words are given as lists"
        )


def _names_a_file(name):
    path = os.path.expanduser(name)
    return name == STDIN or scheme_of(name) is not None or os.path.exists(path) or bool(glob.glob(path))


def _is_weighted(pair):
    return len(pair) == 3 and isinstance(pair[2], numbers.Real)


def _iterate(sentences):
    try:
        return iter(sentences)
    except TypeError:
        raise InputError(
            f"a corpus is a path, a list of paths or an iterable of token lists, not {sentences!r:.60}"
        ) from None


def _line(sentence, number):
    if isinstance(sentence, (str, bytes)):
        raise InputError(
            f"sentence {number} is a {type(sentence).__name__}; give a list of tokens (.split() makes one)"
        )
    if isinstance(sentence, (set, frozenset)):
        raise InputError(
            f"sentence {number} is a {type(sentence).__name__}, which has no order: another run of Python would train "
            "on another one; give a list of tokens (sorted() makes one)"
        )
    try:
        tokens = list(sentence)
        line = " ".join(tokens)
    except TypeError:
        raise InputError(f"sentence {number} is not a list of strings: {str(sentence)[:60]}") from None
    if line.split() != tokens or "\0" in line:
        wrong = next(token for token in tokens if token.split() != [token] or "\0" in token)
        raise InputError(
            f"sentence {number}: the token {wrong!r} is empty or holds white space or NUL; "
            "leave it out or join its parts"
        )
    return line


def _joined(lines, number):
    try:
        return ("\n".join(lines) + "\n").encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"sentence {number} or one shortly before: a token holds a lone surrogate "
            f"({error.object[error.start]!r}), which is no character; decode the text properly"
        ) from error
