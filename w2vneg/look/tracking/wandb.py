"""Weights & Biases, offline: a run below a folder, which ``wandb sync`` sends when its owner wants to."""

import os

from ...ground.errors import require
from ...ground.files.atomic import check_folder_writable
from . import TRACKERS, Tracker, step_of


@TRACKERS.register("wandb")
class WeightsAndBiases(Tracker):
    """``wandb=DIR``; nothing leaves the machine."""

    keeps, extra = "a run of Weights & Biases, offline; `wandb sync` sends it when you want to", "wandb"

    def check(self):
        self._wandb = require("wandb", self.extra, "--track wandb")
        check_folder_writable(self.place)

    def begin(self, options):
        os.makedirs(self.place, exist_ok=True)
        settings = self._wandb.Settings(silent=True, console="off", disable_git=True, save_code=False)
        self._run = self._wandb.init(
            project="w2vneg", dir=self.place, mode="offline", config=options, settings=settings
        )

    def log(self, epoch, figures):
        self._run.log(figures | {"epoch": epoch, "step": step_of(epoch)})

    def end(self):
        self._run.finish()
