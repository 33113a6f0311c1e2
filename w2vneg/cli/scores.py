"""``--score``: by what targets are sorted; recommend and eval ranking share it."""

import click


class _Score(click.ParamType):
    """raw, corrected or a number."""

    name = "raw|corrected|LAMBDA"

    def convert(self, value, param, ctx):
        from ..errors import ConfigError
        from ..evaluation.correction import share_of

        try:
            share_of(value)
        except ConfigError as error:
            self.fail(str(error), param, ctx)
        return value


score_option = click.option(
    "--score",
    type=_Score(),
    default="raw",
    show_default=True,
    help="Dot products, or corrected for popularity as negatives were drawn; a number is the share of the correction.",
)
