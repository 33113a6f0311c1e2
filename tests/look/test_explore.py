"""The explorer: what it answers, and whom."""

import asyncio
import json
import socket
import threading

import numpy as np
import pytest
import scipy.sparse
from item_models import LOGITS, model_of

from w2vneg import Vectors
from w2vneg.ground.errors import ConfigError, UnknownNameError
from w2vneg.look.explore import Answers, parsed
from w2vneg.look.explore.app import Desk, allow_files, listen, make_app
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


def test_the_nearest_are_those_of_the_vectors_and_differences_are_marked():
    one, two = subject(), subject("two", 2)
    first, second = Answers([one, two]).near("king - man + woman", "3")["columns"]
    found = [(entry["word"], entry["score"]) for entry in first["near"]]
    assert found == one.vectors.analogy("man", "king", "woman", k=3)
    shared = {entry["word"] for entry in first["near"]} & {entry["word"] for entry in second["near"]}
    assert [entry["only"] for entry in first["near"]] == [entry["word"] not in shared for entry in first["near"]]
    assert all(not entry["only"] for entry in Answers([one]).near("king")["columns"][0]["near"])


def test_a_word_that_one_of_two_knows_is_answered_by_that_one():
    other = Subject("two", "two", Vectors("xy", np.eye(2)))
    first, second = Answers([subject(), other]).near("king")["columns"]
    assert first["near"] and "no vector for the word 'king'" in second["error"]
    with pytest.raises(ConfigError, match="no vector for the word 'nobody'"):
        Answers([subject(), other]).near("nobody")


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


def test_answers_are_sent_at_once():
    async def accepted():
        told = asyncio.get_running_loop().create_future()

        class Protocol(asyncio.Protocol):
            def connection_made(self, transport):
                told.set_result(transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

        listening = listen()
        async with await asyncio.get_running_loop().create_server(Protocol, sock=listening):
            with socket.create_connection(listening.getsockname(), timeout=10):
                return await told

    assert asyncio.run(accepted())


def test_two_words_compared():
    one = subject()
    found = Answers([one]).compare("king", "queen", "4")["columns"][0]
    order = [word for word, _ in one.vectors.most_similar("king", k=8)]
    assert found["places"][0] == 1 + order.index("queen")
    assert found["cosine"] == one.vectors.similarity("king", "queen")
    least = {w: min(one.vectors.similarity(w, "king"), one.vectors.similarity(w, "queen")) for w in WORDS}
    best = sorted(set(WORDS) - {"king", "queen"}, key=lambda word: -least[word])[:4]
    assert [entry["word"] for entry in found["near"]] == best


def test_what_comes_next_is_what_is_recommended_and_its_reasons_add_up():
    one = items()
    found = Answers([one, subject()]).next("b\nd", "3")
    column = found["columns"][0]
    scored = [(entry["word"], pytest.approx(entry["score"])) for entry in column["near"]]
    assert scored == recommend(one.model, ["b", "d"], 3)
    for entry in column["near"]:
        assert sum(part["score"] for part in entry["why"]) == pytest.approx(entry["score"])
        assert entry["why"] == sorted(entry["why"], key=lambda part: -part["score"])
    assert found["items"][0] == {"word": "b", "title": "Brazil"}
    with pytest.raises(UnknownNameError):
        Answers([one]).next("nobody")
    with pytest.raises(ConfigError, match="an item or more"):
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
    found = answers.next("z", "3")
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


def test_questions_that_are_none_are_told():
    answers = Answers([subject()])
    for kind, asked in (("titles", {}), ("near", {"q": "x" * 501}), ("near", {"q": "king", "k": "-1"})):
        with pytest.raises(ConfigError):
            answers.answer(kind, **asked)


def get(path, host="127.0.0.1:1234", subjects=None, way="none"):
    """Return (status, headers, body) of one request to the application."""
    app = make_app(Answers(subjects or [subject()], way), TOKEN)
    path, _, query = path.partition("?")
    scope = {"type": "http", "method": "GET", "http_version": "1.1", "scheme": "http", "root_path": ""}
    scope |= {"path": path, "raw_path": path.encode(), "query_string": query.encode()}
    scope |= {"headers": [(b"host", host.encode())]}
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, b"".join(part.get("body", b"") for part in sent[1:]).decode()


@pytest.mark.parametrize("path", ["/", "/wrong/", f"/{TOKEN}x/", f"/{TOKEN[:-1]}/api/about", "/wrong/page.js", "/é/"])
def test_without_the_token_nothing_is_answered(path):
    status, _, body = get(path)
    assert status in (403, 404) and "king" not in body and "<html" not in body
    assert status == 403 or path == "/"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:1234", "127.0.0.1.evil.example", "0.0.0.0", ""])
def test_another_host_is_refused_even_with_the_token(host):
    status, _, body = get(f"/{TOKEN}/api/near?q=king", host)
    assert status == 400 and "queen" not in body


def test_page_and_answers_are_served_and_may_load_nothing_else():
    status, headers, body = get(f"/{TOKEN}/")
    assert status == 200 and headers["content-type"].startswith("text/html") and "page.js" in body
    assert "http" not in body.replace("http-equiv", "")
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'") and headers["referrer-policy"] == "no-referrer"
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0] and "http" not in policy
    status, headers, body = get(f"/{TOKEN}/api/near?q=king&k=2")
    assert (status, headers["content-type"]) == (200, "application/json") and len(
        json.loads(body)["columns"][0]["near"]
    ) == 2
    assert headers["x-content-type-options"] == "nosniff"
    for script in ("page.js", "figures.js", "plotly.js"):
        assert get(f"/{TOKEN}/{script}")[1]["content-type"].startswith("text/javascript")
        assert get(f"/wrong/{script}")[0] == 403


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("api/near?q=nobody", 200, "no vector for the word"),
        ("api/other", 200, "no question is called"),
        ("api/near?a=king", 200, "near is asked otherwise: with q, k"),
        ("api/about?q=king", 200, "about is asked otherwise: with nothing"),
        ("api/near?q=king&k=%3Cscript%3E", 200, "expected a number"),
        ("api/map?of=" + 400 * "9", 200, "no vectors are number"),
        ("api/map?of=" + 600 * "9", 200, "at most 500"),
        ("api/word?row=" + 400 * "9", 200, "no row"),
        ("api/near?q=king&k=-1", 200, "expected a number"),
        ("api/near?q=king&k=nan", 200, "expected a number"),
        ("api/near?q=" + 5000 * "a", 200, "at most 500"),
        ("api/near?q", 200, "type a word"),
        ("api/near?q=king&q=nobody", 200, "no vector for the word 'nobody'"),
        ("api/near?q=%ff%ed%a0%80%00", 200, "no vector for the word"),
        ("api/../../etc/passwd", 200, "no question is called"),
        ("api/__init__", 200, "no question is called"),
    ],
)
def test_mistakes_in_questions_are_answers(path, status, message):
    found, _, body = get(f"/{TOKEN}/{path}", way="pca")
    assert found == status and message in json.loads(body)["error"]


