"""Generated from the formulas of vmodel.library.device by vmodel.solve.compile; do not edit. Key 80c0193dcaa77080."""


def formulas(ceil, floor, maximum, minimum, sqrt):
    def pcie_transit(pcie_transit_s):
        return pcie_transit_s


    def pcie_transit_gradient(pcie_transit_s):
        return (1, )


    def pcie_link(wire_bytes, pcie_bytes_s):
        return wire_bytes/pcie_bytes_s


    def pcie_link_gradient(wire_bytes, pcie_bytes_s):
        return (-wire_bytes/pcie_bytes_s**2, )


    def nic_dma(bytes, packets, nic_packet_s):
        return nic_packet_s*packets


    def nic_dma_gradient(bytes, packets, nic_packet_s):
        return (packets, )


    def nic_dma_bus(bytes, packets):
        return bytes


    def wire(link_bytes_s, wire_bytes):
        return wire_bytes/link_bytes_s


    def wire_gradient(link_bytes_s, wire_bytes):
        return ()


    def propagation(propagation_s):
        return propagation_s


    def propagation_gradient(propagation_s):
        return (1, )


    def embedded_switch(wire_bytes, switch_bytes_s):
        return wire_bytes/switch_bytes_s


    def embedded_switch_gradient(wire_bytes, switch_bytes_s):
        return (-wire_bytes/switch_bytes_s**2, )


    return {
        'pcie_transit': (pcie_transit, pcie_transit_gradient, None, (), ('pcie_transit_s',), None, 'always', 0.01, ('neugebauer2018',), 'A descriptor and its payload cross the PCIe link and come back acknowledged.', False),
        'pcie_link': (pcie_link, pcie_link_gradient, None, ('wire_bytes',), ('pcie_bytes_s',), 'PCIe link', 'always', 0.01, ('neugebauer2018',), 'The payload and its frame headers occupy the PCIe link.', False),
        'nic_dma': (nic_dma, nic_dma_gradient, nic_dma_bus, ('bytes', 'packets'), ('nic_packet_s',), 'NIC DMA engine', 'always', 0.01, ('neugebauer2018',), "The NIC's DMA engine works through the descriptors of each packet and moves it over the memory bus.", False),
        'wire': (wire, wire_gradient, None, ('link_bytes_s', 'wire_bytes'), (), 'wire', 'always', 0.01, ('ieee8023',), 'Each frame occupies the wire with its headers, preamble and gap.', False),
        'propagation': (propagation, propagation_gradient, None, (), ('propagation_s',), None, 'always', 0.01, ('ieee8023',), 'The signal travels the cable and the transceivers at its ends.', False),
        'embedded_switch': (embedded_switch, embedded_switch_gradient, None, ('wire_bytes',), ('switch_bytes_s',), 'embedded switch', 'always', 0.01, ('ahern2011',), 'The switch inside the NIC turns each frame round between two functions of the same port.', False),
    }
