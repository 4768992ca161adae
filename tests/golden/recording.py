"""Asks TensorFlow, and writes down what it says: shared by the make_*.py scripts here; test_golden.py replays their files.

A file is {"tensorflow": version, "cases": [...]}, gzipped JSON, data only. A case is

    {"f": public name, "x": positional arguments, "k": keywords, "y": result, "g": gradients, "tolerance": if not the usual one,
     "how": which function of both.py calls it, if one does}

"g" holds, for each positional argument, the gradients of sum(result * weight) over all floating results: null for an argument that is
not floating, one value for a tensor (null: none), a list for a list or a composite tensor. Weight i is 7 i mod 5 - 1.5, and for complex
results that times 1 + i/2. "y" is {"error": class} where TensorFlow refuses.

Values: {"a": [dtype, shape, flat values]} a tensor, complex numbers as two values, NaN and infinities as text, strings as Latin-1;
{"x": text} a Python NaN or infinity;
{"d": dtype}; {"s": slice}; {"e": 1} Ellipsis; {"t": tuple}; {"m": {field: value}} a named tuple; {"v": [indices, values, shape]} sparse;
{"r": [flat values, row splits or the one length of rows, ...]} ragged, outermost rows first;
{"i": [values, indices, dense shape]} tf.IndexedSlices; {"h": shape}; {"p": public name}.
"""
import gzip
import json
import operator
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from both import HOW, moving, parts, weight

NAN, INF = float("nan"), float("inf")
FLOATS = ["float16", "bfloat16", "float32", "float64"]
WIDE = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
CASES = []


class Public(str):
    "An argument that is itself a public function, by its name after `tf.`"

    def find(self): return operator.attrgetter(self)(tf)


def number(v):
    v = v.item() if hasattr(v, "item") else v
    if isinstance(v, bytes): return v.decode("latin-1")
    if isinstance(v, bool | int | str): return v
    return float(v) if np.isfinite(v := float(v)) else str(v)


def shortest(v): return v if isinstance(v := number(v), str) else float(np.format_float_scientific(np.float32(v), unique=True))


def flat(array):
    if array.dtype.kind == "c": return [number(part) for v in array.ravel() for part in (v.real, v.imag)]
    return [(shortest if array.dtype.name in ("float16", "bfloat16", "float32") else number)(v) for v in array.ravel()]


def encode(v):
    "`v` as JSON. Raises TypeError for what the format does not know."
    match v:
        case None | bool() | int(): return v
        case Public(): return {"p": str(v)}
        case str(): return v
        case float(): return v if np.isfinite(v) else {"x": str(v)}
        case bytes(): return encode(np.array(v, object))
        case tf.IndexedSlices(): return {"i": encode(parts(tf, v))}
        case tf.SparseTensor(): return {"v": encode(parts(tf, v))}
        case tf.RaggedTensor(): return {"r": encode(parts(tf, v))}
        case tf.TensorShape(): return {"h": v.as_list()}
        case tf.DType(): return {"d": v.name}
        case slice(): return {"s": [v.start, v.stop, v.step]}
        case tuple() if hasattr(v, "_fields"): return {"m": {name: encode(part) for name, part in v._asdict().items()}}
        case tuple(): return {"t": [encode(i) for i in v]}
        case list(): return [encode(i) for i in v]
    if v is Ellipsis: return {"e": 1}
    if isinstance(v, tf.Tensor | np.ndarray | np.generic):
        array = v.numpy() if isinstance(v, tf.Tensor) else v
        array = np.array(array, object) if isinstance(array, bytes) else np.asarray(array)   # text would lose zero bytes at its end
        return {"a": [tf.as_dtype(v.dtype).name, list(array.shape), flat(array)]}
    raise TypeError(f"no way to write down {type(v)}")


def tensors(v):
    "`v` with arrays made tensors, and names made functions."
    if isinstance(v, np.ndarray | np.generic): return tf.constant(v)
    if isinstance(v, Public): return v.find()
    return type(v)([tensors(i) for i in v]) if type(v) in (list, tuple) else v


def record(name, /, *x, tolerance=None, gradient=True, error=None, how=None, **k):
    """One case: the public function `name` after `tf.` (or getitem), applied.

    `error` is the class that TensorFlow 2.4 raises, for when a newer one raises another; `gradient` False leaves the gradients out,
    as is done where TensorFlow has none, which is printed.
    """
    f = operator.getitem if name == "getitem" else Public(name).find()
    inputs, settings = tensors(list(x)), {key: tensors(v) for key, v in k.items()}
    case = {"f": name, "x": encode(list(x)), "k": {key: encode(v) for key, v in k.items()}}
    if how: case["how"] = how
    sources = [moving(tf, v) for v in inputs]
    try:
        with tf.GradientTape() as tape:
            tape.watch([s for found in sources for s in found])
            y = HOW[how](tf, f, *inputs, **settings) if how else f(*inputs, **settings)
            outputs = moving(tf, y)
    except Exception as refused:
        if error is None: raise
        if type(refused).__name__ != error: print(f"{name}: {type(refused).__name__} here, written down as {error}")
        CASES.append(case | {"y": {"error": error}})
        return
    if error: raise AssertionError(f"{name}: TensorFlow does not refuse this")
    case["y"] = encode(list(y) if type(y) is tuple else y)
    if tolerance is not None: case["tolerance"] = tolerance
    if gradient and outputs and any(sources):
        try: found = tape.gradient(outputs, [s for group in sources for s in group], [weight(tf, o) for o in outputs])
        except (LookupError, ValueError, AttributeError, tf.errors.OpError) as lacking:
            print(f"{name}: TensorFlow has no gradient: {str(lacking)[:80]!r}")
        else:
            found = (encode(g if g is None else tf.convert_to_tensor(g)) for g in found)
            case["g"] = [[next(found) for _ in group] if group else None for group in sources]
            case["g"] = [g[0] if g and isinstance(v, tf.Tensor) else g for g, v in zip(case["g"], inputs, strict=True)]
    CASES.append(case)


def refused(name, error, /, *x, **k): record(name, *x, error=error, **k)


def data(shape, dtype, low=-2.0, high=2.0, seed=0):
    "Made-up numbers with two decimals, the same every time."
    rng = np.random.RandomState(seed)
    if dtype == "bool": return rng.randint(0, 2, shape) > 0
    if dtype.startswith("complex"): return np.round(rng.uniform(low, high, shape) + 1j * rng.uniform(low, high, shape), 2).astype(dtype)
    if "int" in dtype: return rng.randint(0 if dtype.startswith("u") else -5, 6, shape).astype(dtype)
    return array(np.round(rng.uniform(low, high, shape), 2), dtype)


def array(values, dtype="float32"): return np.asarray(values).astype(tf.as_dtype(dtype).as_numpy_dtype)


def text(*values): return np.array([v.encode("latin-1") if isinstance(v, str) else v for v in values], object)


def save(path, *parts):
    "Runs `parts` and writes `path`, a .json.gz file beside this one."
    for part in parts:
        before = len(CASES)
        part()
        print(f"{part.__name__}: {len(CASES) - before} cases")
    written = json.dumps({"tensorflow": tf.__version__, "cases": CASES}, separators=(",", ":"), allow_nan=False)
    path = pathlib.Path(__file__).with_name(path)
    path.write_bytes(gzip.compress(written.encode(), 9, mtime=0))
    print(len(CASES), "cases,", path.stat().st_size, "bytes,", len(written), "as text")
