"""A Ray cluster for a run: an existing one, or one on this machine that starts and stops with the run.

A cluster started here listens on the loopback interface only, requires a token that is created for it and never written
to a file, starts no dashboard and sends no usage reports. It ignores leftovers of an earlier cluster, as after a crash.
"""

import functools
import os
import secrets
import socket
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from ..ground.errors import ConfigError, RankError, W2vnegError, require


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
                raise ConfigError(
                    f"the Ray cluster of {sum(cores)} cores on {len(cores)} machines has room for {room} of "
                    f"{n_ranks} ranks, {workers} cores each; lower --ranks or --workers"
                )
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
        raise ConfigError(
            f"the server at {address} is not a Ray cluster{where}; use the port that 'ray start --head' prints, "
            "usually 6379"
        )


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
