"""The nursery's protocol: what a process asks its nursery for, and how that answers."""

import struct
from typing import Final

BIRTH: Final = b"b"
"""With a descriptor: a child that serves it is wanted; the answer is its process id."""

END: Final = b"e"
"""With a process id: that child is to end; the answer is its wait status."""

NUMBER: Final = struct.Struct(">q")
