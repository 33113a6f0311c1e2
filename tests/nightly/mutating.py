"""Damage: a seeded mutator of files, for text, JSON, archives and bytes alike."""

import gzip
import io
import json
import re
import zipfile

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_FIELD = re.compile(rb"[^\t\n,;| ]+")
_NUMBERS = (b"nan", b"inf", b"-1", b"0", b"-0.0", b"1e999", b"1e-320", b"99999999999999999999", b"2147483648", b"1e308")
_NUMBERS += (b"9" * 6000, b"", b"1_0", b"0x10", b"1,5", b"NaN", b"Infinity", "٣".encode(), b"0.5", b"4294967297", b"x")
_BYTES = (b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n", b"\n\n", b"\t", b'"', b"'", b" ")
_BYTES += (b",", b"{", b"]", b"\\", b"\x1f", b"\x1a", "\u2028".encode(), "\u0130".encode(), b"\0" * 100, b"[" * 3000)
_VALUES = (None, True, False, 0, -1, 3, 2.5, 1e300, 10**400, "", "x", "nan", "a\0b", "\ud800", "../../x", "/dev/null")
_VALUES += ([], {}, [1], ["a"], {"a": 1}, [[]], "9" * 6000, float("nan"), float("inf"), 2**31, 2**63, "*", "-")


def damaged(data, rng, others):
    """Return other bytes than `data`, mostly.

    Parameters
    ----------
    data : bytes
    rng : random.Random
    others : list of bytes
        Files that it may be taken for.
    """
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        data = rng.choice(_WAYS)(data, rng, others)
    return data


def _place(data, rng):
    """Return a place in the data, often near their beginning, where headers are."""
    size = min(len(data), 200) if rng.random() < 0.5 else len(data)
    return rng.randrange(size + 1)


def _flipped(data, rng, others):
    at = min(_place(data, rng), len(data) - 1)
    return data if at < 0 else data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def _another_byte(data, rng, others):
    at = _place(data, rng)
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _cut(data, rng, others):
    return data[: rng.randrange(len(data) + 1)] if rng.random() < 0.7 else data[_place(data, rng) :]


def _with_more(data, rng, others):
    at = _place(data, rng)
    more = rng.choice(_BYTES) if rng.random() < 0.7 else rng.randbytes(rng.choice((1, 4, 60)))
    return data[:at] + more + data[at:]


def _moved(data, rng, others):
    """Delete, repeat or swap two stretches."""
    a, b, c = sorted(_place(data, rng) for _ in range(3))
    return rng.choice((data[:a] + data[b:], data[:b] + data[a:], data[:a] + data[b:c] + data[a:b] + data[c:]))


def _other_lines(data, rng, others):
    """Delete, repeat or swap lines."""
    lines = data.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    way = rng.randrange(4)
    if way == 0:
        del lines[i]
    elif way == 1:
        lines.insert(j, lines[i])
    elif way == 2:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        lines[i:j] = []
    return b"\n".join(lines)


def _other_match(data, rng, pattern, replace):
    matches = list(pattern.finditer(data[: 1 << 16]))
    if not matches:
        return data
    one = rng.choice(matches[:12] if rng.random() < 0.4 else matches)
    return data[: one.start()] + replace(one[0]) + data[one.end() :]


def _other_number(data, rng, others):
    return _other_match(data, rng, _NUMBER, lambda found: rng.choice(_NUMBERS))


def _other_field(data, rng, others):
    return _other_match(
        data,
        rng,
        _FIELD,
        lambda found: rng.choice((b"", found + b"\t" + found, found * 2, b'"' + found, b"a" * 70_000)),
    )


def _other_ends(data, rng, others):
    return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b" \n", b"", b"\0", "\u2028".encode())))


def _with_a_mark(data, rng, others):
    return rng.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"PK\x03\x04", b"\x1f\x8b\x08", b"PAR1", b"# ", b"\n")) + data


def _encoded(data, rng, others):
    try:
        return data.decode().encode(rng.choice(("utf-16", "utf-32", "latin-1", "utf-8-sig", "cp500")))
    except UnicodeError:
        return data


def _nothing(data, rng, others):
    return rng.choice((b"", b"\n", b"\0", b" ", b"null", b"0"))


def _swapped(data, rng, others):
    return rng.choice(others) if others else data


def _other_json(data, rng, others):
    """Put another value somewhere into a JSON document, or into a line that is one, or take one out."""
    for part in (data, rng.choice(data.split(b"\n"))):
        try:
            document = json.loads(part)
        except (ValueError, RecursionError):
            continue
        return data.replace(part, _changed(document, rng), 1)
    return data


def _changed(document, rng):
    places = list(_nodes(document))
    if not places:
        return json.dumps(rng.choice(_VALUES)).encode()
    holder, key = rng.choice(places)
    if rng.random() < 0.2:
        del holder[key]
    elif rng.random() < 0.1 and isinstance(holder, dict):
        holder[rng.choice(("", "x", "\0", str(key) + "s"))] = rng.choice(_VALUES)
    else:
        holder[key] = rng.choice(_VALUES)
    return json.dumps(document).encode()


def _nodes(document):
    """Yield (holder, key) of every value inside a JSON document."""
    keys = document if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
    for key in list(keys):
        yield document, key
        yield from _nodes(document[key])


def _inside(data, rng, others):
    """Damage what is packed, and pack it again with the right checksums."""
    if data.startswith(b"\x1f\x8b"):
        return gzip.compress(damaged(gzip.decompress(data), rng, others), mtime=0)
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(members))
    if rng.random() < 0.1:
        members[rng.choice(("other.npy", "matrix.npy"))] = members.pop(name)
    else:
        members[name] = damaged(members[name], rng, others)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _inside_if_whole(data, rng, others):
    try:
        return _inside(data, rng, others)
    except Exception:  # it was damaged before
        return data


_WAYS = (_flipped, _flipped, _another_byte, _cut, _with_more, _with_more, _moved, _other_lines, _other_number)
_WAYS += (
    _other_number,
    _other_field,
    _other_ends,
    _with_a_mark,
    _encoded,
    _nothing,
    _swapped,
    _other_json,
    _other_json,
)
_WAYS += (_inside_if_whole, _inside_if_whole)
