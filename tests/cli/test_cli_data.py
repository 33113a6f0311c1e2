"""``w2vneg data list | info | fetch``."""

import json

import pytest

from w2vneg.data import catalog as datasets
from w2vneg.data.catalog import places


@pytest.fixture(autouse=True)
def _bare(monkeypatch, tmp_path):
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("W2VNEG_MIRROR", raising=False)
    monkeypatch.delenv("W2VNEG_DATA", raising=False)
    monkeypatch.setattr(places, "checkout", lambda: None)
    monkeypatch.setattr(places, "_gensim_copy", lambda dataset: None)
    monkeypatch.chdir(tmp_path)


def test_list(run_cli):
    result = run_cli("data", "list")
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[0].split() == ["NAME", "KIND", "HERE", "LICENCE"]
    assert [line.split()[0] for line in lines[1:]] == datasets.names()
    assert all(" no " in line for line in lines[1:] if not line.startswith("builtin"))


def test_list_json(run_cli):
    rows = json.loads(run_cli("data", "list", "--json").out)
    assert [row["name"] for row in rows] == datasets.names()
    assert {row["status"] for row in rows} == {"absent", "made on first use"}
    assert set(rows[0]) == {"name", "kind", "status", "path", "licence", "title"}


@pytest.mark.realdata
def test_list_and_fetch_from_a_mirror(run_cli, mirror, tmp_path):
    rows = {row["name"]: row for row in json.loads(run_cli("data", "list", "--json", "--mirror", mirror).out)}
    assert rows["rw"]["status"] == "mirror"
    result = run_cli("data", "fetch", "rw", "mturk287", "--mirror", mirror)
    assert result.code == 0
    folder = tmp_path / "cache" / "data"
    assert result.out.splitlines() == [f"rw: {folder / 'rw.txt'}", f"mturk287: {folder / 'Mtruk.csv'}"]
    rows = {row["name"]: row for row in json.loads(run_cli("data", "list", "--json").out)}
    assert rows["rw"]["status"] == "cache"


@pytest.mark.parametrize("name", datasets.names())
def test_info(run_cli, name):
    result = run_cli("data", "info", name)
    dataset = datasets.info(name)
    assert (result.code, result.err) == (0, "")
    for fact in (dataset.title, dataset.licence, dataset.citation, dataset.url, dataset.sha256, dataset.md5):
        assert fact in result.out
    assert str(datasets.cache_place(name)) in result.out
    assert "searched in this order" in result.out


def test_info_json(run_cli, tmp_path):
    facts = json.loads(run_cli("data", "info", "ws353", "--json", "--mirror", "/some/mirror").out)
    assert facts["sha256"] == datasets.info("ws353").sha256
    assert facts["cache_place"] == str(tmp_path / "cache" / "data" / "combined.tab")
    assert [place.split(":")[0] for place in facts["resolution_order"]] == [
        "a file called ws353", "the data folder", "the cache",
        "gensim's copy", "the mirror", "the official address",
    ]  # fmt: skip
    assert "/some/mirror" in facts["resolution_order"][4]


@pytest.mark.parametrize("arguments", [("info", "ws535"), ("fetch", "rw", "ws535")])
def test_unknown_name(run_cli, tmp_path, arguments):
    result = run_cli("data", *arguments)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("Error: no data set is named 'ws535'; did you mean 'ws353'")
    assert len(result.err.splitlines()) == 1
    assert not (tmp_path / "cache").exists()


def test_fetch_from_a_mirror_that_is_none(run_cli, tmp_path):
    result = run_cli("data", "fetch", "rw", "--mirror", tmp_path / "nowhere")
    assert (result.code, result.out) == (1, "")
    assert "is not a folder; name an existing one, or an http(s) address" in result.err
    assert "Traceback" not in result.err


def test_fetch_of_a_damaged_mirror_file(run_cli, tmp_path):
    path = tmp_path / "mirror" / "similarity" / "rare-words" / "rw.txt"
    path.parent.mkdir(parents=True)
    path.write_text("not rare words\n")
    result = run_cli("data", "fetch", "rw", "--mirror", tmp_path / "mirror")
    assert result.code == 1
    assert "rw.txt is not the expected rw: expected 92466 bytes, found 15" in result.err
    assert "DAMAGED" in run_cli("data", "list", "--mirror", tmp_path / "mirror").out
    assert not (tmp_path / "cache").exists()


def test_fetch_needs_a_name(run_cli):
    assert run_cli("data", "fetch").code == 2
