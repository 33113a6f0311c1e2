"""Several machines, played by network namespaces of this one: a head and two nodes, of which one is cut off mid-run."""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from planted import as_text, two_topics

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed"),
    pytest.mark.skipif(shutil.which("ip") is None or os.geteuid() != 0, reason="only root makes network namespaces"),
]
_DRIVER = """
import sys
import numpy as np
from w2vneg import Input, Word2Vec
from w2vneg.ground.events import ExchangesDone, RoundDone

corpus, engine, address = sys.argv[1:]
options = {"dim": 8, "window": 3, "subsample": 0, "min_count": 1, "epochs": 2, "workers": 1, "loss": "ns", "ranks": 2}
word2vec = Word2Vec(**options, engine=engine, **({"ray_address": address} if address else {}))
trainer = word2vec.trainer(word2vec.encode(Input("corpus", corpus)))
told = {}

def listen(event):
    if isinstance(event, ExchangesDone):
        told["lost"] = event.lost
    if address and not told and isinstance(event, RoundDone) and event.fraction > 0.3:
        told["lost"] = 0
        print("cut", flush=True)
        sys.stdin.readline()

trainer.listeners.append(listen)
model = trainer.train()
print(told["lost"], *(np.array(matrix).tobytes().hex() for matrix in model.matrices().values()))
"""


class Hosts:
    """Namespaces with an address each, all at one switch; names : list of str"""

    def __init__(self, names):
        self.addresses = {name: f"10.77.0.{k}" for k, name in enumerate(names, 1)}
        self.switch, self._tag, self._processes = f"w{os.getpid()}s", f"w{os.getpid()}", []
        self.folder = Path(tempfile.mkdtemp(prefix="w2v", dir="/tmp"))  # a short path, as sockets want it
        quick = {"period_ms": 500, "timeout_ms": 2000, "failure_threshold": 5}  # else a cut is seen after half a minute
        self.environment = {
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "1",  # a local cluster of another test has said 0: loopback only
            **{f"RAY_health_check_{name}": str(value) for name, value in quick.items()},
        }

    def _ip(self, *arguments):
        subprocess.run(["ip", *arguments], check=True, capture_output=True, timeout=20)

    def __enter__(self):
        try:
            self._connect()
        except subprocess.CalledProcessError as error:
            self.__exit__()
            pytest.skip(f"no network namespaces here: {error.stderr.decode().strip()}")
        return self

    def _connect(self):
        self._ip("netns", "add", self.switch)
        self._ip("-n", self.switch, "link", "add", "bridge", "type", "bridge")
        self._ip("-n", self.switch, "link", "set", "bridge", "up")
        for name, address in self.addresses.items():
            host = self._tag + name
            self._ip("netns", "add", host)
            self._ip("-n", self.switch, "link", "add", name, "type", "veth", "peer", "name", "net0", "netns", host)
            self._ip("-n", self.switch, "link", "set", name, "master", "bridge", "up")
            self._ip("-n", host, "link", "set", "lo", "up")
            self._ip("-n", host, "addr", "add", f"{address}/24", "dev", "net0")
            self._ip("-n", host, "link", "set", "net0", "up")
            self._ip("-n", host, "route", "add", "default", "dev", "net0")  # Ray asks for the way out; there is none

    def cut(self, name):
        self._ip("-n", self.switch, "link", "set", name, "down")

    def start(self, name, *command, **options):
        """Start a command on a host; returns the Popen."""
        command = ["ip", "netns", "exec", self._tag + name, sys.executable, *command]
        self._processes.append(subprocess.Popen(command, env=self.environment, text=True, **options))
        return self._processes[-1]

    def ray(self, name, *options):
        """Start Ray on a host, and wait until it is there."""
        starting = self.start(
            name, "-m", "ray.scripts.scripts", "start", f"--node-ip-address={self.addresses[name]}", *options,
            "--object-store-memory=100000000", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        output = starting.communicate(timeout=60)[0]
        assert starting.returncode == 0, output

    def __exit__(self, *exc):
        for host in [self.switch, *(self._tag + name for name in self.addresses)]:
            pids = subprocess.run(["ip", "netns", "pids", host], capture_output=True, text=True, check=False).stdout
            for pid in map(int, pids.split()):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        for process in self._processes:
            process.wait()
        for host in [self.switch, *(self._tag + name for name in self.addresses)]:
            subprocess.run(["ip", "netns", "delete", host], capture_output=True, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


def test_a_machine_that_is_cut_off_costs_no_bit(tmp_path):
    corpus = str(tmp_path / "text")
    (tmp_path / "text").write_text(as_text(two_topics()))
    alone = [sys.executable, "-c", _DRIVER, corpus, "virtual", ""]
    expected = subprocess.run(alone, capture_output=True, text=True, timeout=120, check=True).stdout.split()
    with Hosts(["head", "one", "two"]) as hosts:
        address = f"{hosts.addresses['head']}:6379"
        hosts.ray("head", "--head", "--num-cpus=0", "--include-dashboard=false", f"--temp-dir={hosts.folder}")
        for node in ("one", "two"):
            hosts.ray(node, f"--address={address}", "--num-cpus=2")
        driver = hosts.start(
            "head", "-c", _DRIVER, corpus, "ray", address, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        assert driver.stdout.readline() == "cut\n", driver.communicate()[1]
        hosts.cut("two")
        output, errors = driver.communicate("\n", timeout=120)
        assert driver.returncode == 0, errors
    lost, *matrices = output.split()
    assert lost == "1"  # the rank that was cut off, and no other
    assert matrices == expected[1:]
