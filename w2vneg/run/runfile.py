"""run.toml of a model folder: the data, the options and the beginning of a run, for ``train --config``.

It says what is computed, never where that is written.
"""

import os

from ..config.spec import to_toml
from ..config.table import options_of_users, table

RUN_FILE = "run.toml"
_EVALUATION = {"metric": "metric", "patience": "patience", "every": "eval-every"}


def run_as_toml(model, folder, told=lambda value: value):
    """Return a run as TOML text (str).

    model : Model; folder : path, where it is kept, for the vocabulary of a run that did not choose its own
    told : function of what is to be written, as JSON can hold it, which returns what is written
    """
    lines = [f"# This run again: w2vneg train --config {RUN_FILE} --save-model DIR"]
    lines += [f"# {sentence}" for sentence in _missing(model, told)]
    values = told(_data(model, folder) | _options(model.config) | _validation(model.best))
    return "\n".join(lines) + "\n" + to_toml(values)


def _missing(model, told):
    """Yield what a file cannot say of this run, in sentences."""
    origin = model.origin
    if not origin.input or "-" in origin.input["files"]:
        yield "Its data were no files; name them, as with --corpus."
    if "update" in origin.begun:
        yield f"It went on with {told(origin.begun['update'])}, by --update, which takes no --config."
    if model.best is not None and not _by_a_set(model.best) and "valid" not in model.best.settings["files"]:
        yield "Its held-out pairs were no file; name them with --valid."


def _data(model, folder):
    origin = model.origin
    values = {}
    if origin.input and "-" not in origin.input["files"]:
        named = dict(origin.input)
        values[named.pop("kind")] = named.pop("files")
        values |= named
    if not origin.own_vocab:
        values["vocab"] = os.path.abspath(os.path.join(folder, "vocab.tsv"))
        if model.vocab_out is not model.vocab:
            values["vocab-out"] = os.path.abspath(os.path.join(folder, "vocab_out.tsv"))
    return values | {name: value for name, value in origin.begun.items() if name in ("init", "freeze")}


def _options(config):
    """Return the options of a resolved configuration by which it comes about again."""
    values = config.as_dict() | {"loss": config.preset or config.loss.name}
    settled = table().keys() - {item.name for item in options_of_users()}
    return {name: value for name, value in values.items() if name not in settled}


def _by_a_set(best):
    from .validation import set_names

    return best.settings["metric"] in set_names()


def _validation(best):
    if best is None:
        return {}
    files = best.settings["files"]
    found = {"valid": files.get("valid"), "valid-exclude-known": files.get("known")}
    return found | {flag: best.settings[name] for name, flag in _EVALUATION.items()}
