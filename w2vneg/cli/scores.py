"""``--score``, by what targets are sorted, and ``--fold-in``, new users: recommend and eval ranking share them."""

import click


class _Score(click.ParamType):
    """raw, corrected or a number."""

    name = "raw|corrected|LAMBDA"

    def convert(self, value, param, ctx):
        from ..ground.errors import ConfigError
        from ..vectors.evaluation.correction import share_of

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

fold_in_option = click.option(
    "--fold-in",
    metavar="FILE",
    help="Pairs of users and items: these users, seen by training or not, get vectors made of these items, which are "
    "left out of their lists.",
)
