"""Ranks on Ray: the bits of the same ranks in one process, whatever is lost on the way. Real Ray, on this machine."""

import os
import socketserver
import subprocess
import sys
import threading
from importlib.util import find_spec

import numpy as np
import pytest
from planted import as_text, two_topics

from w2vneg import Word2Vec
from w2vneg.data.encoded import encode_corpus
from w2vneg.engines.ray import Crew, check_answers, connected
from w2vneg.ground.errors import ConfigError, InputError, RankError
from w2vneg.ground.events import RolledBack, RoundDone
from w2vneg.run.assembly import Share

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning", "ignore::DeprecationWarning"),
]
SMALL = {"dim": 8, "window": 3, "subsample": 0, "min_count": 1, "epochs": 2, "workers": 1, "loss": "ns", "ranks": 3}


@pytest.fixture(scope="module")
def planted():
    return encode_corpus(two_topics(), min_count=1)


def environment():
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


@pytest.fixture(scope="module", autouse=True)
def ray():
    """Ray, connected to a cluster that runs of these tests find and leave."""
    before = environment()
    with connected(None, 4, 1) as ray:
        yield ray
    assert environment() == before


def bits(model):
    return {name: np.array(matrix).tobytes() for name, matrix in model.matrices().items()}


@pytest.fixture(scope="module")
def expected(planted):
    return bits(Word2Vec(**SMALL, engine="virtual").trainer(planted).train())


def test_a_cluster_of_ones_own_is_reached_from_here_only_and_by_a_token(ray):
    assert {node["NodeManagerAddress"] for node in ray.nodes()} == {"127.0.0.1"}
    assert ray._private.authentication.authentication_utils.is_token_auth_enabled()


def test_ray_is_virtual_to_the_bit(ray, planted, expected):
    trainer = Word2Vec(**SMALL, engine="ray").trainer(planted)
    ray.kill(trainer.engine.crew.ranks[1])  # whoever takes its place is handed the same share
    assert bits(trainer.train()) == expected
    assert (
        trainer.engine.crew.ranks == [] and trainer.engine.replica.healthy()
    )  # what it has is there when the ranks have gone


def test_one_rank_is_this_machine_alone(planted):
    local = Word2Vec(**SMALL | {"ranks": None}).trainer(planted).train()
    assert bits(Word2Vec(**SMALL | {"ranks": 1}, engine="ray").trainer(planted).train()) == bits(local)


def test_ranks_that_are_killed_come_back_and_nobody_can_tell(ray, planted, expected):
    trainer = Word2Vec(**SMALL, engine="ray").trainer(planted)  # whoever takes a place is handed the same share
    crew, struck = trainer.engine.crew, []
    send = crew._send
    strikes = {20: (1,), 40: (2,), 60: (0,), 80: (0, 2)}  # version -> who; while training, merging, applying, training

    def kill(version):
        struck.append(version)
        for slot in strikes[version]:
            ray.kill(crew.ranks[slot])

    def send_and_kill(task):
        due = task.version in strikes and task.version not in struck
        if due and task.version in (20, 80):
            kill(task.version)
        works, done = send(task)
        if due and task.version in (40, 60):
            ray.wait(works if task.version == 40 else done, num_returns=3 if task.version == 40 else 1)
            kill(task.version)
        return works, done

    crew._send = send_and_kill
    assert bits(trainer.train()) == expected
    assert struck == list(strikes)


def test_a_rank_that_is_lost_while_another_comes_back(ray, planted, expected):
    trainer = Word2Vec(**SMALL, engine="ray").trainer(planted)
    crew, reopen = trainer.engine.crew, trainer.engine.crew._open
    ray.kill(crew.ranks[0])

    def open_and_kill(slots):
        reopen(slots)
        if slots == [0]:
            ray.kill(crew.ranks[1])  # whose rows the first was to get

    crew._open = open_and_kill
    assert bits(trainer.train()) == expected
    assert crew.lost == 2


