"""Generated from the formulas of vmodel.library.transport by vmodel.solve.compile; do not edit. Key 3f7c9da1b136fd92."""


def formulas(ceil, floor, maximum, minimum, sqrt):
    def virtqueue_post(segments, descriptor_post_s):
        return descriptor_post_s*segments


    def virtqueue_post_gradient(segments, descriptor_post_s):
        return (segments, )


    def virtqueue_reap(delivered, direct, joins, descriptor_reap_s, frame_join_s):
        return delivered*(descriptor_reap_s + frame_join_s*(1 - direct)*(1 - joins))


    def virtqueue_reap_gradient(delivered, direct, joins, descriptor_reap_s, frame_join_s):
        return (delivered, delivered*(1 - direct)*(1 - joins), )


    def kick_check(kick_packets, packets, kick_check_s):
        return kick_check_s*packets/kick_packets


    def kick_check_gradient(kick_packets, packets, kick_check_s):
        return (packets/kick_packets, )


    def worker_wake(worker_poll, worker_wake_s):
        return worker_wake_s*(1 - worker_poll)


    def worker_wake_gradient(worker_poll, worker_wake_s):
        return (1 - worker_poll, )


    def turn_wait(packet_weight, tx_flood, flood_packet_s):
        return (1/2)*flood_packet_s*packet_weight*tx_flood


    def turn_wait_gradient(packet_weight, tx_flood, flood_packet_s):
        return ((1/2)*packet_weight*tx_flood, )


    def ring_ahead(ring_entries, tx_flood, flood_depth, flood_packet_s):
        return flood_depth*flood_packet_s*ring_entries*tx_flood


    def ring_ahead_gradient(ring_entries, tx_flood, flood_depth, flood_packet_s):
        return (flood_packet_s*ring_entries*tx_flood, flood_depth*ring_entries*tx_flood, )


    def vhost_fetch_send(batched_fetch, fetch_batch, segments, send_descriptor_s, send_fetch_turn_s, send_prefetch_s):
        return segments*(batched_fetch*(send_prefetch_s + send_fetch_turn_s/fetch_batch) + send_descriptor_s*(1 - batched_fetch))


    def vhost_fetch_send_gradient(batched_fetch, fetch_batch, segments, send_descriptor_s, send_fetch_turn_s, send_prefetch_s):
        return (segments*(1 - batched_fetch), batched_fetch*segments/fetch_batch, batched_fetch*segments, )


    def vhost_fetch_receive(batched_fetch, fetch_batch, segments, receive_descriptor_s, receive_fetch_turn_s, receive_prefetch_s):
        return segments*(batched_fetch*(receive_prefetch_s + receive_fetch_turn_s/fetch_batch) + receive_descriptor_s*(1 - batched_fetch))


    def vhost_fetch_receive_gradient(batched_fetch, fetch_batch, segments, receive_descriptor_s, receive_fetch_turn_s, receive_prefetch_s):
        return (segments*(1 - batched_fetch), batched_fetch*segments/fetch_batch, batched_fetch*segments, )


    def vhost_translate(batched_fetch, numa_local, segments, numa_penalty, translation_reuse, translation_s):
        return segments*translation_s*(numa_penalty*(1 - numa_local) + 1)/(batched_fetch*translation_reuse + 1)


    def vhost_translate_gradient(batched_fetch, numa_local, segments, numa_penalty, translation_reuse, translation_s):
        return (segments*translation_s*(1 - numa_local)/(batched_fetch*translation_reuse + 1), -batched_fetch*segments*translation_s*(numa_penalty*(1 - numa_local) + 1)/(batched_fetch*translation_reuse + 1)**2, segments*(numa_penalty*(1 - numa_local) + 1)/(batched_fetch*translation_reuse + 1), )


    def vhost_send(buf_api, segments, taken, buf_api_send_s, send_meeting_s, vhost_send_packet_s, vhost_send_turn_s):
        return segments*(buf_api*buf_api_send_s + send_meeting_s/sqrt(taken) + vhost_send_packet_s + vhost_send_turn_s/taken)


    def vhost_send_gradient(buf_api, segments, taken, buf_api_send_s, send_meeting_s, vhost_send_packet_s, vhost_send_turn_s):
        return (buf_api*segments, segments/sqrt(taken), segments, segments/taken, )


    def vhost_receive(batched_fetch, buf_api, numa_local, segments, taken, buf_api_meeting_s, numa_penalty, ring_meeting_s, tap_meeting_s, vhost_receive_packet_s):
        return segments*(vhost_receive_packet_s + (numa_penalty*(1 - numa_local) + 1)*(buf_api*buf_api_meeting_s + ring_meeting_s*(1 - batched_fetch) + tap_meeting_s)/sqrt(taken))


    def vhost_receive_gradient(batched_fetch, buf_api, numa_local, segments, taken, buf_api_meeting_s, numa_penalty, ring_meeting_s, tap_meeting_s, vhost_receive_packet_s):
        return (buf_api*segments*(numa_penalty*(1 - numa_local) + 1)/sqrt(taken), segments*(1 - numa_local)*(buf_api*buf_api_meeting_s + ring_meeting_s*(1 - batched_fetch) + tap_meeting_s)/sqrt(taken), segments*(1 - batched_fetch)*(numa_penalty*(1 - numa_local) + 1)/sqrt(taken), segments*(numa_penalty*(1 - numa_local) + 1)/sqrt(taken), segments, )


    def vhost_buffers(further_buffers, receive_buffer_s):
        return further_buffers*receive_buffer_s


    def vhost_buffers_gradient(further_buffers, receive_buffer_s):
        return (further_buffers, )


    def vhost_copy_send(bytes, dma_engine, segment_cold_bytes, segments, zero_copy, cold_copy_bytes_s, send_copy_call_s, worker_copy_bytes_s):
        return (1 - zero_copy)*(segments*send_copy_call_s + (1 - dma_engine)*((bytes - segment_cold_bytes)/worker_copy_bytes_s + segment_cold_bytes/cold_copy_bytes_s))


    def vhost_copy_send_gradient(bytes, dma_engine, segment_cold_bytes, segments, zero_copy, cold_copy_bytes_s, send_copy_call_s, worker_copy_bytes_s):
        return (-segment_cold_bytes*(1 - dma_engine)*(1 - zero_copy)/cold_copy_bytes_s**2, segments*(1 - zero_copy), -(1 - dma_engine)*(1 - zero_copy)*(bytes - segment_cold_bytes)/worker_copy_bytes_s**2, )


    def vhost_copy_send_bus(bytes, dma_engine, segment_cold_bytes, segments, zero_copy):
        return bytes*(2 - 2*zero_copy)


    def vhost_pin(further_buffers, segments, zero_copy, zero_copy_pin_s):
        return zero_copy*zero_copy_pin_s*(further_buffers + segments)


    def vhost_pin_gradient(further_buffers, segments, zero_copy, zero_copy_pin_s):
        return (zero_copy*(further_buffers + segments), )


    def vhost_copy_receive(bytes, dma_engine, segment_cold_bytes, segments, zero_copy_rx, cold_copy_bytes_s, receive_copy_call_s, worker_copy_bytes_s):
        return (1 - zero_copy_rx)*(receive_copy_call_s*segments + (1 - dma_engine)*((bytes - segment_cold_bytes)/worker_copy_bytes_s + segment_cold_bytes/cold_copy_bytes_s))


    def vhost_copy_receive_gradient(bytes, dma_engine, segment_cold_bytes, segments, zero_copy_rx, cold_copy_bytes_s, receive_copy_call_s, worker_copy_bytes_s):
        return (-segment_cold_bytes*(1 - dma_engine)*(1 - zero_copy_rx)/cold_copy_bytes_s**2, segments*(1 - zero_copy_rx), -(1 - dma_engine)*(1 - zero_copy_rx)*(bytes - segment_cold_bytes)/worker_copy_bytes_s**2, )


    def vhost_copy_receive_bus(bytes, dma_engine, segment_cold_bytes, segments, zero_copy_rx):
        return bytes*(2 - 2*zero_copy_rx)


    def vhost_user_access(direct_metadata, segments, smap, ring_metadata_s, user_access_s):
        return segments*(ring_metadata_s*(1 - direct_metadata) + smap*user_access_s*(3 - direct_metadata))


    def vhost_user_access_gradient(direct_metadata, segments, smap, ring_metadata_s, user_access_s):
        return (segments*(1 - direct_metadata), segments*smap*(3 - direct_metadata), )


    def vhost_give_back(in_order, packed_ring, segments, split_ring_s, used_entry_s):
        return segments*(split_ring_s*(1 - packed_ring) + used_entry_s*(1 - in_order))


    def vhost_give_back_gradient(in_order, packed_ring, segments, split_ring_s, used_entry_s):
        return (segments*(1 - packed_ring), segments*(1 - in_order), )


    def vhost_signal(interrupts, signal_s):
        return interrupts*signal_s


    def vhost_signal_gradient(interrupts, signal_s):
        return (interrupts, )


    def event_check(event_idx, segments, event_check_s):
        return event_check_s*event_idx*segments


    def event_check_gradient(event_idx, segments, event_check_s):
        return (event_idx*segments, )


    def pmd_dequeue(bytes, chain, dma_engine, in_order, numa_local, packed_ring, segment_cold_bytes, segments, cold_copy_bytes_s, copy_bytes_s, numa_penalty, pmd_packet_s, split_ring_s, used_entry_s):
        return chain*(numa_penalty*(1 - numa_local) + 1)*(segments*(pmd_packet_s + split_ring_s*(1 - packed_ring) + used_entry_s*(1 - in_order)) + (1 - dma_engine)*((bytes - segment_cold_bytes)/copy_bytes_s + segment_cold_bytes/cold_copy_bytes_s))


    def pmd_dequeue_gradient(bytes, chain, dma_engine, in_order, numa_local, packed_ring, segment_cold_bytes, segments, cold_copy_bytes_s, copy_bytes_s, numa_penalty, pmd_packet_s, split_ring_s, used_entry_s):
        return (-chain*segment_cold_bytes*(1 - dma_engine)*(numa_penalty*(1 - numa_local) + 1)/cold_copy_bytes_s**2, -chain*(1 - dma_engine)*(bytes - segment_cold_bytes)*(numa_penalty*(1 - numa_local) + 1)/copy_bytes_s**2, chain*(1 - numa_local)*(segments*(pmd_packet_s + split_ring_s*(1 - packed_ring) + used_entry_s*(1 - in_order)) + (1 - dma_engine)*((bytes - segment_cold_bytes)/copy_bytes_s + segment_cold_bytes/cold_copy_bytes_s)), chain*segments*(numa_penalty*(1 - numa_local) + 1), chain*segments*(1 - packed_ring)*(numa_penalty*(1 - numa_local) + 1), chain*segments*(1 - in_order)*(numa_penalty*(1 - numa_local) + 1), )


    def pmd_dequeue_bus(bytes, chain, dma_engine, in_order, numa_local, packed_ring, segment_cold_bytes, segments):
        return 2*bytes*chain


    def pmd_enqueue(bytes, chain, delivered, dma_engine, in_order, numa_local, packed_ring, segment_cold_bytes, cold_copy_bytes_s, copy_bytes_s, numa_penalty, pmd_packet_s, split_ring_s, used_entry_s):
        return chain*(delivered*(pmd_packet_s + split_ring_s*(1 - packed_ring) + used_entry_s*(1 - in_order)) + (1 - dma_engine)*((bytes - segment_cold_bytes)/copy_bytes_s + segment_cold_bytes/cold_copy_bytes_s))*(numa_penalty*(1 - numa_local) + 1)


    def pmd_enqueue_gradient(bytes, chain, delivered, dma_engine, in_order, numa_local, packed_ring, segment_cold_bytes, cold_copy_bytes_s, copy_bytes_s, numa_penalty, pmd_packet_s, split_ring_s, used_entry_s):
        return (-chain*segment_cold_bytes*(1 - dma_engine)*(numa_penalty*(1 - numa_local) + 1)/cold_copy_bytes_s**2, -chain*(1 - dma_engine)*(bytes - segment_cold_bytes)*(numa_penalty*(1 - numa_local) + 1)/copy_bytes_s**2, chain*(1 - numa_local)*(delivered*(pmd_packet_s + split_ring_s*(1 - packed_ring) + used_entry_s*(1 - in_order)) + (1 - dma_engine)*((bytes - segment_cold_bytes)/copy_bytes_s + segment_cold_bytes/cold_copy_bytes_s)), chain*delivered*(numa_penalty*(1 - numa_local) + 1), chain*delivered*(1 - packed_ring)*(numa_penalty*(1 - numa_local) + 1), chain*delivered*(1 - in_order)*(numa_penalty*(1 - numa_local) + 1), )


    def pmd_enqueue_bus(bytes, chain, delivered, dma_engine, in_order, numa_local, packed_ring, segment_cold_bytes):
        return 2*bytes*chain


    def pmd_switch(chain, segments, taken, vms, pmd_turn_s):
        return chain*pmd_turn_s*segments*vms/taken


    def pmd_switch_gradient(chain, segments, taken, vms, pmd_turn_s):
        return (chain*segments*vms/taken, )


    def pmd_nic_send(stack_units, pmd_nic_s):
        return pmd_nic_s*stack_units


    def pmd_nic_send_gradient(stack_units, pmd_nic_s):
        return (stack_units, )


    def pmd_nic_receive(packets, pmd_nic_s):
        return packets*pmd_nic_s


    def pmd_nic_receive_gradient(packets, pmd_nic_s):
        return (packets, )


    def memif_copy(bytes, chain, segment_cold_bytes, segments, cold_copy_bytes_s, copy_bytes_s, memif_s):
        return chain*(memif_s*segments + (bytes - segment_cold_bytes)/copy_bytes_s + segment_cold_bytes/cold_copy_bytes_s)


    def memif_copy_gradient(bytes, chain, segment_cold_bytes, segments, cold_copy_bytes_s, copy_bytes_s, memif_s):
        return (-chain*segment_cold_bytes/cold_copy_bytes_s**2, -chain*(bytes - segment_cold_bytes)/copy_bytes_s**2, chain*segments, )


    def memif_copy_bus(bytes, chain, segment_cold_bytes, segments):
        return 2*bytes*chain


    def vdpa_ring(packets, vdpa_packet_s):
        return packets*vdpa_packet_s


    def vdpa_ring_gradient(packets, vdpa_packet_s):
        return (packets, )


    def io_thread_wake(worker_poll, io_thread_wake_s, worker_wake_s):
        return (1 - worker_poll)*(io_thread_wake_s + worker_wake_s)


    def io_thread_wake_gradient(worker_poll, io_thread_wake_s, worker_wake_s):
        return (1 - worker_poll, 1 - worker_poll, )


    def qemu_send(bytes, dma_engine, segment_cold_bytes, tap_units, cold_copy_bytes_s, qemu_send_s, worker_copy_bytes_s):
        return qemu_send_s*tap_units + (1 - dma_engine)*((bytes - segment_cold_bytes)/worker_copy_bytes_s + segment_cold_bytes/cold_copy_bytes_s)


    def qemu_send_gradient(bytes, dma_engine, segment_cold_bytes, tap_units, cold_copy_bytes_s, qemu_send_s, worker_copy_bytes_s):
        return (-segment_cold_bytes*(1 - dma_engine)/cold_copy_bytes_s**2, tap_units, -(1 - dma_engine)*(bytes - segment_cold_bytes)/worker_copy_bytes_s**2, )


    def qemu_send_bus(bytes, dma_engine, segment_cold_bytes, tap_units):
        return 2*bytes


    def qemu_receive(bytes, dma_engine, further_buffers, segment_cold_bytes, tap_units, cold_copy_bytes_s, qemu_receive_s, receive_buffer_s, worker_copy_bytes_s):
        return further_buffers*receive_buffer_s + qemu_receive_s*tap_units + (1 - dma_engine)*((bytes - segment_cold_bytes)/worker_copy_bytes_s + segment_cold_bytes/cold_copy_bytes_s)


    def qemu_receive_gradient(bytes, dma_engine, further_buffers, segment_cold_bytes, tap_units, cold_copy_bytes_s, qemu_receive_s, receive_buffer_s, worker_copy_bytes_s):
        return (-segment_cold_bytes*(1 - dma_engine)/cold_copy_bytes_s**2, tap_units, further_buffers, -(1 - dma_engine)*(bytes - segment_cold_bytes)/worker_copy_bytes_s**2, )


    def qemu_receive_bus(bytes, dma_engine, further_buffers, segment_cold_bytes, tap_units):
        return 2*bytes


    def qemu_internal_copy(bytes, direct_tap, segment_cold_bytes, cold_copy_bytes_s, copy_bytes_s):
        return (1 - direct_tap)*((bytes - segment_cold_bytes)/copy_bytes_s + segment_cold_bytes/cold_copy_bytes_s)


    def qemu_internal_copy_gradient(bytes, direct_tap, segment_cold_bytes, cold_copy_bytes_s, copy_bytes_s):
        return (-segment_cold_bytes*(1 - direct_tap)/cold_copy_bytes_s**2, -(1 - direct_tap)*(bytes - segment_cold_bytes)/copy_bytes_s**2, )


    def qemu_internal_copy_bus(bytes, direct_tap, segment_cold_bytes):
        return bytes*(2 - 2*direct_tap)


    def event_channel(kicks, event_channel_s):
        return event_channel_s*kicks


    def event_channel_gradient(kicks, event_channel_s):
        return (kicks, )


    def xen_ring(packets, xen_ring_s):
        return packets*xen_ring_s


    def xen_ring_gradient(packets, xen_ring_s):
        return (packets, )


    def grant_flip(kicks, packets, flip_call_s, page_flip_s):
        return flip_call_s*kicks + packets*page_flip_s


    def grant_flip_gradient(kicks, packets, flip_call_s, page_flip_s):
        return (kicks, packets, )


    def grant_copy(bytes, grant_copy_bytes_s):
        return bytes/grant_copy_bytes_s


    def grant_copy_gradient(bytes, grant_copy_bytes_s):
        return (-bytes/grant_copy_bytes_s**2, )


    def grant_copy_bus(bytes):
        return 2*bytes


    def domain_wake(domain_wake_s):
        return domain_wake_s


    def domain_wake_gradient(domain_wake_s):
        return (1, )


    def hvm_event(hvm_event_s):
        return hvm_event_s


    def hvm_event_gradient(hvm_event_s):
        return (1, )


    def netfront(packets, netfront_s):
        return netfront_s*packets


    def netfront_gradient(packets, netfront_s):
        return (packets, )


    def hvm_shadow(packets, hvm_packet_s):
        return hvm_packet_s*packets


    def hvm_shadow_gradient(packets, hvm_packet_s):
        return (packets, )


    return {
        'virtqueue_post': (virtqueue_post, virtqueue_post_gradient, None, ('segments',), ('descriptor_post_s',), 'cpu', 'always', 0.1, ('perezmartin2020',), 'The front-end driver makes descriptors for each segment and shows them in the ring.', False),
        'virtqueue_reap': (virtqueue_reap, virtqueue_reap_gradient, None, ('delivered', 'direct', 'joins'), ('descriptor_reap_s', 'frame_join_s'), 'cpu', 'always', 0.1, ('perezmartin2020', 'virtink2023'), 'The front-end driver takes used buffers from the ring, posts fresh ones, and joins frames that nobody joined.', False),
        'kick_check': (kick_check, kick_check_gradient, None, ('kick_packets', 'packets'), ('kick_check_s',), 'cpu', 'always', 0.1, ('xuan2021',), 'The driver of an AF_XDP sender shows its frames and looks whether the worker wants a kick.', False),
        'worker_wake': (worker_wake, worker_wake_gradient, None, ('worker_poll',), ('worker_wake_s',), None, 'idle', 0.5, ('ahern2011',), 'The scheduler wakes the vhost worker; a worker that polls its rings is awake.', False),
        'turn_wait': (turn_wait, turn_wait_gradient, None, ('packet_weight', 'tx_flood'), ('flood_packet_s',), None, 'idle', 0.5, ('zhang2018',), "A packet to a guest that floods its transmit ring waits for the worker's turn to end, half of one on average.", False),
        'ring_ahead': (ring_ahead, ring_ahead_gradient, None, ('ring_entries', 'tx_flood'), ('flood_depth', 'flood_packet_s'), None, 'idle', 0.1, ('zhang2018',), 'A packet of a guest that floods its transmit ring waits behind the ring and what is queued before it.', False),
        'vhost_fetch_send': (vhost_fetch_send, vhost_fetch_send_gradient, None, ('batched_fetch', 'fetch_batch', 'segments'), ('send_descriptor_s', 'send_fetch_turn_s', 'send_prefetch_s'), 'vhost worker', 'always', 0.1, ('perezmartin2020',), 'The worker reads each transmit descriptor: one by one, or a batch ahead into an array of its own.', False),
        'vhost_fetch_receive': (vhost_fetch_receive, vhost_fetch_receive_gradient, None, ('batched_fetch', 'fetch_batch', 'segments'), ('receive_descriptor_s', 'receive_fetch_turn_s', 'receive_prefetch_s'), 'vhost worker', 'always', 0.1, ('perezmartin2020',), 'The worker reads each receive descriptor: one by one, or a batch ahead into an array of its own.', False),
        'vhost_translate': (vhost_translate, vhost_translate_gradient, None, ('batched_fetch', 'numa_local', 'segments'), ('numa_penalty', 'translation_reuse', 'translation_s'), 'vhost worker', 'always', 0.1, ('perezmartin2020',), 'The worker turns guest addresses into its own; read ahead, one look-up serves 1 + reuse descriptors.', False),
        'vhost_send': (vhost_send, vhost_send_gradient, None, ('buf_api', 'segments', 'taken'), ('buf_api_send_s', 'send_meeting_s', 'vhost_send_packet_s', 'vhost_send_turn_s'), 'vhost worker', 'always', 0.1, ('perezmartin2020',), 'The worker handles each transmitted segment, and hands a batch to the tap in one call. The call is paid once a batch; what meets the guest in the used ring is paid 1/sqrt(batch), as in reception.', False),
        'vhost_receive': (vhost_receive, vhost_receive_gradient, None, ('batched_fetch', 'buf_api', 'numa_local', 'segments', 'taken'), ('buf_api_meeting_s', 'numa_penalty', 'ring_meeting_s', 'tap_meeting_s', 'vhost_receive_packet_s'), 'vhost worker', 'always', 0.1, ('perezmartin2020', 'feller1968'), "The worker takes each packet from the tap's ring; each time it meets the producer there it waits for its line. Both are busy all the time, so their distance in the ring is a walk without drift, which returns to zero about sqrt(n) times in n steps: a batch of n pays sqrt(n) meetings, a packet 1/sqrt(n) of one. Descriptors that are read one by one meet the guest's refills in the same way; read ahead they do not.", False),
        'vhost_buffers': (vhost_buffers, vhost_buffers_gradient, None, ('further_buffers',), ('receive_buffer_s',), 'vhost worker', 'always', 0.1, ('garzarella2019',), 'The worker goes on to another receive buffer where a large segment fills more than one.', False),
        'vhost_copy_send': (vhost_copy_send, vhost_copy_send_gradient, vhost_copy_send_bus, ('bytes', 'dma_engine', 'segment_cold_bytes', 'segments', 'zero_copy'), ('cold_copy_bytes_s', 'send_copy_call_s', 'worker_copy_bytes_s'), 'vhost worker', 'always', 0.1, ('ahern2011', 'perezmartin2020'), 'The worker copies each segment from the guest into a host buffer; zero-copy pins the pages instead.', False),
        'vhost_pin': (vhost_pin, vhost_pin_gradient, None, ('further_buffers', 'segments', 'zero_copy'), ('zero_copy_pin_s',), 'vhost worker', 'always', 0.1, ('ahern2011',), "With zero-copy the worker pins and unpins the guest's pages of each segment.", False),
        'vhost_copy_receive': (vhost_copy_receive, vhost_copy_receive_gradient, vhost_copy_receive_bus, ('bytes', 'dma_engine', 'segment_cold_bytes', 'segments', 'zero_copy_rx'), ('cold_copy_bytes_s', 'receive_copy_call_s', 'worker_copy_bytes_s'), 'vhost worker', 'always', 0.1, ('ahern2011', 'perezmartin2020'), "The worker copies each segment into the guest's buffers; a NIC function of its own can write there itself.", False),
        'vhost_user_access': (vhost_user_access, vhost_user_access_gradient, None, ('direct_metadata', 'segments', 'smap'), ('ring_metadata_s', 'user_access_s'), 'vhost worker', 'always', 0.1, ('wang2019',), "The worker reads a ring's indices and two more words of guest memory for each segment; SMAP opens and closes user memory for each access, and indices that are mapped into the kernel need neither.", False),
        'vhost_give_back': (vhost_give_back, vhost_give_back_gradient, None, ('in_order', 'packed_ring', 'segments'), ('split_ring_s', 'used_entry_s'), 'vhost worker', 'always', 0.1, ('wang2025', 'wang2019'), 'The worker gives each buffer back: by an entry of its own unless in order, on more lines in a split ring.', False),
        'vhost_signal': (vhost_signal, vhost_signal_gradient, None, ('interrupts',), ('signal_s',), 'vhost worker', 'always', 0.1, ('perezmartin2020', 'lettieri2018'), "The worker raises the guest's interrupt.", False),
        'event_check': (event_check, event_check_gradient, None, ('event_idx', 'segments'), ('event_check_s',), 'vhost worker', 'always', 0.1, ('perezmartin2020', 'lettieri2018'), "The worker reads the guest's event index for each segment to learn whether an interrupt is wanted.", False),
        'pmd_dequeue': (pmd_dequeue, pmd_dequeue_gradient, pmd_dequeue_bus, ('bytes', 'chain', 'dma_engine', 'in_order', 'numa_local', 'packed_ring', 'segment_cold_bytes', 'segments'), ('cold_copy_bytes_s', 'copy_bytes_s', 'numa_penalty', 'pmd_packet_s', 'split_ring_s', 'used_entry_s'), 'poll-mode core', 'always', 0.1, ('dpdk2020', 'cnftestbed2018a'), "A poll-mode core takes each segment out of the guest's ring and copies it, once for each function of a chain.", True),
        'pmd_enqueue': (pmd_enqueue, pmd_enqueue_gradient, pmd_enqueue_bus, ('bytes', 'chain', 'delivered', 'dma_engine', 'in_order', 'numa_local', 'packed_ring', 'segment_cold_bytes'), ('cold_copy_bytes_s', 'copy_bytes_s', 'numa_penalty', 'pmd_packet_s', 'split_ring_s', 'used_entry_s'), 'poll-mode core', 'always', 0.1, ('dpdk2020', 'cnftestbed2018a'), "A poll-mode core copies what it has into the guest's ring: segments of a guest, frames of a NIC.", True),
        'pmd_switch': (pmd_switch, pmd_switch_gradient, None, ('chain', 'segments', 'taken', 'vms'), ('pmd_turn_s',), 'poll-mode core', 'always', 0.1, ('dpdk2020', 'cnftestbed2018a'), 'The poll-mode core comes round once a batch; several VMs divide a batch, so that each has more rounds.', False),
        'pmd_nic_send': (pmd_nic_send, pmd_nic_send_gradient, None, ('stack_units',), ('pmd_nic_s',), 'poll-mode core', 'always', 0.1, ('emmerich2015', 'csit2017'), 'The poll-mode core of a switch posts each segment to the NIC.', True),
        'pmd_nic_receive': (pmd_nic_receive, pmd_nic_receive_gradient, None, ('packets',), ('pmd_nic_s',), 'poll-mode core', 'always', 0.1, ('emmerich2015', 'csit2017'), 'The poll-mode core of a switch takes each frame from the NIC; nobody joins frames there.', True),
        'memif_copy': (memif_copy, memif_copy_gradient, memif_copy_bus, ('bytes', 'chain', 'segment_cold_bytes', 'segments'), ('cold_copy_bytes_s', 'copy_bytes_s', 'memif_s'), 'poll-mode core', 'always', 0.1, ('cnftestbed2018a',), 'A poll-mode core copies each frame through a shared-memory interface, once for each function of a chain.', True),
        'vdpa_ring': (vdpa_ring, vdpa_ring_gradient, None, ('packets',), ('vdpa_packet_s',), 'vDPA device', 'always', 0.1, ('perezmartin2020',), "The NIC reads the guest's virtqueue itself: no worker, no copy of descriptors.", False),
        'io_thread_wake': (io_thread_wake, io_thread_wake_gradient, None, ('worker_poll',), ('io_thread_wake_s', 'worker_wake_s'), None, 'idle', 0.5, ('ahern2011', 'dykman2007'), "The scheduler wakes the device model's main loop, which then returns to user space and looks for its work.", False),
        'qemu_send': (qemu_send, qemu_send_gradient, qemu_send_bus, ('bytes', 'dma_engine', 'segment_cold_bytes', 'tap_units'), ('cold_copy_bytes_s', 'qemu_send_s', 'worker_copy_bytes_s'), 'QEMU I/O thread', 'always', 0.1, ('ahern2011', 'dykman2007'), "The I/O thread takes each unit from the guest's ring and writes it to the tap: one kernel/user copy.", False),
        'qemu_receive': (qemu_receive, qemu_receive_gradient, qemu_receive_bus, ('bytes', 'dma_engine', 'further_buffers', 'segment_cold_bytes', 'tap_units'), ('cold_copy_bytes_s', 'qemu_receive_s', 'receive_buffer_s', 'worker_copy_bytes_s'), 'QEMU I/O thread', 'always', 0.1, ('ahern2011', 'dykman2007'), "The I/O thread reads each unit from the tap into a buffer of its own, one kernel/user copy, and fills the guest's receive buffers one after the other.", False),
        'qemu_internal_copy': (qemu_internal_copy, qemu_internal_copy_gradient, qemu_internal_copy_bus, ('bytes', 'direct_tap', 'segment_cold_bytes'), ('cold_copy_bytes_s', 'copy_bytes_s'), 'QEMU I/O thread', 'always', 0.1, ('ahern2011',), "The I/O thread copies from its own buffer into the guest's scatter list: the second copy of reception.", False),
        'event_channel': (event_channel, event_channel_gradient, None, ('kicks',), ('event_channel_s',), 'back-end CPU', 'always', 0.1, ('dykman2007',), 'A domain notifies the other through an event channel: a hypercall and a switch of domains.', False),
        'xen_ring': (xen_ring, xen_ring_gradient, None, ('packets',), ('xen_ring_s',), 'back-end CPU', 'always', 0.1, ('dykman2007',), "netback moves each packet's requests and responses through the shared ring.", False),
        'grant_flip': (grant_flip, grant_flip_gradient, None, ('kicks', 'packets'), ('flip_call_s', 'page_flip_s'), 'back-end CPU', 'always', 0.1, ('dykman2007', 'menon2006'), 'netback gives pages away to a paravirtual guest: one hypercall a burst, one page-table change a packet.', False),
        'grant_copy': (grant_copy, grant_copy_gradient, grant_copy_bus, ('bytes',), ('grant_copy_bytes_s',), 'back-end CPU', 'always', 0.1, ('dykman2007', 'menon2006'), 'netback has the hypervisor copy the payload into granted pages.', False),
        'domain_wake': (domain_wake, domain_wake_gradient, None, (), ('domain_wake_s',), None, 'idle', 0.5, ('dykman2007',), "The hypervisor's scheduler runs the blocked domain again.", False),
        'hvm_event': (hvm_event, hvm_event_gradient, None, (), ('hvm_event_s',), None, 'idle', 0.5, ('dykman2007',), 'A fully virtualised guest gets its event as an emulated interrupt, with the exits that belong to it.', False),
        'netfront': (netfront, netfront_gradient, None, ('packets',), ('netfront_s',), 'cpu', 'always', 0.1, ('dykman2007',), 'netfront makes requests for each packet and takes responses back.', False),
        'hvm_shadow': (hvm_shadow, hvm_shadow_gradient, None, ('packets',), ('hvm_packet_s',), 'cpu', 'always', 0.1, ('dykman2007',), 'A fully virtualised guest under shadow paging pays for the page tables that each packet touches.', False),
    }
