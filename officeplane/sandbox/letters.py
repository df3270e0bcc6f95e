"""Letters: what a process writes to its nursery, and how the nursery answers."""

import struct
from typing import Final

BIRTH: Final = b"b"
"""With a descriptor: a child that serves it is wanted; the answer is its process id."""

END: Final = b"e"
"""With a process id: that child is to end; the answer is its wait status."""

NUMBER: Final = struct.Struct(">q")
