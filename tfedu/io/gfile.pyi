# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.file import GFile as GFile
from tfedu.ops.file import copy as copy
from tfedu.ops.file import exists as exists
from tfedu.ops.file import glob as glob
from tfedu.ops.file import isdir as isdir
from tfedu.ops.file import listdir as listdir
from tfedu.ops.file import makedirs as makedirs
from tfedu.ops.file import mkdir as mkdir
from tfedu.ops.file import remove as remove
from tfedu.ops.file import rename as rename
from tfedu.ops.file import rmtree as rmtree
from tfedu.ops.file import stat as stat
from tfedu.ops.file import walk as walk
