"""One line on a terminal, plain lines elsewhere."""

import io
import re

import pytest

from w2vneg.cli import progress
from w2vneg.cli.progress import TrainingProgress, byte_progress
from w2vneg.ground.events import EpochDone, ExchangesDone, ExchangesPlanned, Interrupted, RolledBack, RoundDone


class Terminal(io.StringIO):
    """A stream that calls itself a terminal."""

    def isatty(self):
        return True


def round_at(fraction, seconds=None, epoch=0):
    seconds = 10 * fraction if seconds is None else seconds
    tokens, pairs = int(1e6 * fraction), int(4e6 * fraction)
    return RoundDone(epoch, fraction, tokens, pairs, 0.05 * (1 - fraction), 1.5, 4.1589, seconds)


RUN = [
    *(round_at(k / 30) for k in range(1, 16)),
    EpochDone(1, 2, 500_000, 2_000_000, 2.5, 4.1589, 0.025, 5.0),
    RolledBack(1, 0.4, 0.5),
    round_at(0.4333, 5.5),
    *(round_at(k / 30) for k in range(14, 31)),
    round_at(1.0),
    EpochDone(2, 2, 1_000_000, 2_000_000, 1.25, 4.1589, 0.0, 10.0),
    Interrupted(1, 0.516),
]


def play(stream, events):
    with TrainingProgress(stream) as listener:
        for event in events:
            listener(event)
    return stream.getvalue()


def test_off_a_terminal_epochs_rollbacks_and_interruptions_are_lines(monkeypatch):
    monkeypatch.setattr(progress, "_LINE_EVERY", 1e9)
    text = play(io.StringIO(), RUN)
    assert text.splitlines() == [
        "compiling or loading the kernels",
        "epoch 1/2: loss 2.5000 (at init 4.1589), 2,000,000 pairs, 5.0 s",
        "training diverged; went back to the last good state, alpha now x 0.5",
        "epoch 2/2: loss 1.2500 (at init 4.1589), 2,000,000 pairs, 10.0 s",
        "interrupted after 51.6% of the run",
    ]
    assert "\r" not in text and "\x1b" not in text


def test_ranks_tell_how_often_they_exchange_and_what_it_takes():
    planned = ExchangesPlanned(8, 50_000, 43, 129, 120, 1.9, 0.85)
    few = ExchangesPlanned(8, 200_000, 11, 33, 120, 1.0, None)
    lines = play(io.StringIO(), [planned, few, ExchangesDone(2, 8, 10.0, 1.5, 3, 1.25, 2)]).splitlines()
    assert lines[1:] == [
        "8 ranks, 129 exchanges, one per 50,000 tokens of each rank; alpha x 1.9; predicted: 85% of time in training",
        "8 ranks, 33 exchanges, one per 200,000 tokens of each rank",
        "Warning: fewer than 120 exchanges cost quality; lower --exchange-every to 55,000, or use fewer --ranks",
        "epoch 2: 15% of the time in exchanges; slowest rank 3, 1.25 times the mean; lost ranks: 2",
    ]


def test_off_a_terminal_a_line_now_and_then_tells_how_far(monkeypatch):
    monkeypatch.setattr(progress, "_LINE_EVERY", 0.0)
    lines = play(io.StringIO(), [round_at(0.25), round_at(0.5), round_at(1.0)]).splitlines()
    figures = "100k words/s, 0.40M pairs/s, alpha 0.03750, loss 1.5000 (at init 4.1589)"
    assert lines[1] == f"25.0%: {figures}"
    assert lines[2].startswith("50.0%: ") and lines[2].endswith(", about 5 s left")
    assert lines[3].startswith("100.0%: ") and lines[3].endswith(", about 0 s left")


def test_the_time_left_of_a_resumed_run_counts_from_where_it_began(monkeypatch):
    monkeypatch.setattr(progress, "_LINE_EVERY", 0.0)
    lines = play(io.StringIO(), [round_at(0.8, 2.0), round_at(0.9, 12.0)]).splitlines()
    assert lines[2].endswith(", about 10 s left")


def test_on_a_terminal_there_is_one_bar_and_never_more_than_all():
    text = play(Terminal(), RUN)
    assert "compiling or loading the kernels" in text
    assert "loss 1.5000 (at init 4.1589)" in text
    assert "epoch 1/2" not in text and "training diverged" in text
    shares = [float(share) for share in re.findall(r"(\d+\.\d)%\|", text)]
    assert shares and max(shares) <= 100.0
    assert shares[-1] == 100.0
    assert text.endswith("\n")


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_a_run_without_a_round_ends_cleanly(stream):
    play(stream(), [])
    play(stream(), [Interrupted(0, 0.0)])


def test_the_line_is_closed_after_an_error():
    stream = Terminal()
    with pytest.raises(KeyboardInterrupt), TrainingProgress(stream) as listener:
        listener(round_at(0.5))
        raise KeyboardInterrupt
    assert stream.getvalue().endswith("\n")


def test_standard_error_is_the_default(capsys):
    with TrainingProgress() as listener:
        listener(Interrupted(0, 0.5))
    out, err = capsys.readouterr()
    assert (out, err) == ("", "compiling or loading the kernels\ninterrupted after 50.0% of the run\n")


def test_bytes_off_a_terminal_are_silent():
    stream = io.StringIO()
    with byte_progress("reading", stream) as update:
        update(5, 10)
        update(6, None)
    assert stream.getvalue() == ""


def test_bytes_on_a_terminal_never_exceed_their_total(monkeypatch):
    stream = Terminal()
    with byte_progress("reading", stream) as update:
        for done, total in ((0, None), (5_000, 10_000), (10_000, 10_000), (10_000, 10_000)):
            update(done, total)
    assert all(int(share) <= 100 for share in re.findall(r"(\d+)%\|", stream.getvalue()))


def test_events_as_records():
    record = RolledBack(1, 0.4, 0.5).as_dict()
    assert record == {"event": "RolledBack", "epoch": 1, "fraction": 0.4, "alpha_factor": 0.5}
    assert list(Interrupted(1, 0.5).as_dict()) == ["event", "epoch", "fraction"]


class Interrupting(io.StringIO):
    """A stream in the midst of whose first write a signal's handler writes, as Python's own streams see it."""

    writing = False

    def write(self, text):
        if self.writing:
            raise RuntimeError("reentrant call inside <_io.BufferedWriter name=2>")
        self.writing = True
        progress.BestEffort(self).write("from the handler")
        self.writing = False
        return super().write(text)


def test_a_handler_that_writes_while_its_thread_does_breaks_nothing():
    stream = Interrupting()
    play(stream, [Interrupted(1, 0.5)])
    assert stream.getvalue() == "compiling or loading the kernels\ninterrupted after 50.0% of the run\n"
