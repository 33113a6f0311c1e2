"""The folder of results: what is there, what made it, and the summary of all."""

import json
import math
import re

import pandas as pd
import pytest

from studies import STUDIES, Study, declare, declared
from studies.results import DONE, MISSING, STALE, Results, code_of
from studies.site import listing, names_in_order, write_summary
from studies.verdicts import HOLDS, Claim, verdict
from w2vneg.ground.errors import DataError, OutputError

CLAIM = Claim("RS table 2", "a beats b", "a", "b", "P@15")


def study_of(calls, fails=()):
    """Return a study that notes its calls, fails while there is something in `fails`, and keeps a part."""

    @declare("RS", "table 0")
    def toy(tell, quick, seed, memo):
        """A toy."""
        calls.append(seed)
        value = memo("part", lambda: len(calls))
        if fails:
            raise DataError("no data; fetch them")
        verdicts = [verdict(CLAIM, [1.0, 1.1]), verdict(CLAIM, [1.0])]
        return Study({"t": pd.DataFrame({"x": [value]})}, "Text.", verdicts=verdicts)

    return toy


@pytest.fixture
def only():
    """Leave no study but the toys that a test enters; give the function that enters one."""
    kept = dict(STUDIES)
    STUDIES.clear()
    yield lambda name, study: STUDIES.register(name)(study)
    STUDIES.clear()
    STUDIES.update(kept)


def test_all_runs_what_is_missing_and_says_what_could_not_be_run(run_studies, only, tmp_path):
    first, second, fails = [], [], [True]
    only("toy-one", study_of(first))
    only("toy-two", study_of(second, fails))
    out = tmp_path / "out"
    result = run_studies("all", "--out", out, "--quick")
    assert result.code == 1 and "1 studies could not be run: toy-two" in result.err
    assert "no data; fetch them" in (out / "README.md").read_text(encoding="utf-8")
    fails.clear()
    result = run_studies("all", "--out", out, "--quick")
    assert (result.code, first, second) == (0, [1], [1, 1])
    assert pd.read_csv(out / "toy-two-t.csv")["x"].tolist() == [1]  # the part that was kept, not made again
    text = (out / "README.md").read_text(encoding="utf-8")
    assert "2 of 2 studies" in text and " | 1 | 0 | 1 |" in text  # the same comparisons in both
    assert re.search(
        r"\| RS \| \[toy-one\]\(toy-one.md\) \| table 0 \| commit \S+, seed 1, 0 minutes of trials \| 1, 0, 1 \|", text
    )
    every = (out / "verdicts.md").read_text(encoding="utf-8")
    assert every.count(f"| RS table 2 | a beats b | **{HOLDS}** | P@15 | 1.05 |") == 2
    assert run_studies("all", "--out", out, "--quick").code == 0
    assert (first, second) == ([1], [1, 1])
    assert run_studies("all", "--out", out, "--quick", "--seed", 2).code == 0
    assert (first, second) == ([1, 2], [1, 1, 2])


def test_a_study_that_another_process_makes_is_passed_over(run_studies, only, tmp_path):
    calls = []
    only("toy-one", study_of(calls))
    only("toy-two", study_of(calls))
    results = Results(tmp_path / "out", 1, True)
    results.prepare()
    with results.owned("toy-one"):
        found = run_studies("all", "--out", tmp_path / "out", "--quick")
        alone = run_studies("toy-one", "--out", tmp_path / "out", "--quick")
    assert found.code == 1 and "1 studies could not be run: toy-one" in found.err
    assert alone.code == 1 and "is writing there; wait for it" in alone.err
    assert (len(calls), results.status("toy-two")) == (1, DONE)
    assert run_studies("all", "--out", tmp_path / "out", "--quick").code == 0
    assert (len(calls), results.status("toy-one")) == (2, DONE)


