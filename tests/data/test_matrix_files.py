"""Files of scipy.sparse.save_npz: all that it writes is read; whatever is wrong with one is said before it harms."""

import io
import os
import random
import threading
import zipfile

import numpy as np
import pytest
import scipy.sparse
from reading import encode_cooccurrence

from w2vneg.data.encoded import matrices
from w2vneg.ground.errors import InputError, W2vnegError

DENSE = np.array([[0, 2, 0, 1], [2, 0, 3, 0], [0, 3, 0, 4], [1, 0, 4, 0]])
FORMATS = ("csr", "csc", "coo", "bsr", "dia")
MUTATIONS = 100


def arrays_of(form, dense=DENSE):
    """Return what `save_npz` stores of a matrix in a format (dict of str -> ndarray)."""
    stream = io.BytesIO()
    scipy.sparse.save_npz(stream, getattr(scipy.sparse, f"{form}_matrix")(dense))
    stream.seek(0)
    with np.load(stream) as archive:
        return dict(archive)


def put(place, value):
    def change(array):
        array = array.copy()
        array[place] = value
        return array

    return change


@pytest.fixture
def save(tmp_path):
    def write(arrays):
        np.savez(tmp_path / "m.npz", **arrays)
        return tmp_path / "m.npz"

    return write


def save_header(path, name, text, content=b"", version=b"\1\0", method=zipfile.ZIP_DEFLATED):
    """Add an array to an archive, its header given as text."""
    header = text.encode()
    with zipfile.ZipFile(path, "a", method) as archive, archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
        stream.write(b"\x93NUMPY" + version + len(header).to_bytes(2 if version < b"\2" else 4, "little") + header)
        for piece in content if isinstance(content, list) else [content]:
            stream.write(piece)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["matrix", "array"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "longdouble", "int8", "uint64", ">i4", ">f8"])
def test_all_that_save_npz_writes_is_read(tmp_path, form, kind, dtype):
    matrix = getattr(scipy.sparse, f"csr_{kind}")(DENSE).asformat(form)
    matrix.data = matrix.data.astype(dtype)
    if dtype.startswith(">") and form not in ("csr", "csc"):
        pytest.skip("scipy does not read these itself")
    scipy.sparse.save_npz(tmp_path / "m.npz", matrix)
    pairs = encode_cooccurrence(tmp_path / "m.npz")
    assert pairs.matrix.sum() == DENSE.sum() and pairs.report.rows == matrix.nnz
    order = [int(word) for word in pairs.vocab.words]
    assert np.array_equal(pairs.matrix.toarray(), DENSE[np.ix_(order, order)])


def test_other_ways_to_write_the_same(tmp_path, save):
    expected = encode_cooccurrence(save(arrays_of("csr"))).matrix.toarray()
    coo = arrays_of("coo")
    coords = {"coords": np.array([coo.pop("row"), coo.pop("col")])}
    csr = arrays_of("csr")
    wide = {name: csr[name].astype(kind) for name, kind in (("indices", "u8"), ("indptr", ">i8"))}
    longer = {name: np.append(csr[name], 99) for name in ("data", "indices")}  # room that no pointer goes to
    for arrays in (coo | coords, csr | wide, csr | longer | {"indices": np.append(csr["indices"], 0)}):
        assert np.array_equal(encode_cooccurrence(save(arrays)).matrix.toarray(), expected)
    more = save(arrays_of("csr") | {"names": np.array(["a", "b"]), "weights": np.ones(3), "more": np.array([{}])})
    with zipfile.ZipFile(more, "a") as archive:
        archive.writestr("README.txt", "what scipy does not read is left alone")
    assert np.array_equal(encode_cooccurrence(more).matrix.toarray(), expected)
    bits = scipy.sparse.csr_matrix(DENSE > 0)
    scipy.sparse.save_npz(tmp_path / "bits.npz", bits, compressed=False)
    assert encode_cooccurrence(tmp_path / "bits.npz").matrix.sum() == 8


