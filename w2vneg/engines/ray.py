"""Ranks on a Ray cluster: one actor per rank, which exchange their changes through the object store.

The driver, which is the process that the user has started, sends tasks and holds references; rows go from rank to rank.
A period is three rounds of calls, submitted all at once, and Ray starts each when its arguments arrive:

    train(task)             every rank returns its work and N parts of changes
    merge(task, …)          every owner merges the N parts for it
    apply(…)                every rank applies the merged parts of the N owners

A lost rank, or one on a lost node, is restarted elsewhere. If any rank has reached the next version, then everything
was merged, and the others load the rows of that version. If none has, all repeat the period from the rows of the
version before. Both give the same bits as a run without losses. An error that a rank raises ends the run at once, since
it would be raised again.

The cluster is an existing one, or one on this machine that starts and stops with the run. The latter listens on the
loopback interface only, requires a token that is created for it and never written to a file, starts no dashboard and
sends no usage reports. It ignores leftovers of an earlier cluster, as after a crash.
"""

import functools
import os
import secrets
import socket
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

from .. import __version__
from ..ground.errors import ConfigError, RankError, W2vnegError, require
from .ranks import Rank, Task, Work

_TRIES = 5  # losses in a row, after which the cluster counts as unusable
_PATIENCE = 300.0  # seconds that a rank may take to start


def _reporting(method):
    """Add the rank and its machine to errors: a file may be fine on all other machines."""

    @functools.wraps(method)
    def reporting(self, *arguments):
        try:
            return method(self, *arguments)
        except W2vnegError as error:
            from ray.util import get_node_ip_address

            error.args = (f"rank {self.slot} on {get_node_ip_address()}: {error}",)
            raise
        except Exception as error:
            if _is_lost(error):
                raise
            raise RankError(f"rank {self.slot} failed: {type(error).__name__}: {error}") from error

    return reporting


class RankActor(Rank):
    """A rank as a Ray actor."""

    ready, begin = _reporting(Rank.ready), _reporting(Rank.begin)

    @_reporting
    def open(self, share):
        """Take this rank's share of the data; return the version of w2vneg that this rank runs."""
        self.share = share
        return __version__

    def reached(self):
        """Return the version that this rank has reached (int); None before it has its first rows."""
        return self.version if self.loaded else None

    @_reporting
    def train(self, task):
        """Train a period; return the `Work` and, with several ranks, a part for each owner."""
        work = super().train(task)
        return work if self.n_ranks == 1 else (work, *self._parts())

    def rehearse(self):
        """Return what `train` would if it had changed every row, without training."""
        return Work(0.0, 0, 0.0), *self._parts(made_up=1e-6)

    def _parts(self, **changes):
        """Return the parts for all owners; the one for this rank is kept here and replaced by None."""
        parts = self.changes(**changes)
        self._own, parts[self.slot] = parts[self.slot], None
        return parts

    @_reporting
    def merge(self, task, *works_and_parts):
        """Merge the parts of this owner's rows; arguments are every rank's `Work`, then every rank's part."""
        n = self.n_ranks
        parts = [self._own if part is None else part for part in works_and_parts[n:]]
        return super().merge(task, works_and_parts[:n], parts)

    @_reporting
    def apply(self, *merged):
        """Advance to the next version with the merged parts of all owners."""
        super().apply(merged)


def _is_lost(error):
    """Return whether an error means that a rank, its node or its objects are lost; False for a rank's own errors."""
    from ray import exceptions

    gone = ("RayActorError", "ObjectLostError", "WorkerCrashedError", "NodeDiedError", "ObjectFetchTimedOutError")
    return isinstance(error, tuple(getattr(exceptions, name) for name in gone))


