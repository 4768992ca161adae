# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.picture_files import decode_and_crop_jpeg as decode_and_crop_jpeg
from tfedu.ops.picture_files import decode_bmp as decode_bmp
from tfedu.ops.picture_files import decode_gif as decode_gif
from tfedu.ops.picture_files import decode_image as decode_image
from tfedu.ops.picture_files import decode_jpeg as decode_jpeg
from tfedu.ops.picture_files import decode_png as decode_png
from tfedu.ops.picture_files import encode_jpeg as encode_jpeg
from tfedu.ops.picture_files import encode_png as encode_png
from tfedu.ops.picture_files import extract_jpeg_shape as extract_jpeg_shape
from tfedu.ops.picture_files import is_jpeg as is_jpeg
