"""Two hosts on this machine: network namespaces with their own addresses and a link between them.

A process carries the packets. They arrive at the other end after a delay. After the link is cut
they do not arrive, as with a broken switch. Some machines have a kernel that cannot delay packets.
"""

from __future__ import annotations

import fcntl
import os
import queue
import shutil
import struct
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

TUN = Path("/dev/net/tun")
SET_INTERFACE, TUN_WITHOUT_HEADER = 0x400454CA, 0x1001
"""TUNSETIFF, and IFF_TUN with IFF_NO_PI: linux/if_tun.h."""
MOST_BYTES = 65536
ADDRESSES = ("10.77.0.1", "10.77.0.2")


def missing() -> list[str]:
    """Return the missing requirements: root's rights, `ip`, or the device for such links."""
    wanted = {"root": os.geteuid() == 0, "ip": shutil.which("ip"), str(TUN): TUN.exists()}
    return [name for name, there in wanted.items() if not there]


@dataclass
class Link:
    """A link that carries packets between two ends after `running` is entered."""

    delay_seconds: float
    is_cut: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def running(self, ends: Sequence[int]) -> Iterator[None]:
        """Carry packets between two open ends."""
        first, second = ends
        for here, there in ((first, second), (second, first)):
            on_the_way: queue.Queue[tuple[float, bytes]] = queue.Queue()
            threading.Thread(target=self._take, args=(here, on_the_way), daemon=True).start()
            threading.Thread(target=self._give, args=(there, on_the_way), daemon=True).start()
        yield

    def _take(self, end: int, on_the_way: queue.Queue[tuple[float, bytes]]) -> None:
        while packet := _read(end):
            if not self.is_cut.is_set():
                on_the_way.put((time.monotonic() + self.delay_seconds, packet))

    def _give(self, end: int, on_the_way: queue.Queue[tuple[float, bytes]]) -> None:
        while True:
            due, packet = on_the_way.get()
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                os.write(end, packet)
            except OSError:
                return


@dataclass(frozen=True)
class Hosts:
    """The two hosts and their link."""

    names: tuple[str, str]
    link: Link

    def command(self, host: int, command: Sequence[str]) -> list[str]:
        """Return a command that runs on a host. The host's name is its address."""
        named = 'hostname "$0" && exec "$@"'
        inside = ["ip", "netns", "exec", self.names[host], "unshare", "--uts", "sh", "-c", named]
        return [*inside, ADDRESSES[host], *command]


@contextmanager
def two_hosts(delay_seconds: float) -> Iterator[Hosts]:
    """Make two hosts, with a link that has this delay in each direction."""
    names = (f"wb{os.getpid()}a", f"wb{os.getpid()}b")
    link = Link(delay_seconds)
    with ExitStack() as made:
        ends = []
        for name in names:
            _ip("netns", "add", name)
            made.callback(_ip, "netns", "del", name)
            end = os.open(TUN, os.O_RDWR)
            made.callback(os.close, end)
            fcntl.ioctl(
                end, SET_INTERFACE, struct.pack("16sH22x", name.encode(), TUN_WITHOUT_HEADER)
            )
            ends.append(end)
        for at, name in enumerate(names):
            _ip("link", "set", name, "netns", name)
            inside = ("netns", "exec", name, "ip")
            _ip(*inside, "addr", "add", ADDRESSES[at], "peer", ADDRESSES[1 - at], "dev", name)
            for interface in ("lo", name):
                _ip(*inside, "link", "set", interface, "up")
        with link.running(ends):
            yield Hosts(names, link)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


def _read(end: int) -> bytes:
    try:
        return os.read(end, MOST_BYTES)
    except OSError:
        return b""
