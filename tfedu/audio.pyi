# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.wav import decode_wav as decode_wav
from tfedu.ops.wav import encode_wav as encode_wav
