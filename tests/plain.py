"""Scripts in a process of their own with nothing compiled: many objectives at once, which would take minutes else."""

import json
import os
import subprocess
import sys


def in_plain_python(script):
    """Return what a script prints as JSON, line by line; it finds the modules of this folder."""
    run = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.path.dirname(__file__)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return [json.loads(line) for line in run.stdout.splitlines()]
