# Generated from the notebooks by `make export`; do not edit.
from tfedu.keras.dataset import load_data as load_data
from tfedu.keras.dataset import load_subset as load_subset
