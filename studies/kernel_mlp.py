"""The YouTube network of Blanc and Rendle 2018 (§4.1.1) in small: three items seen, a deep network, the next item.

The paper's data are not public. This is MovieLens 1M, of whose users half have times at hand (1 to 2999): all items a
user rated, in the order of rating, whatever the rating. A layer of rectified units over the three items' embeddings;
there are no other features of users. Users of validation and test data are not trained on. Otherwise as `kernel-lstm`.
"""

from . import STUDIES, declare
from .kernel_lstm import run
from .networks import Plan
from .sequences import histories, made_up_histories


@STUDIES.register("kernel-mlp")
@declare("kernel", "figure 2, YouTube", minutes=8)
def kernel_mlp(tell, quick, seed, memo):
    """Three items, a deep network, the next item of MovieLens 1M by sampler; quick: made-up histories."""
    if quick:
        task, plan = made_up_histories(150, 3, seed), Plan("mlp", 12, 1, 100, 2, rates=(0.01, 0.03))
        return run(task, plan, {"uniform": (2, 50), "quadratic": (2, 50), "softmax": (2,)}, (tell, seed, memo))
    samples = {"uniform": (5, 20, 80, 320), "quadratic": (5, 20, 80), "softmax": (5, 20)}
    task = histories("ml-1m-half", 3, seed, most=50_000)
    return run(task, Plan("mlp", 32, 3, 256, 3), samples, (tell, seed, memo))
