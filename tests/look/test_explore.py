"""The explorer: what it answers, and whom."""

import json
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection, RemoteDisconnected

import numpy as np
import pytest
import scipy.sparse
from item_models import LOGITS, model_of
from planted import with_kin

from w2vneg import Vectors, Vocabulary
from w2vneg.ground.errors import ConfigError, UnknownNameError, W2vnegError
from w2vneg.look import explore
from w2vneg.look.explore import Answers, parsed
from w2vneg.look.explore.app import Server
from w2vneg.look.report.subjects import Subject
from w2vneg.vectors.evaluation.recommend import recommend, recommend_new

WORDS = ["king", "queen", "man", "woman", "well-known", "-", "kings", "King", "<script>alert(1)</script>"]
TOKEN = "the-token"


def subject(name="one", seed=1, model=None, titles=None):
    vectors = Vectors(WORDS, np.random.default_rng(seed).normal(size=(len(WORDS), 5)))
    return Subject(name, name, vectors, model, titles=titles or {})


def items():
    model = model_of(LOGITS)
    vectors = Vectors(model.vocab.words, model.vectors_in)
    return Subject("items", "items", vectors, model, titles={"a": "Amélie", "b": "Brazil"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("king", (["king"], [])),
        ("king - man + woman", (["king", "woman"], ["man"])),
        ("man : king :: woman", (["king", "woman"], ["man"])),
        ("well-known + queen", (["well-known", "queen"], [])),
        ("-", (["-"], [])),
        ("- + king", (["-", "king"], [])),
        ("king − queen", (["king"], ["queen"])),
    ],
)
def test_expressions(text, expected):
    assert parsed(text, subject().vectors) == expected


@pytest.mark.parametrize("text", ["", "king queen", "king +", "+ king", "man : king"])
def test_what_is_no_expression_is_told(text):
    with pytest.raises(ConfigError):
        parsed(text, subject().vectors)


def test_the_nearest_are_those_of_the_vectors_and_differences_are_marked(monkeypatch):
    monkeypatch.setattr(explore, "ANSWERS", 3)
    one, two = subject(), subject("two", 2)
    first, second = Answers([one, two]).near("king - man + woman")["columns"]
    found = [(entry["word"], entry["score"]) for entry in first["near"]]
    assert found == one.vectors.analogy("man", "king", "woman", k=3)
    shared = {entry["word"] for entry in first["near"]} & {entry["word"] for entry in second["near"]}
    assert [entry["only"] for entry in first["near"]] == [entry["word"] not in shared for entry in first["near"]]
    assert all(not entry["only"] for entry in Answers([one]).near("king")["columns"][0]["near"])


def test_a_word_that_one_of_two_knows_is_answered_by_that_one():
    other = Subject("two", "two", Vectors("xy", np.eye(2)))
    first, second = Answers([subject(), other]).near("king")["columns"]
    assert first["near"] and "no vector for the word 'king'" in second["error"]
    with pytest.raises(UnknownNameError, match="no vector for the word 'nobody'"):
        Answers([subject(), other]).near("nobody")
    first, second = Answers([other, subject()]).compare("king", "queen")["columns"]
    assert "no vector for the word 'king'" in first["error"] and len(second["places"]) == 2
    with pytest.raises(UnknownNameError, match="no vector for the word 'x'"):
        Answers([subject(), other]).compare("x", "queen")


def test_kin_of_a_word_have_their_rule_and_its_number_of_pairs():
    words = ["walk", "walking", "walked", "talk", "talking"]
    vectors = with_kin(words, [("walk", "walking"), ("talk", "talking")], [("walked", "walking")])
    titled = Subject("one", "one", vectors, titles={"walk": "To walk"})
    answers = Answers([titled, Subject("two", "two", Vectors(words, np.eye(5)))])
    first, second = answers.near("walking")["columns"]
    assert first["kin"] == [
        {"word": "walk", "title": "To walk", "rule": "-ing, 2 pairs"},
        {"word": "walked", "rule": "-ing +ed, 1 pairs"},
    ]
    assert second["kin"] == answers.near("walk + talk")["columns"][0]["kin"] == []


def test_completions_are_the_most_frequent_first_in_any_case():
    words = lambda q: [entry["word"] for entry in Answers([subject()]).complete(q)["words"]]  # noqa: E731
    assert words("KIN") == ["king", "kings", "King"]
    assert words("<") == ["<script>alert(1)</script>"]
    assert words("") == words("zzz") == []
    assert Answers([items()]).complete("mél")["words"] == [{"word": "a", "title": "Amélie"}]


