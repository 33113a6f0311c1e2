"""Kill a command at one of its file operations, at a round, or at any moment; see `kill_cases` for what must hold then.

A server imports the package once, runs each command once to load its compiled code, and forks a child for every kill: a
case then costs a few hundredths of a second. The child counts whatever changes files below a folder: what Python's
audit events tell (open to write, rename, remove, mkdir, link, chmod, lock, calls of C with a path), what a file object
hands to the system, and calls such as fsync. A killed child dies before the operation, or half-way through a write.

SIGKILL takes nothing from the system's own buffers, so fsync is counted but not carried out.
"""

import atexit
import builtins
import gc
import io
import json
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import traceback
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import NamedTuple

from w2vneg.ground.files.caches import cache_dir

SAVED_EVERY = 4  # rounds
HUNG = 20.0  # seconds after which a run counts as hanging
_AUDITED = {  # event -> positions of its paths, of their folders' descriptors
    "os.rename": ((0, 1), (2, 3)),
    "os.link": ((0, 1), (2, 3)),
    "os.symlink": ((1,), (2,)),
    "os.remove": ((0,), (1,)),
    "os.rmdir": ((0,), (1,)),
    "os.mkdir": ((0,), (2,)),
    "os.chmod": ((0,), (2,)),
    "os.chown": ((0,), (3,)),
    "os.utime": ((0,), (3,)),
    "os.truncate": ((0,), ()),
    "os.setxattr": ((0,), ()),
    "fcntl.flock": ((0,), ()),
    "fcntl.lockf": ((0,), ()),
}
_CALLS = ("fsync", "fdatasync", "write", "pwrite", "writev", "sendfile", "copy_file_range", "posix_fallocate")
_SKIPPED = ("fsync", "fdatasync")
_CHANGES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Operations:
    """Counts the file operations below a folder, in this process, and kills it at one of them.

    trace : list of [kind, path within the folder, second path or ""]
    """

    def __init__(self):
        self.root, self.at, self.trace, self.without = None, 0, [], ()
        sys.addaudithook(self._heard)
        for name in _CALLS:
            setattr(os, name, self._counting(name, getattr(os, name)))
        self._open = io.open
        builtins.open = io.open = self._opened

    def arm(self, root, at):
        """Count from now on; die at operation `at`, from 1 on, or never if it is 0."""
        self.at, self.trace = at, []
        self.root = os.path.realpath(root)

    def _count(self, kind, paths):
        """Count an operation if it concerns the folder; tell whether it is the last of this process."""
        inside = [path for path in paths if path == self.root or path.startswith(self.root + os.sep)]
        if not inside:
            return False
        first, second, *_ = [os.path.relpath(path, self.root) for path in inside] + [""]
        self.trace.append([kind, first, second])
        return len(self.trace) == self.at

    def _heard(self, event, arguments):
        if event == "ctypes.dlsym" and arguments[1] in self.without:
            raise AttributeError(arguments[1])
        if self.root is None:
            return
        if event == "open":
            path, _, flags = arguments
            changes = not isinstance(path, int) and (flags or 0) & _CHANGES
            paths = [_place(path)] if changes else []
        elif event == "ctypes.call_function":
            paths = [_place(each) for each in arguments[1] if isinstance(each, bytes | str)]
            paths = [path for path in paths if os.path.lexists(path)]  # the rest are other texts
        elif event in _AUDITED:
            places, folders = _AUDITED[event]
            folders = [arguments[k] for k in folders if k < len(arguments)] + [-1, -1]
            paths = [_place(arguments[k], folder) for k, folder in zip(places, folders, strict=False)]
        else:
            return
        if self._count(event, paths):
            os.kill(os.getpid(), signal.SIGKILL)

    def _counting(self, name, function):
        def call(descriptor, *arguments, **options):
            if self.root is None:
                return function(descriptor, *arguments, **options)
            if self._count(name, [_place(descriptor)]):
                os.kill(os.getpid(), signal.SIGKILL)
            return None if name in _SKIPPED else function(descriptor, *arguments, **options)

        return call

    def _opened(self, file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, *more, **others):
        """Open as Python does, but with writes that are counted."""
        if self.root is None or not set(mode) & set("wxa+"):
            return self._open(file, mode, buffering, encoding, errors, newline, *more, **others)
        raw = _Counted(file, mode.replace("b", "").replace("t", ""), *more, **others)
        if buffering == 0:
            return raw
        kind = io.BufferedRandom if "+" in mode else io.BufferedWriter
        stream = kind(raw, buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE)
        return stream if "b" in mode else io.TextIOWrapper(stream, encoding, errors, newline, buffering == 1)

    def wrote(self, file, data):
        """Count a write of a file object; the last one of this process gets half of it to the disk."""
        if self.root is not None and self._count("file.write", [_place(file.fileno())]):
            io.FileIO.write(file, memoryview(data)[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)


class _Counted(io.FileIO):
    def write(self, data):
        operations.wrote(self, data)
        return super().write(data)


def _place(path, folder=-1):
    """Return the absolute path of a path or of an open file's descriptor; "" of anything else."""
    try:
        if isinstance(path, int):
            return os.readlink(f"/proc/self/fd/{path}").removesuffix(" (deleted)")
        path = os.fsdecode(path)
        base = os.readlink(f"/proc/self/fd/{folder}") if isinstance(folder, int) and folder >= 0 else os.getcwd()
        parent, name = os.path.split(os.path.join(base, path))
        return os.path.join(os.path.realpath(parent), name) if name else os.path.realpath(parent)
    except (OSError, TypeError, ValueError):
        return ""


class Ended(NamedTuple):
    """How a run ended.

    code : int, its exit code, or minus the signal that killed it; None if it hung
    trace : list, see `Operations`; rounds : list of float, the share of the run that was done after each round of
        training; both only of a run that was not killed
    said : str, on both streams
    """

    code: int | None
    trace: list
    rounds: list
    said: str


class Server:
    """A process that forks children which run the command line.

    Parameters
    ----------
    scratch : Path
        A folder for what children say.
    without : sequence of str
        Functions of the C library that are to be missing, such as "renameat2".
    """

    def __init__(self, scratch, without=()):
        self.scratch = Path(scratch)
        alone = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        alone["NUMBA_THREADING_LAYER"] = "workqueue"  # the one that starts its threads anew after a fork
        arguments = [sys.executable, __file__, str(self.scratch), *without]
        compiled = {"W2VNEG_JIT_CACHE": str(cache_dir("jit"))}  # shared by all, unless the environment names one
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(arguments, **pipes, text=True, env=compiled | os.environ | alone)

    def warm(self, root, argv):
        """Run a command in the server itself, quietly, so that children find its code compiled and loaded."""
        return self._asked({"warm": True, "root": str(root), "argv": list(map(str, argv))})

    def run(self, root, argv, at=0, send="SIGKILL", round=0, after=None, limit=HUNG):
        """Run a command in `root` and wait for its end.

        Parameters
        ----------
        root : Path
            The current folder, whose operations count; its ``cache`` is W2VNEG_CACHE.
        argv : list of str
        at : int
            SIGKILL at this operation, from 1 on.
        send : str
            The signal for the two that follow.
        round : int
            After so many rounds of training.
        after : float
            After so many seconds.
        limit : float
            Seconds after which a run counts as hanging.
        """
        request = {"root": str(root), "argv": list(map(str, argv)), "at": at, "send": send}
        return self._asked(request | {"round": round, "after": after, "limit": limit})

    def _asked(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError("the server of killed commands has died itself; its reason stands above")
        return Ended(**json.loads(answer))

    def close(self):
        with suppress(BrokenPipeError):  # it has died, as the tests that needed it say
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def _serve(scratch, without):
    """Answer requests until there are no more."""
    operations.without = tuple(without)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # nobody else may answer
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # SIGQUIT would leave one
    for line in sys.stdin:
        request = json.loads(line)
        ended = _warm(request) if request.get("warm") else _forked(request, scratch)
        answers.write(json.dumps(ended._asdict()) + "\n")
        answers.flush()


def _warm(request):
    _settle(request["root"])
    with redirect_stdout(io.StringIO()) as said, redirect_stderr(said):
        code = _main(request["argv"])
    if threading.active_count() > 1:
        raise RuntimeError(f"{request['argv'][0]} left a thread behind; a fork would not have it")
    gc.freeze()  # else the children would copy, page by page, what they only look at
    return Ended(code, [], [], said.getvalue())


def _forked(request, scratch):
    """Run a request in a child; return an `Ended`."""
    for name in ("said", "trace"):
        (scratch / name).unlink(missing_ok=True)
    (scratch / "said").touch()
    child = os.fork()
    if child == 0:
        os._exit(_child(request, scratch))
    process = os.pidfd_open(child)
    if request["after"] is not None and not select.select([process], [], [], request["after"])[0]:
        os.kill(child, getattr(signal, request["send"]))
    hung = not select.select([process], [], [], request["limit"])[0]
    if hung:
        os.kill(child, signal.SIGKILL)
    os.close(process)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said = (scratch / "said").read_text("utf-8", "replace")
    complete = code >= 0 and (scratch / "trace").exists()  # a kill may have cut it short
    trace, rounds = json.loads((scratch / "trace").read_text()) if complete else ([], [])
    return Ended(None if hung else code, trace, rounds, said)


def _child(request, scratch):
    with open(scratch / "said", "wb", 0) as said, open(os.devnull, "rb") as nothing:
        for number, stream in enumerate((nothing, said, said)):
            os.dup2(stream.fileno(), number)
    sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))  # noqa: SIM115
    try:
        _settle(request["root"])
        rounds = _listen(request["round"], getattr(signal, request["send"]))
        operations.arm(request["root"], request["at"])
        code = _main(request["argv"])
        atexit._run_exitfuncs()
        operations.root = None
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # too late
        (scratch / "trace").write_text(json.dumps([operations.trace, rounds]))
    except KeyboardInterrupt:  # before the command began, or after its end
        operations.root, code = None, 130
    except BaseException:
        operations.root = None
        traceback.print_exc()
        code = 99
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def _settle(root):
    os.chdir(root)
    os.environ["W2VNEG_CACHE"] = os.path.join(root, "cache")
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _main(argv):
    from w2vneg.cli import main

    try:
        main(argv)
    except SystemExit as ended:
        return ended.code or 0
    return 0


def _listen(stop, number):
    """Note each round of a training, and send this process a signal after round `stop`; return the list of notes.

    The model is saved after each epoch, and every so many rounds within it: by the clock, no two runs would be alike.
    """
    from w2vneg.ground.events import RoundDone
    from w2vneg.run.checkpoints import Checkpoints
    from w2vneg.run.trainer import Trainer

    rounds = []

    def hear(event):
        if isinstance(event, RoundDone):
            rounds.append(event.fraction)
            if len(rounds) == stop:
                os.kill(os.getpid(), number)

    train = Trainer.train
    Checkpoints.due = lambda checkpoints, epoch_done=False: epoch_done or len(rounds) % SAVED_EVERY == 0
    Trainer.train = lambda trainer, **how: trainer.listeners.append(hear) or train(trainer, **how)
    return rounds


if __name__ == "__main__":
    operations = Operations()
    _serve(Path(sys.argv[1]), sys.argv[2:])
