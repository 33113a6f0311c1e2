"""``--score``, by what targets are sorted, and ``--fold-in``, new users: recommend and eval ranking share them."""

import click

from .options import option


class _Score(click.ParamType):
    """raw, corrected, a number or slim+W."""

    name = "raw|corrected|LAMBDA|slim+W"

    def convert(self, value, param, ctx):
        if value == "raw":  # the default: nothing heavy is imported for it
            return value
        from ..ground.errors import ConfigError
        from ..vectors.evaluation.scores import fused_weight, share_of

        try:
            if fused_weight(value) is None:
                share_of(value)
        except ConfigError as error:
            self.fail(str(error), param, ctx)
        return value


score_option = option(
    "--score",
    type=_Score(),
    metavar="raw|corrected|LAMBDA|slim+W",
    default="raw",
    common=False,
    help="Rank by raw dot products, or corrected for the popularity that negatives took out; LAMBDA is a share of it. "
    "slim+W adds W times the raw ones to the scores of slim.",
)

fold_in_option = option(
    "--fold-in",
    metavar="FILE",
    help="Pairs of users and items. These users, new or known, get vectors made of these items, which are left out of "
    "their lists.",
)