def test_titles_that_hold_what_is_typed_complete_it():
    one = Subject("one", "one", Vectors("abcd", np.eye(4)))
    one.titles = {
        "a": "The  Third\nMan",
        "b": "Man with a Camera",
        "c": "Manhattan, the man's",
        "d": "Brazil",
        "e": "Man",
    }
    words = lambda q: [entry["word"] for entry in Answers([one]).complete(q)["words"]]  # noqa: E731
    assert words("man") == ["a", "b", "c"] and words("third MAN") == ["a"] and words("manman") == []


def test_a_whole_title_stands_for_its_item():
    """With commas and blanks, in any case; half a title only where it is the only one, and an item before a title."""
    one = items()
    one = Subject("items", "items", one.vectors, one.model, titles={"a": "Product 1, blue", "b": "Product 10, blue"})
    answers = Answers([one])
    for typed in ("product 1,  BLUE", "a"):
        assert answers.near(typed) == answers.near("a")
        assert answers.compare(typed, "Product 10, blue") == answers.compare("a", "b")
        assert answers.next(typed) == answers.next("a")
    assert answers.near("10, bl") == answers.near("b")
    for several in ("blue", "product 1"):
        with pytest.raises(W2vnegError):
            answers.near(several)


def test_two_words_compared(monkeypatch):
    monkeypatch.setattr(explore, "ANSWERS", 4)
    one = subject()
    found = Answers([one]).compare("king", "queen")["columns"][0]
    order = [word for word, _ in one.vectors.most_similar("king", k=8)]
    assert found["places"][0] == 1 + order.index("queen")
    assert found["cosine"] == one.vectors.similarity("king", "queen")
    least = {w: min(one.vectors.similarity(w, "king"), one.vectors.similarity(w, "queen")) for w in WORDS}
    best = sorted(set(WORDS) - {"king", "queen"}, key=lambda word: -least[word])[:4]
    assert [entry["word"] for entry in found["near"]] == best


def test_what_comes_next_is_what_is_recommended_and_its_reasons_add_up(monkeypatch):
    monkeypatch.setattr(explore, "ANSWERS", 3)
    one = items()
    found = Answers([one, subject()]).next("b\nd")
    column = found["columns"][0]
    scored = [(entry["word"], pytest.approx(entry["score"])) for entry in column["near"]]
    assert scored == recommend(one.model, ["b", "d"], 3)
    for entry in column["near"]:
        assert sum(part["score"] for part in entry["why"]) == pytest.approx(entry["score"])
        assert entry["why"] == sorted(entry["why"], key=lambda part: -part["score"])
    assert found["items"][0] == {"word": "b", "title": "Brazil"}
    with pytest.raises(UnknownNameError):
        Answers([one]).next("nobody")
    with pytest.raises(ConfigError, match="recommending needs at least one item"):
        Answers([one]).next("\n")
    assert Answers([one]).next("\n".join("abcde"))["columns"][0]["near"] == []
    with pytest.raises(ConfigError, match="trained on items"):
        Answers([subject()]).next("king")


def with_users():
    """Return a subject of two users and three items, of which the first user has one."""
    model = model_of([[0, 1, 2], [2, 1, 0]], words="uv", words_out="uyz")  # an item called as a user is
    model.known = scipy.sparse.csr_matrix(np.array([[0, 0, 1], [0, 0, 0]], np.float32))
    titles = {"u": "Item u", "z": "Item z"}
    vectors = Vectors(model.vocab_out.words, model.vectors_out, noun="item")
    return Subject("one", "one", vectors, model, titles=titles)


def test_of_users_and_items_an_item_is_what_is_asked_for():
    one = with_users()
    answers = Answers([one])
    about = answers.about()
    assert about["next"] and about["users"] and about["subjects"][0]["noun"] == "item"
    assert answers.complete("u")["words"] == [{"word": "u", "title": "Item u"}]
    found = answers.next("z")
    assert found["items"] == [{"word": "z", "title": "Item z"}]
    near = found["columns"][0]["near"]
    expected = recommend_new(one.model, ["z"], 3)
    assert [(entry["word"], pytest.approx(entry["score"], abs=1e-4)) for entry in near] == expected
    assert {entry["word"] for entry in near} == {"u", "y"}
    cosine = one.vectors.similarity("u", "z")
    assert {entry["word"]: entry["why"] for entry in near}["u"] == [
        {"word": "z", "title": "Item z", "score": pytest.approx(cosine, abs=1e-5)}
    ]
    with pytest.raises(UnknownNameError, match="the item 'v'"):
        answers.next("v")