def test_words_that_utf_8_has_not_are_answered():
    strange = Subject("one", "one", Vectors(["a", "\ud800"], np.eye(2)))
    status, _, body = get(f"/{TOKEN}/api/near?q=a", subjects=[strange])
    assert status == 200 and json.loads(body)["columns"][0]["near"][0]["word"] == "\ud800"


def test_a_defect_is_no_answer(monkeypatch):
    monkeypatch.setattr(Answers, "complete", lambda self, q="": len(q) + q)
    with pytest.raises(TypeError, match="unsupported operand"):
        get(f"/{TOKEN}/api/complete?q=a")


def test_questions_that_wait_are_answered_in_order_and_equal_ones_once():
    answered = []

    def answer(number):
        answered.append(number)
        if number == 3:
            raise KeyError(number)
        return 10 * number

    async def all_of(numbers):
        desk = Desk(answer)
        return await asyncio.gather(*(desk.ask(number) for number in numbers), return_exceptions=True)

    found = asyncio.run(all_of([1, 2, 1, 3, 4, 2]))
    assert found[:3] + found[4:] == [10, 20, 10, 40, 20] and isinstance(found[3], KeyError)
    assert answered == [1, 2, 3, 4]


def test_more_files_are_allowed_as_far_as_the_system_lets(monkeypatch):
    resource = pytest.importorskip("resource")
    asked = []
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: asked.append(limits))
    for allowed, most in ((256, 1024), (256, resource.RLIM_INFINITY), (5000, 9000), (resource.RLIM_INFINITY,) * 2):
        monkeypatch.setattr(resource, "getrlimit", lambda kind, limits=(allowed, most): limits)
        allow_files(4096)
    assert asked == [(1024, 1024), (4096, resource.RLIM_INFINITY)]


def test_requests_that_wait_can_be_ended():
    entered, go_on = threading.Event(), threading.Event()

    class Slow(Answers):
        def answer(self, kind, **asked):
            entered.set()
            go_on.wait(30)
            return {}

    app = make_app(Slow([subject()]), TOKEN)
    scope = {"type": "http", "method": "GET", "path": f"/{TOKEN}/api/near", "query_string": b"", "root_path": ""}
    scope |= {"headers": [(b"host", b"127.0.0.1")]}

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        pass

    async def ended():
        first = asyncio.create_task(app(dict(scope), receive, send))
        await asyncio.to_thread(entered.wait, 30)
        others = [asyncio.create_task(app(dict(scope), receive, send)) for _ in range(50)]
        await asyncio.wait(others, timeout=0.1)
        for task in others:
            task.cancel()
        _, pending = await asyncio.wait(others, timeout=2)
        go_on.set()
        await asyncio.gather(first, *others, return_exceptions=True)
        return not pending

    assert asyncio.run(ended())


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
    column = answers.near("king - man + woman", "2")["columns"][0]
    assert [WORDS[row] for row in column["asked"]] == ["king", "woman", "man"]
    assert [WORDS[row] for row in column["rows"]] == [entry["word"] for entry in column["near"]]
    for wrong in (lambda: answers.word("9"), lambda: answers.map("2"), Answers([one]).map):
        with pytest.raises(ConfigError):
            wrong()


def test_words_may_hold_blanks():
    vectors = Vectors(["New York", "New", "York"], np.eye(3))
    assert parsed(" New York ", vectors) == (["New York"], [])


def test_a_port_that_is_taken_and_a_missing_package_are_told(tmp_path, run_cli, monkeypatch):
    import socket
    import sys

    monkeypatch.chdir(tmp_path)
    subject().vectors.save("vectors.txt", format="word2vec")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = run_cli("explore", "vectors.txt", "--port", taken.getsockname()[1])
    assert result.code == 1 and "name another with --port" in result.err
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    result = run_cli("explore", "vectors.txt")
    assert result.code == 1 and 'pip install "w2vneg[explore]"' in result.err