HUGE = 2**62
SIDES = "no shape of two sides from 1 to 2,147,483,647"
MALFORMED = {
    "pointers past the end": ("csr", "indptr", put(-1, 9), "Last value of index pointer should be less than"),
    "pointers that fall": ("csr", "indptr", put(1, 7), "indptr fall"),
    "pointers of an empty matrix that fall": ("csr", "indptr", lambda a: np.array([0, 10**6, 5, 2, 0]), "indptr fall"),
    "pointers of an empty matrix to far away": ("csc", "indptr", lambda a: np.array([0, HUGE, 5, 2, 0]), "indptr fall"),
    "a last pointer below 0": ("csr", "indptr", put(-1, -4), "indptr fall"),
    "a first pointer above 0": ("csr", "indptr", put(0, 1), "index pointer should start with 0"),
    "too few pointers": ("csr", "indptr", lambda a: a[:-1], "index pointer size 4 should be 5"),
    "no pointers": ("csr", "indptr", lambda a: a[:0], "index pointer size 0 should be 5"),
    "pointers with fractions": ("csr", "indptr", lambda a: a / 2, "indptr holds float64, not whole numbers"),
    "pointers in two dimensions": ("csr", "indptr", lambda a: a[:, None], "indptr should be 1-D"),
    "pointers of 64 bits": ("csr", "indptr", lambda a: a.astype("u8") + np.uint64(2**63), "should start with 0"),
    "an index past the end": ("csr", "indices", put(2, 4), "indices must be < 4"),
    "an index below 0": ("csc", "indices", put(2, -1), "indices must be >= 0"),
    "an index of 64 bits": ("csr", "indices", lambda a: a + np.int64(2**32), "indices must be < 4"),
    "too few indices": ("csr", "indices", lambda a: a[:-1], "indices and data should have the same size"),
    "too few entries": ("csr", "data", lambda a: a[:-1], "indices and data should have the same size"),
    "an index of a block": ("bsr", "indices", put(0, 9), "column index values must be <"),
    "a pointer of blocks": ("bsr", "indptr", put(1, 99), "indptr fall"),
    "blocks of nothing": ("bsr", "data", lambda a: a[:, :0], "by zero"),
    "blocks that do not fit": ("bsr", "data", lambda a: np.ones((3, 3, 3)), "index pointer size (5) should be (2)"),
    "a row past the end": ("coo", "row", put(0, 4), "axis 0 index 4 exceeds matrix dimension 4"),
    "a row of 64 bits": ("coo", "row", lambda a: a + np.int64(2**32), "axis 0 index 4294967299 exceeds"),
    "a column below 0": ("coo", "col", put(1, -(2**31)), "negative axis 1 index: -2147483648"),
    "columns with fractions": ("coo", "col", lambda a: a + 0.5, "col holds float64, not whole numbers"),
    "too few rows": ("coo", "row", lambda a: a[1:], "all index and data arrays must have the same length"),
    "too few offsets": ("dia", "offsets", lambda a: a[1:], "number of diagonals"),
    "a repeated offset": ("dia", "offsets", lambda a: np.ones_like(a), "offset array contains duplicate values"),
    "an offset of 64 bits": ("dia", "offsets", lambda a: a + np.int64(2**32), "beyond all diagonals"),
    "diagonals in a row": ("dia", "data", lambda a: a.ravel(), "number of diagonals"),
    "an unknown format": ("csr", "format", lambda a: np.array("lil"), "sparse matrix of format lil"),
    "a format of numbers": ("csr", "format", lambda a: np.array(3), ""),
    "a long format": ("csr", "format", lambda a: np.array("x" * 500), "Unknown format"),
    "a foreign format": ("csr", "format", lambda a: np.array("çsr".encode()), "codec can't decode"),
    "another format": ("csr", "format", lambda a: np.array("coo"), "row is not a file in the archive"),
    "rows for columns": ("csr", "shape", lambda a: np.array([5, 4]), "index pointer size 5 should be 6"),
    "a shape of three": ("csr", "shape", lambda a: np.array([4, 4, 1]), SIDES),
    "a shape below 0": ("csr", "shape", lambda a: np.array([4, -4]), SIDES),
    "a shape of nothing": ("coo", "shape", lambda a: np.array([0, 4]), SIDES),
    "a shape past all ids": ("coo", "shape", lambda a: np.array([HUGE, HUGE]), SIDES),
    "a shape with fractions": ("csr", "shape", lambda a: a / 1.0, "shape holds float64, not whole numbers"),
}


