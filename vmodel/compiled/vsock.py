"""Generated from the formulas of vmodel.library.vsock by vmodel.solve.compile; do not edit. Key 6d419a85034afa50."""


def formulas(ceil, floor, maximum, minimum, sqrt):
    def vsock_send(vsock_send_s):
        return vsock_send_s


    def vsock_send_gradient(vsock_send_s):
        return (1, )


    def vsock_allocate(vsock_large, zero_copy, large_allocation_s):
        return large_allocation_s*vsock_large*(1 - zero_copy)


    def vsock_allocate_gradient(vsock_large, zero_copy, large_allocation_s):
        return (vsock_large*(1 - zero_copy), )


    def vsock_copy_send(bytes, vsock_cold_bytes, zero_copy, vsock_cold_copy_bytes_s, vsock_copy_bytes_s):
        return (1 - zero_copy)*(vsock_cold_bytes/vsock_cold_copy_bytes_s + (bytes - vsock_cold_bytes)/vsock_copy_bytes_s)


    def vsock_copy_send_gradient(bytes, vsock_cold_bytes, zero_copy, vsock_cold_copy_bytes_s, vsock_copy_bytes_s):
        return (-vsock_cold_bytes*(1 - zero_copy)/vsock_cold_copy_bytes_s**2, -(1 - zero_copy)*(bytes - vsock_cold_bytes)/vsock_copy_bytes_s**2, )


    def vsock_copy_send_bus(bytes, vsock_cold_bytes, zero_copy):
        return 2*bytes*(1 - zero_copy)


    def vsock_worker(bytes, dma_engine, vsock_cold_bytes, vsock_packets, cold_copy_bytes_s, vsock_packet_s, vsock_worker_copy_bytes_s):
        return vsock_packet_s*vsock_packets + (1 - dma_engine)*((bytes - vsock_cold_bytes)/vsock_worker_copy_bytes_s + vsock_cold_bytes/cold_copy_bytes_s)


    def vsock_worker_gradient(bytes, dma_engine, vsock_cold_bytes, vsock_packets, cold_copy_bytes_s, vsock_packet_s, vsock_worker_copy_bytes_s):
        return (-vsock_cold_bytes*(1 - dma_engine)/cold_copy_bytes_s**2, vsock_packets, -(1 - dma_engine)*(bytes - vsock_cold_bytes)/vsock_worker_copy_bytes_s**2, )


    def vsock_worker_bus(bytes, dma_engine, vsock_cold_bytes, vsock_packets):
        return 2*bytes


    def vsock_receive(vsock_receive_s):
        return vsock_receive_s


    def vsock_receive_gradient(vsock_receive_s):
        return (1, )


    def vsock_refill(vsock_fill, vsock_packets, buffer_refill_s):
        return buffer_refill_s*vsock_packets/vsock_fill


    def vsock_refill_gradient(vsock_fill, vsock_packets, buffer_refill_s):
        return (vsock_packets/vsock_fill, )


    def vsock_copy_receive(bytes, vsock_receive_copy_bytes_s):
        return bytes/vsock_receive_copy_bytes_s


    def vsock_copy_receive_gradient(bytes, vsock_receive_copy_bytes_s):
        return (-bytes/vsock_receive_copy_bytes_s**2, )


    def vsock_copy_receive_bus(bytes):
        return 2*bytes


    def credit_from_guest(credit_per_packet, kicks, vsock_packets, credit_kick_s, credit_packet_s):
        return credit_per_packet*(credit_kick_s*kicks + credit_packet_s*vsock_packets)


    def credit_from_guest_gradient(credit_per_packet, kicks, vsock_packets, credit_kick_s, credit_packet_s):
        return (credit_per_packet*kicks, credit_per_packet*vsock_packets, )


    def credit_lockstep(credit_per_packet, first_packet_bytes, lockstep_bytes_s):
        return credit_per_packet*first_packet_bytes/lockstep_bytes_s


    def credit_lockstep_gradient(credit_per_packet, first_packet_bytes, lockstep_bytes_s):
        return (-credit_per_packet*first_packet_bytes/lockstep_bytes_s**2, )


    def credit_from_host(credit_per_packet, vsock_packets, credit_host_s):
        return credit_host_s*credit_per_packet*vsock_packets


    def credit_from_host_gradient(credit_per_packet, vsock_packets, credit_host_s):
        return (credit_per_packet*vsock_packets, )


    def credit_taken(credit_per_packet, vsock_packets, credit_taken_s):
        return credit_per_packet*credit_taken_s*vsock_packets


    def credit_taken_gradient(credit_per_packet, vsock_packets, credit_taken_s):
        return (credit_per_packet*vsock_packets, )


    def credit_wake(credit_per_packet, vsock_packets, credit_wake_s):
        return credit_per_packet*credit_wake_s*vsock_packets


    def credit_wake_gradient(credit_per_packet, vsock_packets, credit_wake_s):
        return (credit_per_packet*vsock_packets, )


    return {
        'vsock_send': (vsock_send, vsock_send_gradient, None, (), ('vsock_send_s',), 'cpu', 'always', 0.1, ('garzarella2019',), 'The sender enters the kernel, checks its credit and queues the packets of one message.', False),
        'vsock_allocate': (vsock_allocate, vsock_allocate_gradient, None, ('vsock_large', 'zero_copy'), ('large_allocation_s',), 'cpu', 'always', 0.1, ('garzarella2019',), "The sender's kernel gets each buffer of more than two pages from the page allocator instead of a slab.", False),
        'vsock_copy_send': (vsock_copy_send, vsock_copy_send_gradient, vsock_copy_send_bus, ('bytes', 'vsock_cold_bytes', 'zero_copy'), ('vsock_cold_copy_bytes_s', 'vsock_copy_bytes_s'), 'cpu', 'always', 0.1, ('garzarella2019',), "The sender's kernel allocates a buffer for each packet and copies the payload into it.", False),
        'vsock_worker': (vsock_worker, vsock_worker_gradient, vsock_worker_bus, ('bytes', 'dma_engine', 'vsock_cold_bytes', 'vsock_packets'), ('cold_copy_bytes_s', 'vsock_packet_s', 'vsock_worker_copy_bytes_s'), 'vhost worker', 'always', 0.1, ('garzarella2019',), "The vhost worker moves each packet between guest buffers and the host's queue.", False),
        'vsock_receive': (vsock_receive, vsock_receive_gradient, None, (), ('vsock_receive_s',), 'cpu', 'always', 0.1, ('garzarella2019',), "The receiver takes the message's packets from the socket queue and returns to user space.", False),
        'vsock_refill': (vsock_refill, vsock_refill_gradient, None, ('vsock_fill', 'vsock_packets'), ('buffer_refill_s',), 'cpu', 'always', 0.1, ('garzarella2019',), 'The guest posts a fresh receive buffer for each one used; merged packets share a buffer.', False),
        'vsock_copy_receive': (vsock_copy_receive, vsock_copy_receive_gradient, vsock_copy_receive_bus, ('bytes',), ('vsock_receive_copy_bytes_s',), 'cpu', 'always', 0.1, ('garzarella2019',), "The receiver's kernel copies the payload out of buffers that the worker has just written to user space.", False),
        'credit_from_guest': (credit_from_guest, credit_from_guest_gradient, None, ('credit_per_packet', 'kicks', 'vsock_packets'), ('credit_kick_s', 'credit_packet_s'), 'cpu', 'always', 0.1, ('garzarella2019',), 'The receiving guest answers each packet with a credit packet; those of one message share a notification.', False),
        'credit_lockstep': (credit_lockstep, credit_lockstep_gradient, None, ('credit_per_packet', 'first_packet_bytes'), ('lockstep_bytes_s',), 'cpu', 'always', 0.1, ('garzarella2019',), "With a credit packet for each packet, receiver and worker take turns: the first packet's two earlier copies are not hidden behind the receiver's own work.", False),
        'credit_from_host': (credit_from_host, credit_from_host_gradient, None, ('credit_per_packet', 'vsock_packets'), ('credit_host_s',), 'vhost worker', 'always', 0.1, ('garzarella2019',), "The worker puts a credit packet into the guest's receive ring for each packet the host takes.", False),
        'credit_taken': (credit_taken, credit_taken_gradient, None, ('credit_per_packet', 'vsock_packets'), ('credit_taken_s',), 'cpu', 'always', 0.1, ('garzarella2019',), 'The sending guest takes a credit packet out of its receive ring for each packet sent.', False),
        'credit_wake': (credit_wake, credit_wake_gradient, None, ('credit_per_packet', 'vsock_packets'), ('credit_wake_s',), 'vhost worker', 'blocked', 0.1, ('garzarella2019',), "A sender out of credit sleeps and is woken by each credit packet, at the worker's expense.", False),
    }
