"""Work on threads: every part once, results in order, nothing left running, whatever happens."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from planted import as_text, two_topics

from w2vneg import Word2Vec
from w2vneg.ground.jit import available_threads, launch
from w2vneg.objectives.samplers._boltzmann import BoltzmannExact


@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_every_part_runs_once_and_results_come_in_order(count):
    ran = []

    def work(k):
        ran.append(k)
        return k * k

    assert launch(work, count) == [k * k for k in range(count)]
    assert sorted(ran) == list(range(count))


@pytest.mark.skipif(available_threads() < 2, reason="needs two cores")
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="plain Python runs one after the other")
def test_two_parts_run_side_by_side():
    meeting = threading.Barrier(2, timeout=30)
    launch(lambda k: meeting.wait(), 2)  # either alone would wait in vain


@pytest.mark.parametrize("bad", [0, 1, 5])
def test_an_error_comes_out_when_nothing_runs_any_more(bad):
    running = []

    def work(k):
        running.append(k)
        time.sleep(0.01)
        running.remove(k)
        if k == bad:
            raise ValueError(f"part {k}")

    with pytest.raises(ValueError, match=f"part {bad}"):
        launch(work, 6)
    assert running == []


def test_a_launch_within_a_launch_comes_to_an_end():
    assert launch(lambda k: sum(launch(lambda j: j, 3)), 2 * available_threads()) == [3] * (2 * available_threads())


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="plain Python runs one after the other")
@pytest.mark.skipif(available_threads() < 2, reason="needs two cores")
def test_ctrl_c_comes_out_when_nothing_runs_any_more():
    begun, done = threading.Event(), []

    def work(k):
        if threading.current_thread() is threading.main_thread():
            begun.wait(30)
        else:
            begun.set()
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.3)
            done.append(k)

    with pytest.raises(KeyboardInterrupt):
        launch(work, 2)
    assert len(done) == 1


def test_without_further_threads_this_one_does_it_all(monkeypatch):
    def refuse():
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("w2vneg.ground.jit._helpers", refuse)
    assert launch(lambda k: (k, threading.current_thread()), 3) == [(k, threading.current_thread()) for k in range(3)]


LATE = """
import threading, time
from w2vneg.ground.jit import launch
def work():
    threading.main_thread().join()
    print(launch(abs, 3))
threading.Thread(target=work).start()
"""


def test_a_thread_that_outlives_the_main_one_goes_on():
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "[0, 1, 2]\n"), done.stderr


FORK = """
import os
from w2vneg.ground.jit import launch
launch(abs, 2)
child = os.fork()
if child == 0:
    os._exit(0 if launch(abs, 2) == [0, 1] else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_has_threads_of_its_own():
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_two_runs_at_once_give_what_each_gives_alone():
    sentences = as_text(two_topics()).splitlines()[:100]

    def train(seed):
        options = {"loss": "ns", "dim": 8, "min_count": 1, "epochs": 2, "workers": 2, "subsample": 0}
        return Word2Vec(seed=seed, **options).fit([line.split() for line in sentences]).matrix

    alone = [train(seed) for seed in (1, 2)]
    with ThreadPoolExecutor(2) as both:
        together = list(both.map(train, (1, 2)))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


def test_draws_made_ahead_take_as_many_threads_as_there_are_workers(monkeypatch):
    refresh, seen = BoltzmannExact.refresh, set()

    def watched(*args):
        seen.add(numba.get_num_threads())
        refresh(*args)

    monkeypatch.setattr(BoltzmannExact, "refresh", watched)
    options = {"method": "exact", "dim": 8, "min_count": 1, "epochs": 1, "workers": 1, "subsample": 0}
    Word2Vec(**options).fit([line.split() for line in as_text(two_topics()).splitlines()[:20]])
    assert seen == {1}