@pytest.mark.parametrize(("form", "name", "change", "message"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_matrices_are_refused(save, form, name, change, message):
    arrays = arrays_of(form)
    path = save(arrays | {name: change(arrays[name])})
    with pytest.raises(InputError) as refused:
        encode_cooccurrence(path, rectangular=True)
    text = str(refused.value)
    assert text.startswith(f"{path}: not a sparse matrix written by scipy.sparse.save_npz (") and message in text
    assert text.endswith("; write it again with that function")


@pytest.mark.parametrize("form", FORMATS)
def test_missing_arrays_are_named(save, form):
    for name in set(arrays_of(form)) - {"_is_array"}:
        message = f"it has no data, or {SIDES}" if name in ("data", "shape") else f"{name} is not a file in the archive"
        message = "does not contain a sparse array or matrix" if name == "format" else message
        with pytest.raises(InputError, match=message):
            encode_cooccurrence(save({key: value for key, value in arrays_of(form).items() if key != name}))


@pytest.mark.parametrize("dtype", ["complex128", "U1", "M8[s]", object, [("a", "i4")]], ids=str)
def test_what_is_no_number_is_refused(save, dtype):
    data = np.zeros(8, dtype)
    with pytest.raises(InputError, match=r"m.npz: not a (matrix of numbers, but|sparse matrix written by .* objects)"):
        encode_cooccurrence(save(arrays_of("csr") | {"data": data}))


def test_two_arrays_of_one_name_are_refused(save):
    path = save(arrays_of("csr"))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("data", b"\x93NUMPY")
    with pytest.raises(InputError, match="two arrays are named data"):
        encode_cooccurrence(path)


HEADER = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n"
DAMAGED = "(data: its header is damaged)"


@pytest.mark.parametrize(
    ("text", "version", "message"),
    [
        (HEADER % ("<f8", "(-8,)"), b"\1\0", DAMAGED),
        (HEADER % ("<f8", f"({HUGE},)"), b"\1\0", f"encoding {HUGE:,} entries"),
        (HEADER % ("<f8", "(9,)"), b"\1\0", "expected 72 bytes got 64"),
        (HEADER % ("|O", "(8,)"), b"\1\0", "(data: an array of objects cannot be read"),
        (HEADER % ("<f8", "(8,"), b"\1\0", DAMAGED),
        (HEADER % ("<f8", "(1e3,)"), b"\1\0", DAMAGED),
        (HEADER % ("<f8", "8"), b"\1\0", DAMAGED),
        (HEADER % ("<zz", "(8,)"), b"\1\0", DAMAGED),
        ("[" * 9000, b"\1\0", DAMAGED),
        ("'''", b"\1\0", DAMAGED),
        ("{" + "1" * 6000 + ": 2}", b"\1\0", DAMAGED),
        (" " * 60_000, b"\1\0", DAMAGED),
        (HEADER % ("<f8", "(8,)"), b"\2\0", "(data: it does not begin like one)"),
        ("", b"\1", DAMAGED),
    ],
)
def test_damaged_headers_are_told(save, text, version, message):
    path = save({name: array for name, array in arrays_of("csr").items() if name != "data"})
    save_header(path, "data", text, bytes(64), version)
    with pytest.raises(InputError) as refused:
        encode_cooccurrence(path)
    assert message in str(refused.value)


def test_gigabytes_are_refused_before_they_are_unpacked(save, monkeypatch):
    path = save({name: array for name, array in arrays_of("coo").items() if name not in ("data", "row", "col")})
    n = 1 << 25
    for name in ("data", "row", "col"):
        save_header(path, name, HEADER % ("|u1", f"({n},)"), [bytes(1 << 20)] * (n >> 20))
    assert path.stat().st_size < n // 100
    monkeypatch.setattr(matrices, "memory_size", lambda: 3 << 30)
    monkeypatch.setattr(matrices, "_loaded", None)  # nobody gets there
    with pytest.raises(InputError, match=r"encoding 33,554,432 entries in 4 rows × 4 columns takes 2.0 GB; only 1.5"):
        encode_cooccurrence(path)


def test_rows_that_hold_nothing_take_no_memory(save, tmp_path):
    coo = arrays_of("coo")
    far = {name: coo[name].astype(np.int64) + 2**31 - 5 for name in ("row", "col")}
    pairs = encode_cooccurrence(save(coo | far | {"shape": np.array([2**31 - 1, 2**31 - 1])}))
    assert sorted(pairs.vocab.words) == [str(2**31 - 5 + i) for i in range(4)]
    expected = encode_cooccurrence(save(coo))
    assert np.array_equal(pairs.matrix.toarray(), expected.matrix.toarray())
    path = save(coo | {"row": far["row"], "shape": np.array([2**31 - 1, 4])})
    pairs = encode_cooccurrence(path, rectangular=True)
    assert sorted(pairs.vocab.words) == [str(2**31 - 5 + i) for i in range(4)]
    assert sorted(pairs.vocab_out.words) == ["0", "1", "2", "3"] and pairs.matrix.sum() == DENSE.sum()
    (tmp_path / "names").write_text("a\nb\n")
    with pytest.raises(InputError, match=r"names: 2 names, but .* has 2,147,483,647 rows"):
        encode_cooccurrence(path, names=[tmp_path / "names"] * 2, rectangular=True)


def test_an_archive_without_its_end_is_told(save):
    path = save(arrays_of("csr"))
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match=r"m.npz: an .npz file without its end, so it was truncated; copy it or"):
        encode_cooccurrence(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_table_may_come_through_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=("a,b,1\nb,c,2\n",))
    writer.start()
    assert encode_cooccurrence(tmp_path / "pipe").vocab.words == ["b", "c", "a"]
    writer.join()


def mutated(data, rng):
    """Return `data` with a few bits, bytes or a stretch of them changed, or cut short."""
    kind, data, at = rng.choice(["bit", "byte", "stretch", "cut", "zeros"]), bytearray(data), rng.randrange(len(data))
    if kind == "cut":
        return bytes(data[:at])
    size = 1 if kind in ("bit", "byte") else min(rng.randint(1, 20), len(data) - at)
    for place in range(at, at + size):
        data[place] = {"bit": data[place] ^ 1 << rng.randrange(8), "zeros": 0}.get(kind, rng.randrange(256))
    return bytes(data)


def test_whatever_happens_to_a_file_it_is_the_same_matrix_or_an_error(save):
    """A zip archive has checksums of its arrays; here they are right for half of the mutations, too."""
    for seed in range(MUTATIONS):
        rng = random.Random(seed)
        arrays = arrays_of(FORMATS[seed % len(FORMATS)])
        path = save(arrays)
        expected = encode_cooccurrence(path).matrix.toarray()
        rewritten = seed % 2
        if rewritten:
            name = rng.choice(sorted(arrays))
            with zipfile.ZipFile(path) as archive:
                members = {info.filename: archive.read(info) for info in archive.infolist()}
            members[f"{name}.npy"] = mutated(members[f"{name}.npy"], rng)
            with zipfile.ZipFile(path, "w") as archive:
                for member, content in members.items():
                    archive.writestr(member, content)
        else:
            path.write_bytes(mutated(path.read_bytes(), rng))
        try:
            found = encode_cooccurrence(path).matrix
        except W2vnegError as error:
            assert str(path) in str(error), f"seed {seed}"
        else:
            assert found.shape[0] == found.shape[1] <= 4 and np.isfinite(found.data).all()
            assert rewritten or np.array_equal(found.toarray(), expected), f"seed {seed}"
