"""Stages in hardware: PCIe, DMA, the NIC's embedded switch, the wire, and the timer that holds interrupts back."""

from sympy import Expr

from vmodel.core.stage import Cost, Stage, stage
from vmodel.core.symbols import Words


@stage(occupies=None, uses={"pcie_transit_s": "s"}, variability=0.01, cites=("neugebauer2018",))
def pcie_transit(w: Words, p: Words) -> Expr:
    """A descriptor and its payload cross the PCIe link and come back acknowledged."""
    return p.pcie_transit_s


@stage(occupies="PCIe link", uses={"pcie_bytes_s": "B/s"}, variability=0.01, cites=("neugebauer2018",))
def pcie_link(w: Words, p: Words) -> Expr:
    """The payload and its frame headers occupy the PCIe link."""
    return w.wire_bytes / p.pcie_bytes_s


@stage(occupies="NIC DMA engine", uses={"nic_packet_s": "s"}, variability=0.01, cites=("neugebauer2018",))
def nic_dma(w: Words, p: Words) -> Cost:
    """The NIC's DMA engine works through the descriptors of each packet and moves it over the memory bus."""
    return Cost(seconds=w.packets * p.nic_packet_s, bus_bytes=w.bytes)


@stage(occupies="wire", uses={}, variability=0.01, cites=("ieee8023",))
def wire(w: Words, p: Words) -> Expr:
    """Each frame occupies the wire with its headers, preamble and gap."""
    return w.wire_bytes / w.link_bytes_s


@stage(occupies=None, uses={"propagation_s": "s"}, variability=0.01, cites=("ieee8023",))
def propagation(w: Words, p: Words) -> Expr:
    """The signal travels the cable and the transceivers at its ends."""
    return p.propagation_s


@stage(occupies="embedded switch", uses={"switch_bytes_s": "B/s"}, variability=0.01, cites=("ahern2011",))
def embedded_switch(w: Words, p: Words) -> Expr:
    """The switch inside the NIC turns each frame round between two functions of the same port."""
    return w.wire_bytes / p.switch_bytes_s


STAGES: tuple[Stage, ...] = (pcie_transit, pcie_link, nic_dma, wire, propagation, embedded_switch)