class Crew:
    """The actors of a run; parameters as for `connected`."""

    side_by_side = True  # ranks train at the same time, not one after the other

    def __init__(self, n_ranks, workers, address):
        self._connection = ExitStack()
        self.ray = self._connection.enter_context(connected(address, n_ranks, workers))
        self.n_ranks, self._workers, self._config = n_ranks, workers, None
        self._plan: tuple = ()
        self.ranks, self.lost = [], 0
        with self.beginning():
            self._actor = self.ray.remote(RankActor)
            self.ranks = [self._start(slot) for slot in range(n_ranks)]

    @contextmanager
    def beginning(self):
        """Stop the ranks if the block fails; RankError if one is lost before there is a state to recover from."""
        try:
            yield
        except BaseException as error:
            self.close()
            if _is_lost(error):
                lost = "a rank was lost before training began; check the cluster, then start again"
                raise RankError(lost) from error
            raise

    def open(self, shares):
        """Send every rank its data; shares : iterable of arguments of `RankActor.open`, in order."""
        self._shares = [self.ray.put(share) for share in shares]
        self._open(range(self.n_ranks))

    def _start(self, slot):
        options = {"num_cpus": self._workers, "max_restarts": 0, "max_task_retries": 0, "scheduling_strategy": "SPREAD"}
        return self._actor.options(**options).remote(slot)

    def _open(self, slots):
        ranks = [self.ranks[slot] for slot in slots]
        self._insist_on_a_place(ranks)
        opened = [rank.open.remote(self._shares[slot]) for rank, slot in zip(ranks, slots, strict=True)]
        found = set(self._get(opened)) - {__version__}
        if found:
            versions = f"{found.pop()} and this one {__version__}"
            raise ConfigError(f"a machine of the cluster has w2vneg {versions}; install the same on all")

    def _insist_on_a_place(self, ranks):
        """Wait until all have started; RankError if Ray finds no cores for one: it would wait without a limit."""
        running = [rank.reached.remote() for rank in ranks]
        if missing := len(self.ray.wait(running, num_returns=len(ranks), timeout=_PATIENCE)[1]):
            each = f"each needs {self._workers} free cores of one machine"
            remedy = "check what else runs on the cluster, then start again, or use --resume"
            raise RankError(f"{missing} ranks could not start in {_PATIENCE / 60:.0f} minutes: {each}; {remedy}")

    def ready(self, config):
        self._config = self.ray.put(config)
        return sum(self._get([rank.ready.remote(self._config) for rank in self.ranks]))

    def begin(self, plan, frozen):
        """Let all ranks begin; plan : ExchangesPlanned; frozen : dict of str -> bool array, rows that never move."""
        self._plan = plan, self.ray.put(frozen)
        self._get([rank.begin.remote(*self._plan) for rank in self.ranks])

    def load(self, version, state):
        state = self.ray.put(state)
        self._insist(lambda: self._get([rank.load.remote(version, state) for rank in self.ranks]))

    def state(self):
        return self._insist(lambda: self._get(self.ranks[0].state.remote()))

    def _insist(self, action, done=lambda version: None, recovers=True):
        """Return the result of `action`, repeated while ranks are lost, or of `done` for the version reached."""
        for _ in range(_TRIES):
            try:
                return action()
            except self.ray.exceptions.RayError as error:
                if not _is_lost(error):
                    raise
            if recovers and (found := done(self._insist(self._bring_together, recovers=False))) is not None:
                return found
        raise RankError(f"ranks were lost {_TRIES} times in a row; check the cluster, then use --resume")

    def _get(self, references):
        """Return the values of references; a W2vnegError of a rank is raised unchanged, other errors as RankError."""
        try:
            return self.ray.get(references)
        except self.ray.exceptions.RayTaskError as error:
            if _is_lost(error):
                raise
            cause = error.cause
            raise (cause if isinstance(cause, W2vnegError) else RankError(f"a rank failed: {cause}")) from None

    def period(self, task):
        """Run a `Task` on all ranks; return the `Work` of each."""
        works: list = []

        def do():
            works[:], done = self._send(task)
            self._get(done)
            return self._get(works)

        return self._insist(do, lambda version: self._get(works) if version > task.version else None)

    def _send(self, task):
        ranks, n = self.ranks, self.n_ranks
        if n == 1:
            return [ranks[0].train.remote(task)], [ranks[0].apply.remote()]
        return self._exchange(task, [rank.train.options(num_returns=n + 1).remote(task) for rank in ranks])

    def _exchange(self, task, sent):
        """Advance every rank to the next version; return references to `Work` and to the end of each rank's step.

        sent : list of lists of references, for each rank to its `Work`, then to its parts
        """
        works = [one[0] for one in sent]
        merged = [rank.merge.remote(task, *works, *(one[1 + k] for one in sent)) for k, rank in enumerate(self.ranks)]
        return works, [rank.apply.remote(*merged) for rank in self.ranks]

    def measure(self, n_periods):
        """Return seconds of an exchange of all rows and of an epoch's training; rows must be loaded again then."""
        returns = self.n_ranks + 1
        for number in range(2):  # the first time, compiled code is loaded
            task = Task(number, 0, number, n_periods, (1e-6, 1e-6))
            works = self._get([rank.train.options(num_returns=returns).remote(task)[0] for rank in self.ranks])
            started = time.perf_counter()
            sent = [rank.rehearse.options(num_returns=returns).remote() for rank in self.ranks]
            self._get(self._exchange(task, sent)[1])
            exchange = time.perf_counter() - started
        return exchange, n_periods * max(work.seconds for work in works)

    def _bring_together(self):
        """Bring all ranks to the newest version that any has reached; return it (int)."""
        versions: dict[int, int] = {}
        for slot, rank in enumerate(self.ranks):
            try:
                version = self.ray.get(rank.reached.remote())
            except self.ray.exceptions.RayActorError:
                self.ranks[slot] = self._start(slot)
                self.lost += 1
            else:  # a replacement has none if the rank that should give it rows was lost, too
                versions |= {} if version is None else {slot: version}
        if not versions:
            raise RankError("all ranks were lost at once; check the cluster, then use --resume")
        newest = max(versions.values())
        giver = next(slot for slot, version in versions.items() if version == newest)
        self._open([slot for slot in range(self.n_ranks) if slot not in versions])
        fresh = [rank for slot, rank in enumerate(self.ranks) if slot not in versions]
        self._get([rank.ready.remote(self._config) for rank in fresh])
        self._get([rank.begin.remote(*self._plan) for rank in fresh])
        state = self.ranks[giver].state.remote()
        behind = [rank for slot, rank in enumerate(self.ranks) if versions.get(slot) != newest]
        self._get([rank.load.remote(newest, state) for rank in behind])
        return newest

    def close(self):
        """Stop the ranks, and the cluster if it was started for them."""
        for rank in self.ranks:
            self.ray.kill(rank)
        self.ranks = []
        self._connection.close()


