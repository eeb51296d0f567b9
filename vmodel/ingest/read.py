"""The table of readers, and how an input finds its own: by what it says, never by what it is called."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vmodel.errors import DatasetError, UnknownName, nearest
from vmodel.ingest import (
    ethtool,
    ethtool_json,
    flent,
    iperf2_csv,
    iperf3,
    iperf_text,
    iproute,
    libvirt,
    lscpu,
    lspci,
    netperf,
    other_vmm,
    perf_kvm,
    pktgen,
    qemu,
    sockperf,
    source,
    testpmd,
)
from vmodel.ingest.given import Given
from vmodel.ingest.netperf_kinds import named_test
from vmodel.ingest.result import Ingested, refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """One form of one tool's output: how it is recognised and how it is read."""

    tool: str
    form: str
    recognises: Callable[[Given], bool]
    read: Callable[[Given], Ingested]
    nul: bool = False  # whether NUL bytes belong to the form


READERS: tuple[Reader, ...] = (  # the first that recognises an input reads it
    Reader(tool="libvirt", form="domain or network XML", recognises=libvirt.is_xml, read=libvirt.read),
    Reader(tool="iperf3", form="JSON", recognises=iperf3.is_json, read=iperf3.read_json),
    Reader(tool="flent", form="data file", recognises=flent.is_flent, read=flent.read),
    Reader(tool="lscpu", form="text or JSON", recognises=lscpu.is_lscpu, read=lscpu.read),
    Reader(tool="ip", form="JSON", recognises=iproute.is_ip_json, read=iproute.read_json),
    Reader(tool="ethtool", form="JSON", recognises=ethtool_json.is_ethtool_json, read=ethtool_json.read),
    Reader(tool="vmm", form="other monitors, refused", recognises=other_vmm.is_other, read=other_vmm.read, nul=True),
    Reader(tool="qemu", form="command line", recognises=qemu.is_qemu, read=qemu.read, nul=True),
    Reader(tool="netperf", form="tables, CSV, key=value", recognises=netperf.is_netperf, read=netperf.read),
    Reader(tool="sockperf", form="text or log", recognises=sockperf.is_sockperf, read=sockperf.read),
    Reader(tool="testpmd", form="text", recognises=testpmd.is_testpmd, read=testpmd.read),
    Reader(tool="perf-kvm", form="text", recognises=perf_kvm.is_perf_kvm, read=perf_kvm.read),
    Reader(tool="pktgen", form="/proc text", recognises=pktgen.is_pktgen, read=pktgen.read),
    Reader(tool="iperf3", form="text", recognises=iperf_text.is_iperf3, read=iperf_text.read_iperf3),
    Reader(tool="iperf2", form="text", recognises=iperf_text.is_iperf2, read=iperf_text.read_iperf2),
    Reader(tool="iperf2", form="CSV", recognises=iperf2_csv.is_iperf2_csv, read=iperf2_csv.read),
    Reader(tool="ethtool", form="text", recognises=ethtool.is_ethtool, read=ethtool.read),
    Reader(tool="ip", form="text", recognises=iproute.is_ip_text, read=iproute.read_text),
    Reader(tool="lspci", form="text", recognises=lspci.is_lspci, read=lspci.read),
)
ALIASES = {"perf": "perf-kvm", "iperf": "iperf2", "libvirt-domain": "libvirt", "virsh": "libvirt"}
LONGEST_SHOWN = 300  # characters of a file's name in an error line
TOOLS = tuple(dict.fromkeys(reader.tool for reader in READERS))


def read(what: str | Path | bytes, tool: str | None = None, pick: tuple[str, ...] = ()) -> Ingested:
    """Read a file, `-` for standard input, or bytes.

    tool: overrides recognition, by the first word (`iperf3`, `ethtool -c`); `netperf:TCP_RR` names the test as well.
    pick: names of devices (or the number of a document) for inputs that hold several.
    Raises DatasetError for an input without a result, UnknownName for a tool.
    """
    file = "" if isinstance(what, bytes) else str(what)
    shown = "standard input" if file == source.STANDARD_INPUT else file[-LONGEST_SHOWN:]
    try:
        data = what if isinstance(what, bytes) else source.contents(file)
        readers, hint = (READERS, "") if tool is None else _chosen(tool)
        return _read(Given(data=data, file=shown, pick=pick, hint=hint), readers, tool)
    except DatasetError as error:
        raise DatasetError(error.study, shown, error.line, error.fault) from None


read_output = read  # the name in the package's own table, where `read` would say too little


def _chosen(tool: str) -> tuple[tuple[Reader, ...], str]:
    """The readers of a tool as a user or a record writes it, and what else it says of the content."""
    name, _, hint = re.sub(r"[:\s]+", " ", tool.strip()).partition(" ")
    if named_test(name) is not None:
        name, hint = "netperf", name
    name = ALIASES.get(name.casefold(), name.casefold())
    found = tuple(reader for reader in READERS if reader.tool == name)
    if not found:
        raise UnknownName("tool", tool, nearest(tool, TOOLS))
    return found, hint


def _read(given: Given, readers: tuple[Reader, ...], tool: str | None) -> Ingested:
    if not given.data:
        raise refusal("file is empty (a tool that was killed leaves nothing)")
    if not given.data.strip():
        raise refusal("file holds no data, only white space")
    nul = "\0" in given.raw
    for reader in readers:
        if nul and not reader.nul:
            continue
        if reader.recognises(given):
            return reader.read(given)
    if nul:
        raise refusal("holds NUL bytes, expected text (or a copy of /proc/PID/cmdline of QEMU)")
    if tool is not None:
        raise refusal(f"not recognised as output of {tool}: expected {_forms(readers)}")
    raise refusal(f"not recognised; expected the output of {', '.join(TOOLS)} (see docs/ingest.md)")


def _forms(readers: tuple[Reader, ...]) -> str:
    return " or ".join(reader.form for reader in readers)
