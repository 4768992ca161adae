# Generated from the notebooks by `make export`; do not edit.
from tfedu.core.nest import assert_same_structure as assert_same_structure
from tfedu.core.nest import flatten as flatten
from tfedu.core.nest import is_nested as is_nested
from tfedu.core.nest import map_structure as map_structure
from tfedu.core.nest import pack_sequence_as as pack_sequence_as
