"""Network namespaces of our own, which cannot outlive us.

A namespace is held by a process that is the first of a process namespace and reads from a pipe of ours. Whatever ends
us, an interrupt or kill -9, closes the pipe; the holder ends, and with it the kernel ends every process started inside
and removes interfaces and namespace. Nothing has a name on the host, so nothing can collide or be left behind.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from vmodel.errors import VmodelError

NEEDED = ("unshare", "nsenter", "ip")  # util-linux and iproute2
LIMIT_S = 20.0  # for one set-up command
LIMIT_SETTINGS = {
    "/proc/sys/user/max_user_namespaces": "0",
    "/proc/sys/kernel/unprivileged_userns_clone": "0",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1",
}


class GroundError(VmodelError, RuntimeError):
    """The kernel or a missing program does not let us have a namespace; says what would."""


@dataclass(frozen=True, slots=True)
class Space:
    """A network namespace, by the process that holds it."""

    pid: int
    user: bool  # behind a user namespace, since we are not root

    def inside(self, arguments: Sequence[str]) -> list[str]:
        """The command that runs something in this namespace, and ends when the namespace does."""
        return [*self._entered(), f"--pid=/proc/{self.pid}/ns/pid_for_children", "--", *arguments]

    def configured(self, arguments: Sequence[str]) -> list[str]:
        """The command that sets something up in this namespace, with process numbers as the host counts them."""
        return [*self._entered(), "--", *arguments]

    def _entered(self) -> list[str]:
        own = f"/proc/{self.pid}/ns"
        user = [f"--user={own}/user", "--preserve-credentials"] if self.user else []
        return ["nsenter", *user, f"--net={own}/net"]


class Ground:
    """All namespaces of one session: made on demand, gone on exit."""

    def __init__(self) -> None:
        self._held: list[subprocess.Popen[bytes]] = []
        self._kept: list[subprocess.Popen[bytes]] = []
        self._user = os.geteuid() != 0

    def __enter__(self) -> "Ground":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for holder in (*self._kept, *reversed(self._held)):
            if holder.stdin is not None:
                holder.stdin.close()
            holder.kill()  # --kill-child takes the first process inside, and the kernel all others
            holder.wait()
            for pipe in (holder.stdout, holder.stderr):
                if pipe is not None:
                    pipe.close()

    def space(self) -> Space:
        """A new network namespace with its loopback up. Raises GroundError."""
        missing = [name for name in NEEDED if shutil.which(name) is None]
        if missing:
            raise GroundError(f"{', '.join(missing)} not found: install util-linux and iproute2")
        command = ["unshare", "--net", "--pid", "--fork", "--kill-child", "cat"]
        if self._user:
            if self._held:
                own = f"/proc/{self._held[0].pid}/ns"
                command = ["nsenter", f"--user={own}/user", "--preserve-credentials", "--", *command]
            else:
                command[1:1] = ["--user", "--map-root-user"]
        holder = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        self._held.append(holder)
        if holder.stdin is None or holder.stdout is None:
            raise GroundError("no pipe to the holder of a namespace")
        try:
            holder.stdin.write(b"up\n")
            holder.stdin.flush()
            ready = holder.stdout.readline() == b"up\n"  # cat answers once it runs inside
        except BrokenPipeError:
            ready = False
        if not ready:
            raise GroundError(self._refused(holder))
        found = Space(pid=holder.pid, user=self._user)
        run(found, "ip", "link", "set", "lo", "up")
        return found

    def keep(self, space: Space, arguments: Sequence[str], place: Path) -> None:
        """Keep a program running in a namespace until we leave; it must say `up`. Raises GroundError.

        place: where Python finds our package.
        """
        program = subprocess.Popen(
            space.inside(arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True, env={**os.environ, "PYTHONPATH": str(place)},
        )  # fmt: skip
        self._kept.append(program)
        if program.stdout is None or program.stdout.readline() != b"up\n":
            said = program.stderr.read().decode(errors="replace").strip().splitlines() if program.stderr else []
            raise GroundError(said[-1] if said else f"{arguments[0]} did not start")

    def _refused(self, holder: subprocess.Popen[bytes]) -> str:
        said = holder.stderr.read().decode(errors="replace").strip().splitlines() if holder.stderr else []
        why = said[-1] if said else "no reason given"
        if not self._user:
            return f"the kernel allows no network namespace here ({why})"
        barred = [name for name, value in LIMIT_SETTINGS.items() if _setting(name) == value]
        told = f"; {barred[0]} forbids user namespaces" if barred else ""
        return f"network namespaces need root here ({why}{told})"


def _setting(name: str) -> str | None:
    try:
        return Path(name).read_text(encoding="ascii").strip()
    except OSError:
        return None


def run(space: Space, *arguments: str) -> str:
    """Run one set-up command in a namespace; raises GroundError with what it said."""
    try:
        done = subprocess.run(
            space.configured(arguments), capture_output=True, text=True, timeout=LIMIT_S, check=False, errors="replace"
        )
    except subprocess.TimeoutExpired:
        raise GroundError(f"{' '.join(arguments)}: no answer within {LIMIT_S:g} s") from None
    if done.returncode:
        said = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
        raise GroundError(f"{' '.join(arguments)}: {said}")
    return done.stdout