def test_verdicts_of_older_code_stand_beside_those_of_today_or_in_their_place(run_studies, only, tmp_path):
    only("toy-one", study_of([]))
    only("toy-two", study_of([]))
    columns = "study,paper,claim,verdict,measure,difference,interval,seeds,comparisons,draws,commit"
    rows = [f"toy-{n},RS table 2,a beats b,does not hold,P@15,-1,-2 to 0,5,16,rolling,0ld" for n in ("one", "two")]
    (tmp_path / "earlier.csv").write_text("\n".join([columns, *rows]), encoding="utf-8")
    assert run_studies("toy-one", "--out", tmp_path, "--quick", "--commit", "new").code == 0
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert " | 1 | 0 + 1 | 1 |" in text
    assert "| toy-one | a beats b | P@15 | does not hold, rolling | holds; inconclusive |" in text
    every = (tmp_path / "verdicts.md").read_text(encoding="utf-8")
    assert "| – | does not hold, -1 (-2 to 0); rolling, 0ld |" in every
    assert "| toy-two | RS table 2 | a beats b | does not hold | P@15 | -1 | -2 to 0 | 5 | 16 | rolling |" in every
    assert "commit new" in text and every.count("toy-one | RS table 2") == 0
    assert run_studies("page", "--out", tmp_path, "--quick").code == 0
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == text


def test_all_needs_a_place(run_studies, only):
    only("toy", study_of([]))
    result = run_studies("all")
    assert result.code == 1 and "add --out DIR" in result.err


def test_the_list_says_what_is_done(run_studies, only, tmp_path):
    only("toy-one", study_of([]))
    only("toy-two", study_of([]))
    run_studies("toy-two", "--out", tmp_path / "out")
    lines = run_studies("--out", tmp_path / "out").out.splitlines()
    assert lines[0].startswith("RS: Tanielian and Vasile")
    assert [line.split()[3] for line in lines[1:]] == [MISSING, DONE]
    assert [row[4] for row in listing()] == ["", ""]


def test_results_of_another_seed_or_code_are_not_taken_for_these(only, tmp_path):
    only("toy", study_of([]))
    results = Results(tmp_path / "out", 1, False)
    results.prepare()
    assert results.status("toy") == MISSING
    results.write("toy", STUDIES["toy"](print, False, 1, results.memo("toy")), {"f": b"png"}, 2.0, ["abc"])
    assert results.status("toy") == DONE
    assert (tmp_path / "out" / "toy-f.png").read_bytes() == b"png"
    made = results.made("toy")
    assert (made.seconds, made.verdicts[1].low, made.verdicts[0].verdict) == (2.0, -math.inf, HOLDS)
    assert "commit abc, seed 1, 0 minutes of trials" in (tmp_path / "out" / "toy.md").read_text(encoding="utf-8")
    assert Results(tmp_path / "out", 2, False).status("toy") == STALE
    path = tmp_path / "out" / "toy.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(found | {"made_by": found["made_by"] | {"code": "other"}}), encoding="utf-8")
    assert results.status("toy") == STALE
    write_summary(results, {})
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "0 of 1 studies" in text and "commit abc, seed 1, 0 minutes of trials, the study has changed since" in text
    path.write_text("{}", encoding="utf-8")
    assert results.status("toy") == MISSING


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("text")
    with pytest.raises(OutputError, match="cannot write"):
        Results(tmp_path / "file", 1, False).prepare()


def test_every_study_says_what_it_is_of():
    order = names_in_order()
    assert sorted(order) == sorted(STUDIES)
    assert all(len(code_of(STUDIES[name])) == 12 for name in order)
    assert all(declared(name).minutes >= 1 for name in order)  # of one core, in full
    assert {declared(name).paper for name in order if name.startswith("next-")} == {"RS", "CIS"}
    assert (declared("css-figure-1").paper, declared("css-figure-1").shows) == ("CSS", "figure 1")
    silent = {name for name in order if "declared" not in vars(STUDIES[name])}
    assert not [name for name in silent if declared(name).paper == "ours"]  # their names do not tell
