"""Generated from the formulas of vmodel.library.host by vmodel.solve.compile; do not edit. Key 668974a76eb83f52."""


def formulas(ceil, floor, maximum, minimum, sqrt):
    def tap_queue(bytes, segments, tap_bytes_s, tap_queue_s):
        return bytes/tap_bytes_s + segments*tap_queue_s


    def tap_queue_gradient(bytes, segments, tap_bytes_s, tap_queue_s):
        return (-bytes/tap_bytes_s**2, segments, )


    def tap_send(segments, tap_send_s):
        return segments*tap_send_s


    def tap_send_gradient(segments, tap_send_s):
        return (segments, )


    def tap_receive(segments, tap_receive_s):
        return segments*tap_receive_s


    def tap_receive_gradient(segments, tap_receive_s):
        return (segments, )


    def skb_free(segments, skb_free_s):
        return segments*skb_free_s


    def skb_free_gradient(segments, skb_free_s):
        return (segments, )


    def macvtap(segments, macvtap_s):
        return macvtap_s*segments


    def macvtap_gradient(segments, macvtap_s):
        return (segments, )


    def bridge(bridged, nat, segments, bridge_s, nat_s):
        return segments*(bridge_s*bridged + nat*nat_s)


    def bridge_gradient(bridged, nat, segments, bridge_s, nat_s):
        return (bridged*segments, nat*segments, )


    def host_softirq(packets, receive_units, frame_join_s, softirq_s):
        return frame_join_s*packets + receive_units*softirq_s


    def host_softirq_gradient(packets, receive_units, frame_join_s, softirq_s):
        return (packets, receive_units, )


    def host_interrupt(interrupts, host_interrupt_s):
        return host_interrupt_s*interrupts


    def host_interrupt_gradient(interrupts, host_interrupt_s):
        return (interrupts, )


    def forwarded_interrupt(interrupts, posted_interrupts, host_interrupt_s):
        return host_interrupt_s*interrupts*(1 - posted_interrupts)


    def forwarded_interrupt_gradient(interrupts, posted_interrupts, host_interrupt_s):
        return (interrupts*(1 - posted_interrupts), )


    def idle_exit(idle_exit_s):
        return idle_exit_s


    def idle_exit_gradient(idle_exit_s):
        return (1, )


    def forward_wake(forward_wake_s):
        return forward_wake_s


    def forward_wake_gradient(forward_wake_s):
        return (1, )


    def forward_send(stack_units, forward_s):
        return forward_s*stack_units


    def forward_send_gradient(stack_units, forward_s):
        return (stack_units, )


    def nic_post(stack_units, nic_post_s):
        return nic_post_s*stack_units


    def nic_post_gradient(stack_units, nic_post_s):
        return (stack_units, )


    def nic_reap(gro, packets, receive_units, frame_join_s, nic_reap_s):
        return frame_join_s*gro*packets + nic_reap_s*receive_units


    def nic_reap_gradient(gro, packets, receive_units, frame_join_s, nic_reap_s):
        return (gro*packets, receive_units, )


    def dma_map(further_buffers, iommu, stack_units, dma_map_s):
        return dma_map_s*iommu*(further_buffers + stack_units)


    def dma_map_gradient(further_buffers, iommu, stack_units, dma_map_s):
        return (iommu*(further_buffers + stack_units), )


    def driver_frame(packets, driver_frame_s):
        return driver_frame_s*packets


    def driver_frame_gradient(packets, driver_frame_s):
        return (packets, )


    def ip_forward(packets, ip_forward_s):
        return ip_forward_s*packets


    def ip_forward_gradient(packets, ip_forward_s):
        return (packets, )


    def route_lookup(packets, routes, cached_routes, route_miss_s, route_s):
        return packets*(route_miss_s*routes/(cached_routes + routes) + route_s*minimum(1, routes))


    def route_lookup_gradient(packets, routes, cached_routes, route_miss_s, route_s):
        return (-packets*route_miss_s*routes/(cached_routes + routes)**2, packets*routes/(cached_routes + routes), packets*minimum(1, routes), )


    def xdp_redirect(packets, xdp_redirect_s):
        return packets*xdp_redirect_s


    def xdp_redirect_gradient(packets, xdp_redirect_s):
        return (packets, )


    def io_cache_miss(packets, queue_count, ring_entries, io_cache_entries, io_miss_s):
        return io_miss_s*packets*queue_count**4*ring_entries**4/(io_cache_entries**4*(1 + queue_count**4*ring_entries**4/io_cache_entries**4))


    def io_cache_miss_gradient(packets, queue_count, ring_entries, io_cache_entries, io_miss_s):
        return (-4*io_miss_s*packets*queue_count**4*ring_entries**4/(io_cache_entries**5*(1 + queue_count**4*ring_entries**4/io_cache_entries**4)) + 4*io_miss_s*packets*queue_count**8*ring_entries**8/(io_cache_entries**9*(1 + queue_count**4*ring_entries**4/io_cache_entries**4)**2), packets*queue_count**4*ring_entries**4/(io_cache_entries**4*(1 + queue_count**4*ring_entries**4/io_cache_entries**4)), )


    def end_interrupt(interrupts, end_interrupt_s):
        return end_interrupt_s*interrupts


    def end_interrupt_gradient(interrupts, end_interrupt_s):
        return (interrupts, )


    def rtl8029_receive(packets, register_exit_s, rtl8029_reads):
        return packets*register_exit_s*rtl8029_reads


    def rtl8029_receive_gradient(packets, register_exit_s, rtl8029_reads):
        return (packets*rtl8029_reads, packets*register_exit_s, )


    def rtl8029_send(packets, register_exit_s, rtl8029_writes):
        return packets*register_exit_s*rtl8029_writes


    def rtl8029_send_gradient(packets, register_exit_s, rtl8029_writes):
        return (packets*rtl8029_writes, packets*register_exit_s, )


    def rtl8139_registers(packets, register_exit_s, rtl8139_accesses):
        return packets*register_exit_s*rtl8139_accesses


    def rtl8139_registers_gradient(packets, register_exit_s, rtl8139_accesses):
        return (packets*rtl8139_accesses, packets*register_exit_s, )


    def e1000_registers(packets, e1000_accesses, register_exit_s):
        return e1000_accesses*packets*register_exit_s


    def e1000_registers_gradient(packets, e1000_accesses, register_exit_s):
        return (packets*register_exit_s, e1000_accesses*packets, )


    def emulate_send(bytes, cold_bytes, packets, cold_copy_bytes_s, copy_bytes_s, emulation_s):
        return cold_bytes/cold_copy_bytes_s + emulation_s*packets + (bytes - cold_bytes)/copy_bytes_s


    def emulate_send_gradient(bytes, cold_bytes, packets, cold_copy_bytes_s, copy_bytes_s, emulation_s):
        return (-cold_bytes/cold_copy_bytes_s**2, -(bytes - cold_bytes)/copy_bytes_s**2, packets, )


    def emulate_send_bus(bytes, cold_bytes, packets):
        return 2*bytes


    def emulate_receive(bytes, cold_bytes, packets, cold_copy_bytes_s, copy_bytes_s, emulation_s):
        return 2*cold_bytes/cold_copy_bytes_s + emulation_s*packets + 2*(bytes - cold_bytes)/copy_bytes_s


    def emulate_receive_gradient(bytes, cold_bytes, packets, cold_copy_bytes_s, copy_bytes_s, emulation_s):
        return (-2*cold_bytes/cold_copy_bytes_s**2, -2*(bytes - cold_bytes)/copy_bytes_s**2, packets, )


    def emulate_receive_bus(bytes, cold_bytes, packets):
        return 4*bytes


    def user_forward(bytes, cold_bytes, packets, cold_copy_bytes_s, copy_bytes_s, user_forward_s):
        return 2*cold_bytes/cold_copy_bytes_s + packets*user_forward_s + 2*(bytes - cold_bytes)/copy_bytes_s


    def user_forward_gradient(bytes, cold_bytes, packets, cold_copy_bytes_s, copy_bytes_s, user_forward_s):
        return (-2*cold_bytes/cold_copy_bytes_s**2, -2*(bytes - cold_bytes)/copy_bytes_s**2, packets, )


    def user_forward_bus(bytes, cold_bytes, packets):
        return 4*bytes


    def tap_tick(further_packets, tap_tick_s):
        return further_packets*tap_tick_s


    def tap_tick_gradient(further_packets, tap_tick_s):
        return (further_packets, )


    def generator(core_sharing, packets, generator_s):
        return generator_s*packets*(core_sharing + 1)


    def generator_gradient(core_sharing, packets, generator_s):
        return (packets*(core_sharing + 1), )


    def xdp_drop(packets, xdp_drop_s):
        return packets*xdp_drop_s


    def xdp_drop_gradient(packets, xdp_drop_s):
        return (packets, )


    return {
        'tap_queue': (tap_queue, tap_queue_gradient, None, ('bytes', 'segments'), ('tap_bytes_s', 'tap_queue_s'), 'cpu', 'always', 0.1, ('garzarella2019',), 'The sending host runs its stack down to the tap for each segment, and pays per byte for pages and checksums.', False),
        'tap_send': (tap_send, tap_send_gradient, None, ('segments',), ('tap_send_s',), 'vhost worker', 'always', 0.1, ('perezmartin2020',), 'The tap turns each buffer of the worker into a packet of the host.', False),
        'tap_receive': (tap_receive, tap_receive_gradient, None, ('segments',), ('tap_receive_s',), 'vhost worker', 'always', 0.1, ('perezmartin2020',), 'The tap hands each queued packet to the worker.', False),
        'skb_free': (skb_free, skb_free_gradient, None, ('segments',), ('skb_free_s',), 'vhost worker', 'always', 0.1, ('perezmartin2020',), 'The worker frees each packet buffer that another CPU allocated.', False),
        'macvtap': (macvtap, macvtap_gradient, None, ('segments',), ('macvtap_s',), 'vhost worker', 'always', 0.1, ('ahern2011',), 'macvtap ties the worker to one NIC function by its address, without a bridge.', False),
        'bridge': (bridge, bridge_gradient, None, ('bridged', 'nat', 'segments'), ('bridge_s', 'nat_s'), 'host softirq CPU', 'always', 0.1, ('ahern2011', 'virtink2023'), "The bridge looks up each packet's address and passes it on; a host that translates addresses rewrites it.", False),
        'host_softirq': (host_softirq, host_softirq_gradient, None, ('packets', 'receive_units'), ('frame_join_s', 'softirq_s'), 'host softirq CPU', 'always', 0.1, ('ahern2011',), "The host's softirq takes each frame from the NIC's ring, joins it to its segment and hands the segment on.", False),
        'host_interrupt': (host_interrupt, host_interrupt_gradient, None, ('interrupts',), ('host_interrupt_s',), 'host softirq CPU', 'always', 0.1, ('ahern2011',), "The host takes the NIC's interrupt.", False),
        'forwarded_interrupt': (forwarded_interrupt, forwarded_interrupt_gradient, None, ('interrupts', 'posted_interrupts'), ('host_interrupt_s',), 'host softirq CPU', 'always', 0.1, ('ahern2011',), 'The interrupt of a function that a guest owns still arrives at the host; posted interrupts pass it by.', False),
        'idle_exit': (idle_exit, idle_exit_gradient, None, (), ('idle_exit_s',), None, 'idle', 0.5, ('ahern2011',), 'The CPU that the NIC interrupts leaves its idle state first.', False),
        'forward_wake': (forward_wake, forward_wake_gradient, None, (), ('forward_wake_s',), None, 'idle', 0.5, ('ahern2011',), 'A host that only forwards sleeps longer between packets and deeper: softirq and worker start cold.', False),
        'forward_send': (forward_send, forward_send_gradient, None, ('stack_units',), ('forward_s',), 'host softirq CPU', 'always', 0.1, ('ahern2011',), "The host passes each unit from the bridge to the physical NIC's transmit ring.", False),
        'nic_post': (nic_post, nic_post_gradient, None, ('stack_units',), ('nic_post_s',), 'cpu', 'always', 0.1, ('ahern2011',), 'The driver maps each unit and writes its descriptors for the NIC.', False),
        'nic_reap': (nic_reap, nic_reap_gradient, None, ('gro', 'packets', 'receive_units'), ('frame_join_s', 'nic_reap_s'), 'cpu', 'always', 0.1, ('ahern2011',), 'The driver takes each frame from the ring of its own NIC function and joins it to its segment.', False),
        'dma_map': (dma_map, dma_map_gradient, None, ('further_buffers', 'iommu', 'stack_units'), ('dma_map_s',), 'cpu', 'always', 0.1, ('filippov2025a',), "The driver maps each page for the NIC's IOMMU and takes the mapping back.", False),
        'driver_frame': (driver_frame, driver_frame_gradient, None, ('packets',), ('driver_frame_s',), 'cpu', 'always', 0.1, ('hoiland2018',), 'The driver reads or writes the descriptor of each frame, and no socket buffer is made.', False),
        'ip_forward': (ip_forward, ip_forward_gradient, None, ('packets',), ('ip_forward_s',), 'cpu', 'always', 0.1, ('hoiland2018',), 'The kernel makes a buffer of each frame and takes it through the IP layer to the other interface.', False),
        'route_lookup': (route_lookup, route_lookup_gradient, None, ('packets', 'routes'), ('cached_routes', 'route_miss_s', 'route_s'), 'cpu', 'always', 0.1, ('hoiland2018',), "A forwarding host looks each frame's route up; what of a large table no cache holds comes from memory.", False),
        'xdp_redirect': (xdp_redirect, xdp_redirect_gradient, None, ('packets',), ('xdp_redirect_s',), 'cpu', 'always', 0.1, ('hoiland2018',), 'The driver hands each frame of an XDP program to the transmit ring of an interface.', False),
        'io_cache_miss': (io_cache_miss, io_cache_miss_gradient, None, ('packets', 'queue_count', 'ring_entries'), ('io_cache_entries', 'io_miss_s'), 'cpu', 'always', 0.1, ('hoiland2018',), "Frames that the NIC wrote come from memory when all rings together exceed the cache's part for devices. Buffers are reused in turn, so a ring a little too large misses nearly always: the share is steep, x^4 / (1 + x^4).", False),
        'end_interrupt': (end_interrupt, end_interrupt_gradient, None, ('interrupts',), ('end_interrupt_s',), 'cpu', 'always', 0.1, ('ahern2011',), "The processor of a native end takes the NIC's interrupt.", False),
        'rtl8029_receive': (rtl8029_receive, rtl8029_receive_gradient, None, ('packets',), ('register_exit_s', 'rtl8029_reads'), 'QEMU I/O thread', 'always', 0.1, ('dykman2007',), "The guest's driver reads each packet out of the card's window register by register; each read is an exit.", False),
        'rtl8029_send': (rtl8029_send, rtl8029_send_gradient, None, ('packets',), ('register_exit_s', 'rtl8029_writes'), 'QEMU I/O thread', 'always', 0.1, ('dykman2007',), "The guest's driver writes each packet into the card's window; string output needs few exits.", False),
        'rtl8139_registers': (rtl8139_registers, rtl8139_registers_gradient, None, ('packets',), ('register_exit_s', 'rtl8139_accesses'), 'QEMU I/O thread', 'always', 0.1, ('dykman2007',), "The guest's driver starts and acknowledges each packet through device registers; each access is an exit.", False),
        'e1000_registers': (e1000_registers, e1000_registers_gradient, None, ('packets',), ('e1000_accesses', 'register_exit_s'), 'QEMU I/O thread', 'always', 0.1, ('ahern2011',), "The guest's driver writes a tail register and reads a cause for each packet; each access is an exit.", False),
        'emulate_send': (emulate_send, emulate_send_gradient, emulate_send_bus, ('bytes', 'cold_bytes', 'packets'), ('cold_copy_bytes_s', 'copy_bytes_s', 'emulation_s'), 'QEMU I/O thread', 'always', 0.1, ('dykman2007',), 'The device model builds each frame and writes it to the tap.', False),
        'emulate_receive': (emulate_receive, emulate_receive_gradient, emulate_receive_bus, ('bytes', 'cold_bytes', 'packets'), ('cold_copy_bytes_s', 'copy_bytes_s', 'emulation_s'), 'QEMU I/O thread', 'always', 0.1, ('dykman2007',), "The device model reads each frame from the tap and copies it into the device's memory: two copies.", False),
        'user_forward': (user_forward, user_forward_gradient, user_forward_bus, ('bytes', 'cold_bytes', 'packets'), ('cold_copy_bytes_s', 'copy_bytes_s', 'user_forward_s'), 'QEMU I/O thread', 'always', 0.1, ('ahern2011',), 'A process in user space reads each frame from one tap and writes it to another: two calls, two copies.', False),
        'tap_tick': (tap_tick, tap_tick_gradient, None, ('further_packets',), ('tap_tick_s',), None, 'idle', 0.5, ('dykman2007',), 'After the first packet of a burst each further one waits for the next timer tick of the device model.', False),
        'generator': (generator, generator_gradient, None, ('core_sharing', 'packets'), ('generator_s',), 'cpu', 'always', 0.1, ('perezmartin2020',), 'A kernel packet generator puts each frame straight into the tap; a shared core takes twice as long.', True),
        'xdp_drop': (xdp_drop, xdp_drop_gradient, None, ('packets',), ('xdp_drop_s',), 'vhost worker', 'always', 0.1, ('perezmartin2020',), "An XDP program on the tap counts and drops each frame, in the worker's own context.", False),
    }
