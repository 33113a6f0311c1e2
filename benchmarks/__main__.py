"""``python -m benchmarks``: the measurements quoted in README and docs."""

from w2vneg.cli import main

from .commands import bench


def run(arguments=None):
    """Run ``python -m benchmarks ARGUMENTS…``; errors are printed as messages, as in ``w2vneg``."""
    main(arguments, command=bench, name="python -m benchmarks")


if __name__ == "__main__":
    run()
