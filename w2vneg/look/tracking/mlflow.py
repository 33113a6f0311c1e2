"""MLflow: a run in a database in a local folder."""

import time
from pathlib import Path

from . import TRACKERS, Tracker, step_of

_EXPERIMENT = "w2vneg"
_LONGEST = 500  # characters of a parameter's value


@TRACKERS.register("mlflow")
class MlFlow(Tracker):
    """``mlflow=DIR``; ``mlflow ui --backend-store-uri sqlite:///DIR/mlflow.db`` shows it."""

    keeps = "a run in the database `DIR/mlflow.db`, for `mlflow ui`"
    package, extra = "mlflow", "mlflow"

    def begin(self, options):
        folder = Path(self.place).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        self._client = self.module.MlflowClient(f"sqlite:///{folder / 'mlflow.db'}")
        found = self._client.get_experiment_by_name(_EXPERIMENT)
        if found is None:
            experiment = self._client.create_experiment(_EXPERIMENT, (folder / "artifacts").as_uri())
        else:
            experiment = found.experiment_id
        self._run = self._client.create_run(experiment).info.run_id
        for name, value in options.items():
            self._client.log_param(self._run, name, str(value)[:_LONGEST])

    def log(self, epoch, figures):
        moment, step = int(1000 * time.time()), step_of(epoch)
        metric = self.module.entities.Metric
        named = {name.replace("@", " at "): value for name, value in figures.items()}  # MLflow refuses @
        self._client.log_batch(self._run, [metric(name, value, moment, step) for name, value in named.items()])

    def end(self):
        self._client.set_terminated(self._run)
