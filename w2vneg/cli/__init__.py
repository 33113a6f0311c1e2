"""The command line: one file per command, loaded when it is called. Nothing imports this package."""

import sys
from importlib import import_module

import click

from ..errors import W2vnegError

_COMMANDS = {  # command -> (module, attribute)
    "train": (".train", "train"),
    "tune": (".tune", "tune"),
    "warmup": (".warmup", "warmup"),
    "eval": (".eval", "evaluate"),
    "nearest": (".nearest", "nearest"),
    "analogy": (".analogy", "analogy"),
    "recommend": (".recommend", "recommend"),
    "export": (".export", "export"),
    "split": (".split", "split"),
    "data": (".data", "data"),
    "doctor": (".doctor", "doctor"),
    "bench": (".bench", "bench"),
    "objectives": (".objectives", "objectives"),
    "reproduce": (".reproduce", "reproduce"),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx):
        return list(_COMMANDS)

    def get_command(self, ctx, name):
        if name not in _COMMANDS:
            return None
        module, attribute = _COMMANDS[name]
        return getattr(import_module(module, __name__), attribute)

    def resolve_command(self, ctx, args):
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from ..errors import did_you_mean

            if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
                error.message = f"no command {args[0]!r}{did_you_mean(args[0], _COMMANDS)}"
            raise


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="w2vneg", message="%(prog)s %(version)s")
def cli():
    """Train and judge word2vec-style embeddings with pluggable negative objectives."""


def main(argv=None):
    """Run the command line; errors of the user's become one message on stderr and exit code 1."""
    try:
        status = cli.main(args=argv, prog_name="w2vneg", standalone_mode=False)
    except W2vnegError as error:
        click.echo(f"Error: {error}", err=True)
        status = 1
    except MemoryError as error:
        click.echo(f"Error: not enough memory ({error}); use a smaller --dim or --max-vocab", err=True)
        status = 1
    except click.exceptions.Abort:
        click.echo("Interrupted.", err=True)
        status = 130
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except click.exceptions.Exit as error:
        status = error.exit_code
    except BrokenPipeError:  # the reader of our output went away: not our error
        sys.stderr.close()
        status = 0
    except KeyboardInterrupt:
        click.echo("Interrupted.", err=True)
        status = 130
    sys.exit(status if isinstance(status, int) else 0)
