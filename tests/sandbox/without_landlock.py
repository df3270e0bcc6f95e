"""A conversion on a kernel that has no Landlock."""

import sys

from officeplane.sandbox import conversion, landlock
from officeplane.sandbox.confinement import Layer

landlock.version = lambda: 0
owner, folder, program, layers = sys.argv[1:]
sys.exit(conversion.main(int(owner), folder, program, frozenset(Layer(name) for name in layers.split(",") if name)))