def test_going_back_reaches_the_ranks_and_so_does_a_loss_between_periods(ray, planted):
    trainer, told = Word2Vec(**SMALL, engine="ray").trainer(planted), []

    def spoil(event):
        if isinstance(event, RoundDone) and event.fraction > 0.3 and RolledBack not in map(type, told):
            ray.kill(trainer.engine.crew.ranks[0])
            state = {name: rows.copy() for name, rows in trainer.engine.crew.state().items()}
            ray.kill(trainer.engine.crew.ranks[2])
            state["vectors_out"][:] = np.nan
            trainer.engine.crew.load(trainer.engine.version, state)
        told.append(event)

    trainer.listeners.append(spoil)
    model = trainer.train()
    assert RolledBack in map(type, told) and np.isfinite(model.vectors_out).all()


def test_what_a_rank_raises_ends_the_run_with_its_message(planted):
    crew = Word2Vec(**SMALL, engine="ray").trainer(planted).engine.crew
    with pytest.raises(RankError, match="rank 1 failed: AttributeError"):
        crew._get(crew.ranks[1].train.remote(None))
    crew.close()
    isolated = encode_corpus([*[list("abcd")] * 4, *[[word] for word in "abcdabcdab"]], min_count=1)
    with pytest.raises(InputError, match="no pair to train on"):
        Word2Vec(**SMALL, engine="ray").trainer(isolated)


def test_all_ranks_lost_is_the_end(ray, planted):
    trainer = Word2Vec(**SMALL, engine="ray").trainer(planted)
    for rank in trainer.engine.crew.ranks:
        ray.kill(rank)
    with pytest.raises(RankError, match=r"all ranks were lost at once.*--resume"):
        trainer.train()


def test_a_rank_that_is_lost_before_training_ends_the_run(ray, planted):
    crew = Crew(1, 1, None)
    crew.open([Share(planted.share(0, [0, 1]))])
    ray.kill(crew.ranks[0])
    with pytest.raises(RankError, match="lost before training began"), crew.beginning():
        crew.ready(None)
    assert crew.ranks == []


def test_too_small_a_cluster_is_refused(planted):
    with pytest.raises(ConfigError, match=r"of 4 cores on 1 machines has room for 2 of 3 ranks, 2 cores each; lower"):
        Word2Vec(**SMALL | {"workers": 2}, engine="ray").trainer(planted)


def test_ranks_that_find_no_place_are_not_waited_for_for_ever(monkeypatch):
    crew = Crew(4, 1, None)
    crew._insist_on_a_place(crew.ranks)
    monkeypatch.setattr("w2vneg.engines.ray._PATIENCE", 1.0)
    with pytest.raises(RankError, match=r"2 ranks could not start .* each needs 1 free cores"):
        crew._insist_on_a_place([crew._start(slot) for slot in (4, 5)])
    crew.close()


def test_what_is_no_ray_is_seen_at_once():
    class Server(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(100)
            self.request.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with socketserver.TCPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.handle_request).start()
        with pytest.raises(ConfigError, match=r"the server at 127.0.0.1:\d+ is not a Ray cluster; .*usually 6379"):
            check_answers(f"127.0.0.1:{server.server_address[1]}")


@pytest.mark.parametrize("left", ["", "127.0.0.1:1"], ids=["none", "ended uncleanly"])
def test_no_cluster_at_an_address_is_refused(monkeypatch, tmp_path, left):
    with pytest.raises(ConfigError, match=r"no Ray cluster answers at 127.0.0.1:1 .*ray start --head"):
        check_answers("127.0.0.1:1")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    if left:
        (tmp_path / "ray").mkdir()
        (tmp_path / "ray" / "ray_current_cluster").write_text(left)
    with pytest.raises(
        ConfigError, match=r"ray_current_cluster.*ended without .*ray stop" if left else "no Ray cluster"
    ):
        check_answers("auto")


def test_the_command_starts_a_cluster_and_ends_it(tmp_path):
    corpus = str(tmp_path / "text")
    (tmp_path / "text").write_text(as_text(two_topics()))
    options = "--dim 8 --window 3 --subsample 0 --min-count 1 --epochs 2 --workers 1 --loss ns --ranks 2"
    for engine in ("ray", "virtual"):
        command = [sys.executable, "-m", "w2vneg", "train", "--corpus", corpus, *options.split()]
        command += ["--engine", engine, "--output", str(tmp_path / engine)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert run.returncode == 0, run.stderr
        assert "2 ranks, 122 exchanges" in run.stderr and "slowest rank" in run.stderr
    assert (tmp_path / "ray").read_bytes() == (tmp_path / "virtual").read_bytes()
