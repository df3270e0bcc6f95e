"""A conversion: LibreOffice, started confined, on one file in a folder of its own.

`python -m officeplane.sandbox.conversion OWNER FOLDER PROGRAM LAYER,LAYER`: OWNER is the process
that asked for it, and with which it ends; without one of these layers nothing is started. What
LibreOffice reads has passed the gate and is still a stranger's: it may read programs, libraries
and fonts, write in its folder, start nothing and speak to nobody.
"""

import hashlib
import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from officeplane.sandbox import foreign_calls, kernel, landlock, namespaces, seccomp
from officeplane.sandbox.confinement import PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, Confinement, Layer, parent_outside

MEMORY_BYTES: Final = 3 * 1024 * 1024 * 1024
CPU_SECONDS: Final = 60
FILE_BYTES: Final = 64 * 1024 * 1024
DESCRIPTORS: Final = 256
NOT_CONFINED: Final = 97
"""The status that says that a layer is missing."""

SOURCE: Final = "document"
MADE: Final = "made"
_PIPES: Final = "/tmp"  # noqa: S108 - where LibreOffice makes the socket at which other calls of it would find it
_STARTS_MAX: Final = 3
_START_AGAIN: Final = 81
_READABLE: Final = (
    "/etc/fonts", "/etc/ld.so.cache", "/etc/passwd", "/etc/nsswitch.conf", "/etc/locale.alias", "/etc/libreoffice",
    "/etc/alternatives", "/var/cache/fontconfig", "/var/lib/libreoffice", "/var/spool/libreoffice", "/dev/urandom",
    "/dev/null", "/sys/devices/system/cpu", "/proc/cpuinfo", "/proc/meminfo",
)  # fmt: skip
_RUNNABLE: Final = ("/usr", "/lib", "/lib64", "/opt/libreoffice")


def main(owner: int, folder: str, program: str, required: Confinement) -> int:
    """Have a folder's document converted; return the status with which that ended."""
    if sys.platform == "linux":
        kernel.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != owner:
            return 1
    status = 0
    for _ in range(_STARTS_MAX):
        # With a fresh profile it wants to be started once more.
        status = _run(folder, program, required)
        remove_pipe(folder)
        if status != _START_AGAIN:
            break
    return status


def pipes_of(folder: str) -> list[Path]:
    """Return the sockets that LibreOffice has made for the profile in a folder."""
    # Named after the user and a hash of the profile's address, of which each byte is written as a plain number.
    digest = hashlib.md5(_profile(folder).encode("utf-16-le"), usedforsecurity=False).digest()
    return [*Path(_PIPES).glob(f"OSL_PIPE_*_SingleOfficeIPC_{''.join(f'{byte:x}' for byte in digest)}")]


def remove_pipe(folder: str) -> None:
    """Remove the socket of a folder: LibreOffice may make one, and remove nothing there."""
    for path in pipes_of(folder):
        with suppress(OSError):
            path.unlink()


def _run(folder: str, program: str, required: Confinement) -> int:
    parent = os.getpid()
    child, has_namespaces = namespaces.fork() if sys.platform == "linux" else (os.fork(), False)
    if child:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return status if status >= 0 else 1
    with suppress(BaseException):
        layers = confine(parent, folder, program, has_namespaces=has_namespaces)
        if required - layers:
            os._exit(NOT_CONFINED)
        os.chdir(folder)
        os.execve(program, _arguments(folder, program), _environment(folder))  # noqa: S606 - that is what it is for
    os._exit(1)


def confine(parent: int, folder: str, program: str, *, has_namespaces: bool) -> Confinement:
    """Give up all that a conversion in this folder does not need, for good; return the layers that it is under."""
    layers = {Layer.LIMITS, Layer.NAMESPACES} if has_namespaces else {Layer.LIMITS}
    for kind, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_NOFILE, DESCRIPTORS),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))
    os.closerange(3, 1024)
    if sys.platform != "linux":
        return frozenset(layers)
    kernel.prctl(PR_SET_NO_NEW_PRIVS, 1)
    kernel.drop_capabilities()
    layers.add(Layer.NO_PRIVILEGES)
    kernel.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent_outside() != parent:
        raise SystemExit
    if landlock.version():
        with suppress(OSError):
            runnable = (*_RUNNABLE, str(Path(program).resolve().parents[1]))
            landlock.restrict(_READABLE, runnable=runnable, writable=(folder, "/dev/null"), for_sockets=[_PIPES])
            layers.add(Layer.LANDLOCK)
    if seccomp.is_available():
        with suppress(OSError):
            foreign_calls.restrict()
            layers.add(Layer.SECCOMP)
    return frozenset(layers)


def _arguments(folder: str, program: str) -> list[str]:
    (source,) = Path(folder).glob(f"{SOURCE}.*")
    return [
        program, f"-env:UserInstallation={_profile(folder)}", "--headless", "--invisible", "--norestore",
        "--nologo", "--nodefault", "--nolockcheck", "--convert-to", "pdf", "--outdir", str(Path(folder, MADE)),
        str(source),
    ]  # fmt: skip


def _profile(folder: str) -> str:
    return Path(folder, "profile").as_uri()


def _environment(folder: str) -> dict[str, str]:
    return {
        "HOME": folder,
        "TMPDIR": folder,
        "XDG_CACHE_HOME": folder,
        "XDG_CONFIG_HOME": folder,
        "XDG_RUNTIME_DIR": folder,
        "LANG": "C.UTF-8",
        "PATH": "/usr/bin:/bin",
        "SAL_USE_VCLPLUGIN": "svp",
    }


if __name__ == "__main__":
    _owner, _folder, _program, _layers = sys.argv[1:]
    sys.exit(main(int(_owner), _folder, _program, frozenset(Layer(name) for name in _layers.split(",") if name)))