def test_the_list_of_a_user_leaves_out_what_is_had_and_gives_it_as_the_reason():
    one = with_users()
    answers = Answers([one])
    assert answers.complete("V", "users")["words"] == [{"word": "v"}]
    found = answers.user("u")
    assert found["items"] == [{"word": "z", "title": "Item z"}]
    near = found["columns"][0]["near"]
    assert [(entry["word"], pytest.approx(entry["score"])) for entry in near] == [("y", 1.0), ("u", 0.0)]
    assert near[1]["why"][0]["title"] == "Item z"
    assert [entry["word"] for entry in answers.user("v")["columns"][0]["near"]] == ["u", "y", "z"]
    with pytest.raises(UnknownNameError):
        answers.user("nobody")
    with pytest.raises(ConfigError, match="none of these has users"):
        Answers([items()]).user("a")


def test_an_item_or_a_user_that_one_of_two_knows_is_answered_by_that_one():
    other = model_of(LOGITS, words="vwxyz")
    other = Subject("other", "other", Vectors(other.vocab.words, other.vectors_in), other)
    first, second = Answers([other, items()]).next("a")["columns"]
    assert "the model does not know the item 'a'" in first["error"] and second["near"]
    one, two = with_users(), with_users()
    two.model.vocab = Vocabulary(["v", "w"], [2, 1])
    found = Answers([two, one]).user("u")
    assert "the model does not know the user 'u'" in found["columns"][0]["error"] and found["columns"][1]["near"]
    assert found["items"] == [{"word": "z", "title": "Item z"}]
    with pytest.raises(UnknownNameError, match="the user 'nobody'"):
        Answers([two, one]).user("nobody")


def test_questions_that_are_none_are_told():
    answers = Answers([subject()])
    for kind, asked in (("titles", {}), ("near", {"q": "x" * 501})):
        with pytest.raises(ConfigError):
            answers.answer(kind, **asked)


@contextmanager
def served(answers):
    with Server(answers, TOKEN) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def get(path, host="127.0.0.1:1234", subjects=None, way="none", method="GET"):
    """Return (status, headers, body) of one request to a server."""
    with served(Answers(subjects or [subject()], way)) as server:
        return fetched(server, path, host, method)


def fetched(server, path, host="127.0.0.1", method="GET"):
    connection = HTTPConnection(*server.server_address, timeout=30)
    with closing(connection):
        connection.putrequest(method, path, skip_host=True)
        connection.putheader("Host", host)
        connection.endheaders()
        response = connection.getresponse()
        return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read().decode()


@pytest.mark.parametrize(
    "path",
    ["/", "/wrong/", "/wrong", f"/{TOKEN}x/", f"/{TOKEN}x", f"/{TOKEN[:-1]}/api/about", "/wrong/page.js", "/%C3%A9/"],
)
def test_without_the_token_nothing_is_answered(path):
    status, headers, body = get(path)
    assert "location" not in headers
    assert status in (403, 404) and "king" not in body and "<html" not in body
    assert status == 403 or path == "/"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:1234", "127.0.0.1.evil.example", "0.0.0.0", ""])
def test_another_host_is_refused_even_with_the_token(host):
    status, _, body = get(f"/{TOKEN}/api/near?q=king", host)
    assert status == 400 and "queen" not in body


@pytest.mark.parametrize("host", ["LocalHost", "LOCALHOST:1234", "127.0.0.1"])
def test_this_machine_has_its_name_in_any_case(host):
    assert get(f"/{TOKEN}/api/near?q=king", host)[0] == 200


@pytest.mark.parametrize("path", [f"/{TOKEN}", f"/{TOKEN}?x"])
def test_the_address_without_its_end_leads_to_the_page(path):
    status, headers, _ = get(path)
    assert (status, headers["location"]) == (301, f"/{TOKEN}/")
    assert get(headers["location"])[0] == 200
    assert get(path, "evil.example")[0] == 400


@pytest.mark.parametrize("path", [f"/{TOKEN}/", f"/{TOKEN}/api/near?q=king", f"/{TOKEN}", "/wrong/"])
def test_head_is_answered_without_a_body(path):
    assert get(path, method="HEAD") == (*get(path)[:2], "")


