# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.resize import ResizeMethod as ResizeMethod
from tfedu.ops.image_geometry import central_crop as central_crop
from tfedu.ops.image_geometry import crop_to_bounding_box as crop_to_bounding_box
from tfedu.ops.image_geometry import extract_patches as extract_patches
from tfedu.ops.image_geometry import flip_left_right as flip_left_right
from tfedu.ops.image_geometry import flip_up_down as flip_up_down
from tfedu.ops.image_geometry import pad_to_bounding_box as pad_to_bounding_box
from tfedu.ops.resize import resize as resize
from tfedu.ops.image_geometry import resize_with_crop_or_pad as resize_with_crop_or_pad
from tfedu.ops.resize import resize_with_pad as resize_with_pad
from tfedu.ops.image_geometry import rot90 as rot90
from tfedu.ops.image_geometry import transpose as transpose
