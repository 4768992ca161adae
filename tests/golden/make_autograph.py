"""Runs autograph_programs.py with TensorFlow and writes down what comes out: autograph.json.gz, replayed by test_autograph.py."""
import gzip
import json
import logging
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf
from autograph_programs import outcome, programs

logging.getLogger("tensorflow").setLevel(logging.ERROR)
cases = {}
for name, case in programs(tf).items():
    cases[name] = [outcome(tf, case, given) for given in case.calls]
    for found in cases[name]:
        if found.get("says") is False: raise AssertionError(f"{name}: TensorFlow does not say {case.options['says']!r}")
path = pathlib.Path(__file__).with_name("autograph.json.gz")
written = json.dumps({"tensorflow": tf.__version__, "cases": cases}, separators=(",", ":"))
path.write_bytes(gzip.compress(written.encode(), 9, mtime=0))
print(len(cases), "programs,", sum(map(len, cases.values())), "calls,", path.stat().st_size, "bytes")
print({name: [f.get("error") for f in found if "error" in f] for name, found in cases.items() if any("error" in f for f in found)})
