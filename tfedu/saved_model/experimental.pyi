# Generated from the notebooks by `make export`; do not edit.
from tfedu.program.saved_model import VariablePolicy as VariablePolicy
