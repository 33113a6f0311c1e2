"""Weights & Biases, offline: a run in a folder, uploaded only by ``wandb sync``."""

import os

from . import TRACKERS, Tracker, step_of


@TRACKERS.register("wandb")
class WeightsAndBiases(Tracker):
    """``wandb=DIR``; nothing leaves the machine."""

    keeps = "an offline run of Weights & Biases; `wandb sync` uploads it"
    package, extra = "wandb", "wandb"

    def begin(self, options):
        os.makedirs(self.place, exist_ok=True)
        how = self.module.Settings(silent=True, console="off", disable_git=True, save_code=False)
        self._run = self.module.init(project="w2vneg", dir=self.place, mode="offline", config=options, settings=how)

    def log(self, epoch, figures):
        self._run.log(figures | {"epoch": epoch, "step": step_of(epoch)})

    def end(self):
        self._run.finish()
