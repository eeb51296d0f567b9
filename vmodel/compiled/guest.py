"""Generated from the formulas of vmodel.library.guest by vmodel.solve.compile; do not edit. Key 23dc914e25453ed1."""


def formulas(ceil, floor, maximum, minimum, sqrt):
    def app_send(send_call_s):
        return send_call_s


    def app_send_gradient(send_call_s):
        return (1, )


    def copy_send(bytes, cold_bytes, send_zero_copy, cache_bytes, cold_copy_bytes_s, copy_bytes_s, memory_copy_bytes_s):
        return (1 - send_zero_copy)*(bytes**2/(memory_copy_bytes_s*(bytes + cache_bytes)) + cold_bytes/cold_copy_bytes_s + (bytes - cold_bytes)/copy_bytes_s)


    def copy_send_gradient(bytes, cold_bytes, send_zero_copy, cache_bytes, cold_copy_bytes_s, copy_bytes_s, memory_copy_bytes_s):
        return (-bytes**2*(1 - send_zero_copy)/(memory_copy_bytes_s*(bytes + cache_bytes)**2), -cold_bytes*(1 - send_zero_copy)/cold_copy_bytes_s**2, -(1 - send_zero_copy)*(bytes - cold_bytes)/copy_bytes_s**2, -bytes**2*(1 - send_zero_copy)/(memory_copy_bytes_s**2*(bytes + cache_bytes)), )


    def copy_send_bus(bytes, cold_bytes, send_zero_copy):
        return 2*bytes*(1 - send_zero_copy)


    def pin_send(bytes, page_bytes, send_zero_copy, pin_call_s, zero_copy_pin_s):
        return send_zero_copy*(bytes*zero_copy_pin_s/page_bytes + pin_call_s)


    def pin_send_gradient(bytes, page_bytes, send_zero_copy, pin_call_s, zero_copy_pin_s):
        return (send_zero_copy, bytes*send_zero_copy/page_bytes, )


    def stack_send(stack_units, tcp, stack_segment_s, tcp_s):
        return stack_units*(stack_segment_s + tcp*tcp_s)


    def stack_send_gradient(stack_units, tcp, stack_segment_s, tcp_s):
        return (stack_units, stack_units*tcp, )


    def stack_receive(receive_units, tcp, stack_receive_s, tcp_s):
        return receive_units*(stack_receive_s + tcp*tcp_s)


    def stack_receive_gradient(receive_units, tcp, stack_receive_s, tcp_s):
        return (receive_units, receive_units*tcp, )


    def copy_receive(bytes, segment_cold_bytes, cache_bytes, cold_copy_bytes_s, copy_bytes_s, memory_copy_bytes_s):
        return bytes**2/(memory_copy_bytes_s*(bytes + cache_bytes)) + (bytes - segment_cold_bytes)/copy_bytes_s + segment_cold_bytes/cold_copy_bytes_s


    def copy_receive_gradient(bytes, segment_cold_bytes, cache_bytes, cold_copy_bytes_s, copy_bytes_s, memory_copy_bytes_s):
        return (-bytes**2/(memory_copy_bytes_s*(bytes + cache_bytes)**2), -segment_cold_bytes/cold_copy_bytes_s**2, -(bytes - segment_cold_bytes)/copy_bytes_s**2, -bytes**2/(memory_copy_bytes_s**2*(bytes + cache_bytes)), )


    def copy_receive_bus(bytes, segment_cold_bytes):
        return 2*bytes


    def app_wake(busy_poll, process_wake_s):
        return process_wake_s*(1 - busy_poll)


    def app_wake_gradient(busy_poll, process_wake_s):
        return (1 - busy_poll, )


    def app_receive(receive_call_s):
        return receive_call_s


    def app_receive_gradient(receive_call_s):
        return (1, )


    def loopback_queue(segments, loopback_s):
        return loopback_s*segments


    def loopback_queue_gradient(segments, loopback_s):
        return (segments, )


    def veth_cross(segments, veth_s):
        return segments*veth_s


    def veth_cross_gradient(segments, veth_s):
        return (segments, )


    def af_packet_send(packets, af_packet_s):
        return af_packet_s*packets


    def af_packet_send_gradient(packets, af_packet_s):
        return (packets, )


    def af_packet_receive(packets, af_packet_receive_s):
        return af_packet_receive_s*packets


    def af_packet_receive_gradient(packets, af_packet_receive_s):
        return (packets, )


    def af_xdp_ring(packets, af_xdp_s):
        return af_xdp_s*packets


    def af_xdp_ring_gradient(packets, af_xdp_s):
        return (packets, )


    def xdp_program(packets, xdp_program_s):
        return packets*xdp_program_s


    def xdp_program_gradient(packets, xdp_program_s):
        return (packets, )


    def poll_mode_send(packets, poll_mode_packet_s):
        return packets*poll_mode_packet_s


    def poll_mode_send_gradient(packets, poll_mode_packet_s):
        return (packets, )


    def poll_mode_receive(packets, poll_mode_packet_s):
        return packets*poll_mode_packet_s


    def poll_mode_receive_gradient(packets, poll_mode_packet_s):
        return (packets, )


    def virtio_frame(packets, virtio_frame_s):
        return packets*virtio_frame_s


    def virtio_frame_gradient(packets, virtio_frame_s):
        return (packets, )


    def memif_frame(bytes, packets, segment_cold_bytes, cold_copy_bytes_s, copy_bytes_s, memif_s):
        return memif_s*packets + (bytes - segment_cold_bytes)/copy_bytes_s + segment_cold_bytes/cold_copy_bytes_s


    def memif_frame_gradient(bytes, packets, segment_cold_bytes, cold_copy_bytes_s, copy_bytes_s, memif_s):
        return (-segment_cold_bytes/cold_copy_bytes_s**2, -(bytes - segment_cold_bytes)/copy_bytes_s**2, packets, )


    def memif_frame_bus(bytes, packets, segment_cold_bytes):
        return 2*bytes


    def kick(kicks, exit_s):
        return exit_s*kicks


    def kick_gradient(kicks, exit_s):
        return (kicks, )


    def interrupt_injection(interrupts, posted_interrupts, injection_s):
        return injection_s*interrupts*(1 - posted_interrupts)


    def interrupt_injection_gradient(interrupts, posted_interrupts, injection_s):
        return (interrupts*(1 - posted_interrupts), )


    def guest_interrupt(interrupts, guest_interrupt_s):
        return guest_interrupt_s*interrupts


    def guest_interrupt_gradient(interrupts, guest_interrupt_s):
        return (interrupts, )


    def cross_cpu(irq_affinity, cross_cpu_s):
        return cross_cpu_s*(1 - irq_affinity)


    def cross_cpu_gradient(irq_affinity, cross_cpu_s):
        return (1 - irq_affinity, )


    def vcpu_wake(halt_poll, vcpu_wake_s):
        return vcpu_wake_s*(1 - halt_poll)


    def vcpu_wake_gradient(halt_poll, vcpu_wake_s):
        return (1 - halt_poll, )


    return {
        'app_send': (app_send, app_send_gradient, None, (), ('send_call_s',), 'cpu', 'always', 0.1, ('dykman2007', 'garzarella2019'), 'The application enters the kernel once for each message it sends.', False),
        'copy_send': (copy_send, copy_send_gradient, copy_send_bus, ('bytes', 'cold_bytes', 'send_zero_copy'), ('cache_bytes', 'cold_copy_bytes_s', 'copy_bytes_s', 'memory_copy_bytes_s'), 'cpu', 'always', 0.1, ('ahern2011', 'garzarella2019', 'virtink2023'), 'The socket layer copies the message from user space into kernel buffers, unless it is sent from its own pages.', False),
        'pin_send': (pin_send, pin_send_gradient, None, ('bytes', 'page_bytes', 'send_zero_copy'), ('pin_call_s', 'zero_copy_pin_s'), 'cpu', 'always', 0.1, ('filippov2025a',), 'A send without a copy pins each page of the message and reports later that the pages are free again.', False),
        'stack_send': (stack_send, stack_send_gradient, None, ('stack_units', 'tcp'), ('stack_segment_s', 'tcp_s'), 'cpu', 'always', 0.1, ('dykman2007', 'virtink2023'), 'The stack builds headers for each unit it hands down: a segment with TSO, a packet without.', False),
        'stack_receive': (stack_receive, stack_receive_gradient, None, ('receive_units', 'tcp'), ('stack_receive_s', 'tcp_s'), 'cpu', 'always', 0.1, ('dykman2007', 'virtink2023'), 'The stack takes each received unit through IP and TCP: a segment with GRO, a packet without.', False),
        'copy_receive': (copy_receive, copy_receive_gradient, copy_receive_bus, ('bytes', 'segment_cold_bytes'), ('cache_bytes', 'cold_copy_bytes_s', 'copy_bytes_s', 'memory_copy_bytes_s'), 'cpu', 'always', 0.1, ('ahern2011', 'virtink2023'), 'The socket layer copies the message from kernel buffers to user space; each segment starts on a cold page.', False),
        'app_wake': (app_wake, app_wake_gradient, None, ('busy_poll',), ('process_wake_s',), None, 'idle', 0.5, ('dykman2007',), 'The scheduler wakes the sleeping receiver; an application that polls its socket does not sleep.', False),
        'app_receive': (app_receive, app_receive_gradient, None, (), ('receive_call_s',), 'cpu', 'always', 0.1, ('dykman2007',), 'The application leaves the kernel with each message it receives.', False),
        'loopback_queue': (loopback_queue, loopback_queue_gradient, None, ('segments',), ('loopback_s',), 'cpu', 'always', 0.1, ('dykman2007',), 'The loopback device puts each segment on the backlog of its own CPU.', False),
        'veth_cross': (veth_cross, veth_cross_gradient, None, ('segments',), ('veth_s',), 'cpu', 'always', 0.1, ('dykman2007',), 'A veth device hands each segment to the other network name space.', False),
        'af_packet_send': (af_packet_send, af_packet_send_gradient, None, ('packets',), ('af_packet_s',), 'cpu', 'always', 0.1, ('perezmartin2020',), 'A packet socket takes each frame from its memory-mapped ring to the driver.', False),
        'af_packet_receive': (af_packet_receive, af_packet_receive_gradient, None, ('packets',), ('af_packet_receive_s',), 'cpu', 'always', 0.1, ('perezmartin2020',), 'A packet socket clones each received frame into its memory-mapped ring.', False),
        'af_xdp_ring': (af_xdp_ring, af_xdp_ring_gradient, None, ('packets',), ('af_xdp_s',), 'cpu', 'always', 0.1, ('hoiland2018',), "An AF_XDP socket moves each frame's descriptor between user and driver rings.", False),
        'xdp_program': (xdp_program, xdp_program_gradient, None, ('packets',), ('xdp_program_s',), 'cpu', 'always', 0.1, ('hoiland2018',), 'The driver runs an XDP program on each frame before a socket buffer exists.', False),
        'poll_mode_send': (poll_mode_send, poll_mode_send_gradient, None, ('packets',), ('poll_mode_packet_s',), 'cpu', 'always', 0.1, ('emmerich2015',), 'A poll-mode application posts each frame to the queue it owns.', True),
        'poll_mode_receive': (poll_mode_receive, poll_mode_receive_gradient, None, ('packets',), ('poll_mode_packet_s',), 'cpu', 'always', 0.1, ('emmerich2015',), 'A poll-mode application takes each frame from the queue it owns.', True),
        'virtio_frame': (virtio_frame, virtio_frame_gradient, None, ('packets',), ('virtio_frame_s',), 'cpu', 'always', 0.1, ('cnftestbed2018a',), 'A poll-mode virtio driver in the guest fills or empties the descriptor of each frame.', True),
        'memif_frame': (memif_frame, memif_frame_gradient, memif_frame_bus, ('bytes', 'packets', 'segment_cold_bytes'), ('cold_copy_bytes_s', 'copy_bytes_s', 'memif_s'), 'cpu', 'always', 0.1, ('cnftestbed2018a',), 'A function at a shared-memory interface takes or copies each frame on its own processor.', True),
        'kick': (kick, kick_gradient, None, ('kicks',), ('exit_s',), 'cpu', 'always', 0.1, ('ahern2011', 'dykman2007'), 'The guest leaves to the hypervisor to tell the back end that work waits.', False),
        'interrupt_injection': (interrupt_injection, interrupt_injection_gradient, None, ('interrupts', 'posted_interrupts'), ('injection_s',), 'cpu', 'always', 0.1, ('ahern2011',), 'The hypervisor forces an exit and injects the interrupt; posted interrupts need neither.', False),
        'guest_interrupt': (guest_interrupt, guest_interrupt_gradient, None, ('interrupts',), ('guest_interrupt_s',), 'cpu', 'always', 0.1, ('ahern2011',), 'The guest takes the interrupt and starts its softirq.', False),
        'cross_cpu': (cross_cpu, cross_cpu_gradient, None, ('irq_affinity',), ('cross_cpu_s',), None, 'idle', 0.5, ('ahern2011',), 'The interrupt lands on another CPU than the one that runs the vCPU, and a second one is sent there.', False),
        'vcpu_wake': (vcpu_wake, vcpu_wake_gradient, None, ('halt_poll',), ('vcpu_wake_s',), None, 'idle', 0.5, ('ahern2011',), 'The host schedules a halted vCPU again; while halt polling lasts it was never halted.', False),
    }
