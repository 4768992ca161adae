# Generated from the notebooks by `make export`; do not edit.
from tfedu.autodiff.compute_gradient import compute_gradient as compute_gradient
