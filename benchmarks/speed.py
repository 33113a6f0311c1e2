"""Speed against rivals: whole epochs of all trainers, interleaved; whole processes, and their start-up times."""

import dataclasses
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .contenders import REFERENCE, ratios

CONTENDERS = (
    "ns shared",
    "ns per window",
    "ns per pair",
    "relaxed shared",
    "relaxed per pair",
    "relaxed, default (n = 10)",
    REFERENCE,
    "fastText maxn=0",
)


def speed_table(timings):
    """Return Markdown: median and range of words/s, median pairs/s, and the median of the ratios within each round."""
    names = list(dict.fromkeys(t.contender for t in timings))
    lines = [
        "| trainer | thousand words/s, median (range) | million pairs/s | times gensim, median (range) |",
        "|---|---|---|---|",
    ]
    for name in names:
        own = [t for t in timings if t.contender == name]
        rates = [t.words / t.seconds / 1e3 for t in own]
        pairs = statistics.median(t.pairs / t.seconds / 1e6 for t in own)
        times = ratios(timings, name, lambda t: t.words / t.seconds)
        ratio = f"{statistics.median(times):.1f} ({min(times):.1f}–{max(times):.1f})" if times else "–"
        lines.append(
            f"| {name} | {statistics.median(rates):,.0f} ({min(rates):,.0f}–{max(rates):,.0f}) | "
            f"{f'{pairs:.2f}' if pairs else '–'} | {ratio} |"
        )
    return "\n".join(lines)


_FIRST_ROUNDS = """
import time
from w2vneg import Word2Vec
from w2vneg.ground.events import RoundDone
rounds = []
class Enough(Exception): pass
def told(event):
    if isinstance(event, RoundDone):
        rounds.append((time.time(), event.tokens))
        if len(rounds) == 2: raise Enough
try:
    Word2Vec(**{options!r}).fit({corpus!r}, listeners=[told])
except Enough:
    pass
for when, tokens in rounds: print(when, tokens)
"""


def seconds_to_train(corpus, options):
    """Start a fresh process on a corpus; return its seconds until it trains and until its first round is done.

    Training starts at the end of the first round minus the time for as many tokens in the second round. With a single
    round it is unknown.

    Returns
    -------
    float or None, float
    """
    begun = time.time()
    code = _FIRST_ROUNDS.format(options=options, corpus=str(corpus))
    told = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout
    (first, tokens), *more = [(float(when) - begun, int(n)) for when, n in map(str.split, told.splitlines())]
    if not more:
        return None, first
    ((second, tokens_by_then),) = more
    return first - (second - first) * tokens / (tokens_by_then - tokens), first


_GENSIM = """
import sys
from gensim.models.word2vec import Word2Vec
o = {options!r}
m = Word2Vec(corpus_file={corpus!r}, sg=1, negative=5, sample=1e-4, min_count=1, max_final_vocab=o['max_vocab'],
             vector_size=o['dim'], window=o['window'], epochs=o['epochs'], workers=o['workers'], alpha={alpha},
             min_alpha={alpha} / 10000, seed=1)
m.wv.save_word2vec_format({output!r})
"""


def whole_processes(corpus, options, repeats, tell=lambda text: None):
    """Time whole processes, from a plain text file to a written vectors file, interleaved; the corpus is never cached.

    Returns
    -------
    dict of str -> list of float, seconds
    """
    seconds = {"w2vneg ns": [], "w2vneg relaxed": [], "gensim": []}
    from w2vneg.ground.jit import cache_folder

    for repeat in range(repeats):
        for name in seconds:
            with tempfile.TemporaryDirectory() as folder:
                output = str(Path(folder) / "vectors.txt")
                environment = os.environ | {"W2VNEG_CACHE": folder, "W2VNEG_JIT_CACHE": str(cache_folder().parent)}
                if name == "gensim":
                    code = _GENSIM.format(options=options, corpus=str(corpus), alpha=0.05, output=output)
                    command = [sys.executable, "-c", code]
                else:
                    flags = [
                        f"--{key.replace('_', '-')}={value}" for key, value in options.items() if value is not None
                    ]
                    command = [
                        sys.executable,
                        "-m",
                        "w2vneg",
                        "train",
                        "--quiet",
                        "--corpus",
                        str(corpus),
                        "--loss",
                        name.split()[1],
                        "--output",
                        output,
                        *flags,
                    ]
                begun = time.perf_counter()
                subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
                seconds[name].append(time.perf_counter() - begun)
            tell(f"round {repeat + 1}, {name}: {seconds[name][-1]:.1f} s")
    return seconds


def machine():
    """Return one line about this machine and the versions that matter."""
    import numba
    import numpy

    model = "unknown CPU"
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return (
        f"{model}, {os.cpu_count()} cores; Python {platform.python_version()}, NumPy {numpy.__version__}, "
        f"Numba {numba.__version__}"
    )


def as_json(timings):
    """Return the single measurements as JSON text."""
    return json.dumps({"machine": machine(), "timings": [dataclasses.asdict(t) for t in timings]}, indent=1)
