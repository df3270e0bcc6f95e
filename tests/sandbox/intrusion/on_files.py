"""What an intruder would like to do to files."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.sandbox.intrusion.targets import Attempt, Targets, by_name, by_number

_OPENAT2 = 437
_OPEN_TREE = 428
_NAME_TO_HANDLE, _OPEN_BY_HANDLE = (303, 264), (304, 265)
_DEVICES = [name for name in ("full", "fuse", "kmsg", "mem", "ptmx", "tty", "urandom") if Path("/dev", name).exists()]
_OPEN_TO_ALL = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - it is not ours to write there


def on_files(targets: Targets) -> Iterator[Attempt]:
    """Give what he tries with the files of the installation; where nothing keeps him from it, all of it works."""
    secret, key = f"{targets.folder}/installation.json", f"{targets.folder}/admin.key"
    aside = f"{targets.folder}/aside"
    yield "read the passwords of the installation", partial(os.open, secret, os.O_RDONLY)
    yield "read the key of its administrator", partial(os.open, key, os.O_RDONLY)
    yield "read a secret file by its way from here", partial(os.open, f"../../../../../../{secret}", os.O_RDONLY)
    yield "list the data folder", partial(os.listdir, targets.folder)
    for way in ("O_WRONLY", "O_RDWR", "O_TRUNC", "O_APPEND"):
        yield f"open a file with {way}", partial(os.open, secret, getattr(os, way))
    yield "make a file", partial(os.open, f"{aside}-file", os.O_CREAT)
    yield "make a file without a name", partial(os.open, targets.folder, os.O_TMPFILE | os.O_RDWR)
    yield "make a folder", partial(os.mkdir, f"{aside}-folder")
    yield "make a symbolic link", partial(os.symlink, "/", f"{aside}-symbol")
    yield "make a hard link", partial(os.link, secret, f"{aside}-link")
    yield "make a pipe with a name", partial(os.mkfifo, f"{aside}-pipe")
    yield "let others read a file", partial(os.chmod, secret, 0o644)
    yield "give a file away", partial(os.chown, secret, os.getuid(), os.getgid())
    yield "change the times of a file", partial(os.utime, secret)
    yield "empty a file", partial(os.truncate, secret, 0)
    yield "rename a file", partial(os.rename, secret, aside)
    yield "unlink a file", partial(os.unlink, key)
    yield "remove a folder", partial(os.rmdir, f"{targets.folder}/inner")


def on_the_system_of_files(targets: Targets) -> Iterator[Attempt]:
    """Give what he tries with files elsewhere, and with folders as such."""
    yield "read a file by a newer call", partial(by_number, _OPENAT2, -100, b"/etc/passwd", bytes(24), 24)
    yield "have a folder by another call", partial(by_number, _OPEN_TREE, -100, b"/", 0)
    yield "have a handle of a file", partial(by_number, _NAME_TO_HANDLE, -100, b"/", bytes(8), bytes(4), 0)
    yield "open a file by its handle", partial(by_number, _OPEN_BY_HANDLE, 0, bytes(8), 0)
    yield "read the users of the system", partial(os.open, "/etc/passwd", os.O_RDONLY)
    yield "list the root", partial(os.listdir, "/")
    yield "list the processes", partial(os.listdir, "/proc")
    yield "read its own memory map", partial(os.open, "/proc/self/maps", os.O_RDONLY)
    yield "write its own memory by a file", partial(os.open, "/proc/self/mem", os.O_RDWR)
    yield "change who it is in its namespace", partial(os.open, "/proc/self/uid_map", os.O_WRONLY)
    for device in _DEVICES:
        yield f"open /dev/{device}", partial(os.open, f"/dev/{device}", os.O_RDONLY)
    for folder in _OPEN_TO_ALL:
        yield f"fill the disk from {folder}", partial(os.open, f"{folder}/full", os.O_CREAT | os.O_WRONLY, 0o600)
    yield "write into the libraries that others load", partial(os.open, os.__file__, os.O_WRONLY)
    yield "allot room on the disk", partial(os.posix_fallocate, 0, 0, 1 << 30)
    yield "change an attribute of a file", partial(os.setxattr, targets.folder, "user.x", b"1")
    yield "watch files", partial(by_name, "inotify_init1", 0)
    yield "watch all files", partial(by_name, "fanotify_init", 0, 0)
    yield "leave the root", partial(os.chroot, targets.folder)
    yield "go elsewhere", partial(os.chdir, targets.folder)
    yield "mount", partial(by_name, "mount", b"none", targets.folder.encode(), b"tmpfs", 0, None)
    yield "have a file in memory", partial(os.memfd_create, "x")
