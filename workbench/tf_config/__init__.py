"""`TF_CONFIG`: made from addresses, checked, and tested between machines.

The test takes place before TensorFlow waits for the other machines.
"""

from .cluster import Cluster, Identity, TFConfigError, make_cluster, read_tf_config, resolve
from .meeting import Answer, Meeting, meet

__all__ = [
    "Answer",
    "Cluster",
    "Identity",
    "Meeting",
    "TFConfigError",
    "make_cluster",
    "meet",
    "read_tf_config",
    "resolve",
]
