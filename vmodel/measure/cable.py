"""A cable between two taps: a process that reads each frame from one and writes it to the other.

Run as `python -m vmodel.measure.cable NAMESPACE`, inside one namespace, with the file of the other; it makes a tap in
each, says `up`, and carries frames until it is ended. Small on purpose: it is the user-space part that is measured.
"""

import ctypes
import fcntl
import os
import select
import struct
import sys

TUN = "/dev/net/tun"
TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
CLONE_NEWNET = 0x40000000
NAME = "tap0"
LARGEST_FRAME = 1 << 16
MOST_AT_ONCE = 64  # frames taken from one tap before the other has its turn


def tap() -> int:
    """A tap in the namespace that this thread is in."""
    device = os.open(TUN, os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", NAME.encode(), IFF_TAP | IFF_NO_PI))
    return device


def enter(namespace: str) -> None:
    """Move this thread to another network namespace."""
    file = os.open(namespace, os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).setns(file, CLONE_NEWNET):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), namespace)
    finally:
        os.close(file)


def carry(source: int, target: int) -> None:
    """Pass on what waits at one tap."""
    for _ in range(MOST_AT_ONCE):
        try:
            frame = os.read(source, LARGEST_FRAME)
        except BlockingIOError:
            return
        try:
            os.write(target, frame)
        except OSError:  # the other side is down or full: a cable loses frames, it does not stop
            continue


def main() -> None:
    """Join a tap here to one in the namespace that is named, until ended."""
    one = tap()
    enter(sys.argv[1])
    other = tap()
    sys.stdout.write("up\n")
    sys.stdout.flush()
    ways = {one: other, other: one}
    poll = select.poll()
    for end in ways:
        poll.register(end, select.POLLIN)
    while True:
        for ready, _ in poll.poll():
            carry(ready, ways[ready])


if __name__ == "__main__":
    main()