@contextmanager
def connected(address, n_ranks, workers):
    """Yield Ray, connected to a cluster; one started here stops with the block, and the environment is restored.

    address : str or None, of a running cluster; None starts one here. If this process is connected to a cluster
        already, that one is used. n_ranks, workers : int, a rank needs as many cores of one machine as it has workers
    MissingExtraError if Ray is not installed; ConfigError if there is no cluster at the address, or its machines have
        too few cores
    """
    before, ours = dict(os.environ), False
    os.environ.update(_environment(address is None) | before)
    try:
        try:
            ray = require("ray", "ray", "--engine ray")
            ours = not ray.is_initialized()
            if ours:
                _init(ray, address, n_ranks * workers)
            cores = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
            room = sum(each // workers for each in cores)
            if room < n_ranks:
                found = f"the Ray cluster of {sum(cores)} cores on {len(cores)} machines"
                wanted = f"{n_ranks} ranks, {workers} cores each"
                raise ConfigError(f"{found} has room for {room} of {wanted}; lower --ranks or --workers")
        finally:
            names = before.keys() | os.environ.keys()  # Ray sets some, too
            former = {name: before.get(name) for name in names if before.get(name) != os.environ.get(name)}
        yield ray
    finally:
        if ours and ray.is_initialized():
            ray.shutdown()
        for name, value in former.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


@functools.cache
def _environment(starts_one):
    """Return settings that Ray takes from the environment only (dict of str).

    It reads most of them on import, and the token once, so they stay the same throughout the process.
    """
    wanted = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    wanted["RAY_IGNORE_UNHANDLED_ERRORS"] = "1"  # all calls to a lost rank fail, and one error is enough
    wanted["RAY_DEDUP_LOGS_SKIP_REGEX"] = "."  # otherwise it prints messages about lost machines amid our results
    if starts_one:
        if not any(name in os.environ for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")):
            wanted["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
        if "ray" not in sys.modules:
            wanted |= {"RAY_AUTH_MODE": "token", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}  # the latter: loopback only
    return wanted


def check_answers(address):
    """Raise ConfigError if nothing listens at HOST:PORT, ray://HOST:PORT or auto: Ray would wait for minutes."""
    where, start = "", "start one with 'ray start --head', or leave --ray-address out"
    if address == "auto":
        path = Path(tempfile.gettempdir()) / "ray" / "ray_current_cluster"
        address = os.environ.get("RAY_ADDRESS")
        if address is None and path.is_file():
            address = path.read_text(encoding="utf-8").strip()
            where = f"; this address is from {path}, which a cluster that ended without 'ray stop' leaves behind"
        if not address:
            raise ConfigError(f"there is no Ray cluster on this machine; {start}")
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not host or not port.isdecimal():
        raise ConfigError(f"--ray-address must be HOST:PORT or auto, not {address!r}")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=10) as there:
            settings = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])  # the first HTTP/2 frame of either side
            if not (ray_is_there := "RAY_USE_TLS" in os.environ):
                there.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings)
                ray_is_there = there.recv(9)[3:4] == settings[3:4]
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"no Ray cluster answers at {address} ({reason}){where}; {start}") from error
    if not ray_is_there:
        remedy = "use the port that 'ray start --head' prints, usually 6379"
        raise ConfigError(f"the server at {address} is not a Ray cluster{where}; {remedy}")


def _init(ray, address, n_cpus):
    common = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if address is None:
            ray.init(address="local", num_cpus=n_cpus, num_gpus=0, include_dashboard=False, **common)
        else:
            check_answers(address)
            ray.init(address=address, **common)
    except W2vnegError:
        raise
    except Exception as error:  # Ray has no class of its own for a node that does not start in time
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        where = "on this machine" if address is None else f"at {address}"
        raise RankError(f"Ray cannot be used {where} ({reason})") from error
