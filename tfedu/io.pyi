# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.picture_files import decode_bmp as decode_bmp
from tfedu.ops.picture_files import decode_png as decode_png
from tfedu.ops.picture_files import encode_png as encode_png