def test_page_and_answers_are_served_and_may_load_nothing_else():
    status, headers, body = get(f"/{TOKEN}/")
    assert status == 200 and headers["content-type"].startswith("text/html") and "page.js" in body
    assert "http" not in body.replace("http-equiv", "")
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'") and headers["referrer-policy"] == "no-referrer"
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0] and "http" not in policy
    status, headers, body = get(f"/{TOKEN}/api/near?q=king")
    assert (status, headers["content-type"]) == (200, "application/json")
    assert len(json.loads(body)["columns"][0]["near"]) == len(WORDS) - 1
    assert headers["x-content-type-options"] == "nosniff"
    for script in ("page.js", "figures.js", "plotly.js"):
        assert get(f"/{TOKEN}/{script}")[1]["content-type"].startswith("text/javascript")
        assert get(f"/wrong/{script}")[0] == 403


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("api/near?q=nobody", 200, "no vector for the word"),
        ("api/other", 200, "unknown question"),
        ("api/near?a=king", 200, "near takes other arguments: q"),
        ("api/about?q=king", 200, "about takes other arguments: nothing"),
        ("api/map?of=" + 400 * "9", 200, "no vectors have number"),
        ("api/map?of=" + 600 * "9", 200, "at most 500"),
        ("api/word?row=" + 400 * "9", 200, "no row"),
        ("api/near?q=" + 5000 * "a", 200, "at most 500"),
        ("api/near?q", 200, "type a word"),
        ("api/near?q=king&q=nobody", 200, "no vector for the word 'nobody'"),
        ("api/near?q=%ff%ed%a0%80%00", 200, "no vector for the word"),
        ("api/../../etc/passwd", 200, "unknown question"),
        ("api/__init__", 200, "unknown question"),
    ],
)
def test_mistakes_in_questions_are_answers(path, status, message):
    found, _, body = get(f"/{TOKEN}/{path}", way="pca")
    assert found == status and message in json.loads(body)["error"]


def test_words_that_utf_8_has_not_are_answered():
    strange = Subject("one", "one", Vectors(["a", "\ud800"], np.eye(2)))
    status, _, body = get(f"/{TOKEN}/api/near?q=a", subjects=[strange])
    assert status == 200 and json.loads(body)["columns"][0]["near"][0]["word"] == "\ud800"


def test_a_defect_is_no_answer_and_is_told_with_its_traceback(monkeypatch, capsys):
    monkeypatch.setattr(Answers, "complete", lambda self, q="": len(q) + q)
    with served(Answers([subject()])) as server:
        with pytest.raises(RemoteDisconnected):
            fetched(server, f"/{TOKEN}/api/complete?q=a")
        assert fetched(server, f"/{TOKEN}/api/near?q=king")[0] == 200
    assert "TypeError: unsupported operand" in capsys.readouterr().err


def test_one_question_is_answered_at_a_time_and_what_the_page_is_about_at_once():
    asked, go_on, at_work, most = threading.Event(), threading.Event(), [], []

    class Slow(Answers):
        def near(self, q=""):
            at_work.append(q)
            most.append(len(at_work))
            asked.set()
            go_on.wait(30)
            at_work.remove(q)
            return q

    with served(Slow([subject()])) as server, ThreadPoolExecutor() as pool:
        found = [pool.submit(fetched, server, f"/{TOKEN}/api/near?q={number}") for number in range(3)]
        asked.wait(30)
        assert fetched(server, f"/{TOKEN}/api/about")[0] == 200
        go_on.set()
        assert [one.result()[2] for one in found] == ["0", "1", "2"] and most == [1, 1, 1]


def test_the_page_writes_words_as_text_only():
    script = get(f"/{TOKEN}/page.js")[2] + get(f"/{TOKEN}/figures.js")[2]
    assert not [
        name for name in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(") if name in script
    ]


def test_a_map_is_the_report_s_and_its_points_are_asked_for_by_row():
    one = subject(titles={"king": "The King"})
    answers = Answers([one, subject("two", 2)], "pca")
    figure = json.loads(answers.map("0"))
    assert figure["data"][0]["text"][:2] == ["The King", "queen"] and answers.map("0") is answers.map("0")
    assert answers.word("1", "1") == {"word": "queen"} and answers.word("0")["title"] == "The King"
    column = answers.near("king - man + woman")["columns"][0]
    assert [WORDS[row] for row in column["asked"]] == ["king", "woman", "man"]
    assert [WORDS[row] for row in column["rows"]] == [entry["word"] for entry in column["near"]]
    for wrong in (lambda: answers.word("9"), lambda: answers.map("2"), Answers([one]).map):
        with pytest.raises(ConfigError):
            wrong()


def test_words_may_hold_blanks():
    vectors = Vectors(["New York", "New", "York"], np.eye(3))
    assert parsed(" New York ", vectors) == (["New York"], [])


def test_a_port_that_is_taken_and_a_missing_package_are_told(tmp_path, run_cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    subject().vectors.save("vectors.txt", format="word2vec")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = run_cli("explore", "vectors.txt", "--map", "none", "--port", taken.getsockname()[1])
    assert result.code == 1 and "name another with --port" in result.err
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    result = run_cli("explore", "vectors.txt")
    assert result.code == 1 and 'pip install "w2vneg[' in result.err
