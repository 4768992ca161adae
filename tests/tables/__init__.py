"""The tables that the sweep of test_ops.py reads, one module for each family of ops; a module may leave out a table.

CASES        op -> list of (inputs, settings), for an op that needs more than positive numbers of shape (2, 3)
NARROW       op -> inputs, for an elementwise op whose domain is smaller
KINKED       ops whose slope jumps where two inputs meet: in a coarse dtype they may meet
NO_GRADIENT  ops without any derivative; NOT_MOVING: op -> inputs without one
PLAIN        names in the registry that are functions of ops
TYPES        "FLOATING | BOOL" -> names of the ops that take these types; a second entry beside the declaration, so that a change is noticed
"""
from importlib import import_module
from pkgutil import iter_modules

FAMILIES = [import_module(f"tables.{found.name}") for found in iter_modules(__path__) if found.name != "inputs"]


def words(table): return set(table.split()) if isinstance(table, str) else set(table)


def merged(name):
    "All entries of the dictionaries called `name`. Raises ValueError when two families hold the same key."
    pairs = [pair for family in FAMILIES for pair in getattr(family, name, {}).items()]
    if len(pairs) != len(dict(pairs)): raise ValueError(f"{name}: two families describe the same op")
    return dict(pairs)


CASES, NARROW, NOT_MOVING = merged("CASES"), merged("NARROW"), merged("NOT_MOVING")
KINKED, NO_GRADIENT, PLAIN = (set().union(*(words(getattr(f, name, ())) for f in FAMILIES)) for name in ("KINKED", "NO_GRADIENT", "PLAIN"))
TYPES = {}
for family in FAMILIES:
    for types, names in getattr(family, "TYPES", {}).items(): TYPES[types] = f"{TYPES.get(types, '')} {names}"
