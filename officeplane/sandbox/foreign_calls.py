"""Foreign calls: what a program of others, which needs many calls of the kernel, may not ask of it all the same.

It may start no process, speak to nobody and reach no other process; what it may do to
files is for Landlock to say.
"""

import errno
import platform
from typing import Final

from officeplane.sandbox import seccomp
from officeplane.sandbox.seccomp import ALLOW, Instruction, answer, answer_if, answer_unless, refusal

_FORBIDDEN: Final[dict[str, tuple[int, int | None]]] = {
    # To speak to anybody: it may have sockets of files for itself, to which nobody connects.
    "connect": (42, 203),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "shmget": (29, 194),
    "semget": (64, 190),
    # To start processes, and to leave the group with which it is ended.
    "fork": (57, None),
    "vfork": (58, None),
    "execveat": (322, 281),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    # To reach other processes.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    # To have another view of the machine, or to change it.
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "acct": (163, 89),
    "syslog": (103, 116),
    "personality": (135, 92),
    "fanotify_init": (300, 262),
    # Large parts of the kernel that it has no use for, in which holes were found.
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
}
_SOCKET, _CLONE, _CLONE3, _PRLIMIT = (41, 198), (56, 220), (435, 435), (302, 261)
_UNIX: Final = 1
_A_THREAD: Final = 0x00010000


def restrict() -> None:
    """Take these calls from this process and what it becomes; it must have given up gaining privileges."""
    column = 0 if platform.machine() == "x86_64" else 1
    denied = refusal(errno.EPERM)
    program: list[Instruction] = []
    # Threads are no processes. The newer call tells in memory what it wants, where no filter can look.
    program += answer_unless(_CLONE[column], 0, _A_THREAD, errno.EPERM)
    program += answer(_CLONE3[column], refusal(errno.ENOSYS))
    program += answer_if(_SOCKET[column], 0, seccomp.ABOVE, _UNIX, errno.EAFNOSUPPORT)
    program += answer_if(_PRLIMIT[column], 0, seccomp.ABOVE, 0, errno.EPERM)
    for numbers in _FORBIDDEN.values():
        number = numbers[column]
        if number is not None:
            program += answer(number, denied)
    seccomp.install(program, otherwise=ALLOW)
