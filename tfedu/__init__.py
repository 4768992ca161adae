"""TensorFlow 2.4, rebuilt to be read: `import tfedu as tf`."""
# Written by hand, unlike the modules below it. Nothing is loaded here: `tfedu/_names.py` says which module defines each
# public name, and notebook 1_core/105_publish shows how a name is imported when it is first used.
import sys

from tfedu._names import NAMES
from tfedu.core.publish import Namespace, install

__version__ = "2.4.4+tfedu.0.1.0"   # the interface's version, and behind it the package's: see notebook 2_ops/297_about

package = sys.modules[__name__]
package.__class__, package.__names__ = Namespace, NAMES[""]   # `tf.add` is looked up like `tf.math.add`
install(package, NAMES, sys.modules)
del package, sys, install, Namespace, NAMES
