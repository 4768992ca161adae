# Generated from the notebooks by `make export`; do not edit.
from . import experimental as experimental
from tfedu.ops.lookup import KeyValueTensorInitializer as KeyValueTensorInitializer
from tfedu.ops.lookup import StaticHashTable as StaticHashTable
from tfedu.ops.lookup import StaticVocabularyTable as StaticVocabularyTable
from tfedu.ops.lookup import TextFileIndex as TextFileIndex
from tfedu.ops.lookup import TextFileInitializer as TextFileInitializer
