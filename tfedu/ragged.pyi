# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.ragged_array import boolean_mask as boolean_mask
from tfedu.ops.ragged_parts import constant as constant
from tfedu.ops.feature_cross import ragged_cross as cross
from tfedu.ops.feature_cross import ragged_cross_hashed as cross_hashed
from tfedu.ops.ragged_map import map_flat_values as map_flat_values
from tfedu.ops.ragged_array import range_ as range
from tfedu.ops.ragged_array import row_splits_to_segment_ids as row_splits_to_segment_ids
from tfedu.ops.ragged_array import segment_ids_to_row_splits as segment_ids_to_row_splits
from tfedu.ops.ragged_array import stack as stack
from tfedu.ops.ragged_array import stack_dynamic_partitions as stack_dynamic_partitions
