"""TensorBoard, via tensorboardX: scalars and options as event files, and the vectors for the projector."""

from ...config.spec import to_toml
from ...vectors import Vectors
from . import TRACKERS, Tracker, step_of

_SHOWN = 10_000  # most frequent words; the browser's projector cannot handle many more


@TRACKERS.register("tensorboard")
class TensorBoard(Tracker):
    """``tensorboard=DIR``, the log directory; a resumed run adds a file to it."""

    keeps = "scalars, options, and the 10,000 most frequent words for the projector"
    package, extra = "tensorboardX", "tensorboard"

    def begin(self, options):
        self._writer = self.module.SummaryWriter(self.place)
        self._writer.add_text("options", "\n".join("    " + line for line in to_toml(options).splitlines()), 0)

    def log(self, epoch, figures):
        for name, value in figures.items():
            self._writer.add_scalar(name, value, step_of(epoch))

    def keep_vectors(self, vectors, counts):
        Vectors(vectors.words[:_SHOWN], vectors.matrix[:_SHOWN], counts[:_SHOWN]).save(self.place, format="projector")

    def end(self):
        self._writer.close()
