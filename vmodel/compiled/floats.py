"""Generated from the formulas of vmodel.library by vmodel.solve.compile; do not edit. Key ce6b2e43fa84bd04."""

from math import ceil, floor, sqrt


def maximum(a, b):
    return a if a >= b else b


def minimum(a, b):
    return a if a <= b else b


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


def traffic_rr(batch, datagram_saving_bytes, descriptor_batch, direct, frame_bytes, gap_bytes, gro, header_bytes, joins, mtu_bytes, page_bytes, scatter_gather, segment_limit_bytes, size_bytes, timestamp_bytes, timestamps, tso, udp):
    x0 = 1 - udp
    x1 = tso*x0
    x2 = datagram_saving_bytes*udp
    x3 = timestamp_bytes*timestamps*x0
    x4 = 1/(-header_bytes + mtu_bytes + x2 - x3)
    x5 = size_bytes*x4
    x6 = ceil(x5/(x1*maximum(1, floor(segment_limit_bytes*x4)) - x1 + 1))
    x7 = ceil(x5)
    x8 = gro*minimum(x6, x7)
    x9 = 1 - direct
    x10 = direct*x6
    x11 = minimum(1, x6)
    return {
        'bytes': size_bytes,
        'tcp': x0,
        'segments': x6,
        'packets': x7,
        'stack_units': x1*x6 + x7*(1 - x1),
        'receive_units': x8 + (1 - gro)*(x10 + x7*x9),
        'delivered': x10 + x9*(joins*x8 + x7*(-gro*joins + 1)),
        'tap_units': scatter_gather*x6 + x7*(1 - scatter_gather),
        'wire_bytes': size_bytes + x7*(frame_bytes + gap_bytes + header_bytes - x2 + x3),
        'cold_bytes': minimum(page_bytes, size_bytes),
        'segment_cold_bytes': minimum(size_bytes, page_bytes*x6),
        'further_buffers': -x6 + maximum(x6, size_bytes/page_bytes),
        'further_packets': x7 - minimum(1, x7),
        'taken': minimum(batch, x6),
        'fetch_batch': minimum(x6, descriptor_batch + 1),
        'kicks': x11,
        'interrupts': x11,
    }


traffic_rr_knobs = ('batch', 'datagram_saving_bytes', 'descriptor_batch', 'direct', 'frame_bytes', 'gap_bytes', 'gro', 'header_bytes', 'joins', 'mtu_bytes', 'page_bytes', 'scatter_gather', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp')


def traffic_rr_vsock(coalesce_writes, merge_rx_buffers, page_bytes, rx_buffer_bytes, segment_limit_bytes, size_bytes):
    x0 = minimum(rx_buffer_bytes, segment_limit_bytes)
    x1 = size_bytes/x0
    x2 = coalesce_writes*x1 + (1 - coalesce_writes)*ceil(x1)
    x3 = minimum(size_bytes, x0)
    return {
        'vsock_packets': x2,
        'vsock_fill': merge_rx_buffers*maximum(1, rx_buffer_bytes/x3) - merge_rx_buffers + 1,
        'vsock_large': x2*minimum(1, ceil((1/2)*x3/page_bytes) - 1),
        'vsock_cold_bytes': minimum(size_bytes, page_bytes*x2),
        'first_packet_bytes': minimum(page_bytes, x3),
    }


traffic_rr_vsock_knobs = ('coalesce_writes', 'merge_rx_buffers', 'page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes')


def traffic_stream(batch, coalesce_writes, datagram_saving_bytes, descriptor_batch, direct, fills, frame_bytes, gap_bytes, gro, header_bytes, interrupt_batch, joins, merges, mtu_bytes, nodelay, page_bytes, rx_buffer_bytes, scatter_gather, segment_limit_bytes, size_bytes, timestamp_bytes, timestamps, tso, udp):
    x0 = 1 - udp
    x1 = x0*(1 - nodelay)
    x2 = merges*x1
    x3 = tso*x0
    x4 = datagram_saving_bytes*udp
    x5 = timestamp_bytes*timestamps*x0
    x6 = 1/(-header_bytes + mtu_bytes + x4 - x5)
    x7 = size_bytes*x6
    x8 = x7/(x3*maximum(1, floor(segment_limit_bytes*x6)) - x3 + 1)
    x9 = 1 - x2
    x10 = fills*x1
    x11 = x1*x7 + (1 - x1)*ceil(x7)
    x12 = x11*(1 - x3)
    x13 = x2*x8 + x9*(x12 + x3*ceil(x8))*(x10*minimum(1, x7) - x10 + 1)
    x14 = gro*minimum(x11, x13)
    x15 = 1 - direct
    x16 = direct*x13
    x17 = maximum(1, x13)
    x18 = descriptor_batch + 1
    x19 = coalesce_writes*minimum(1, size_bytes/minimum(rx_buffer_bytes, segment_limit_bytes)) + (1 - coalesce_writes)*minimum(1, x13)
    return {
        'bytes': size_bytes,
        'tcp': x0,
        'segments': x13,
        'packets': x11,
        'stack_units': x12 + x13*x3,
        'receive_units': x14 + (1 - gro)*(x11*x15 + x16),
        'delivered': x15*(joins*x14 + x11*(-gro*joins + 1)) + x16,
        'tap_units': scatter_gather*x13 + x11*(1 - scatter_gather),
        'wire_bytes': size_bytes + x11*(frame_bytes + gap_bytes + header_bytes - x4 + x5),
        'cold_bytes': minimum(page_bytes, size_bytes),
        'segment_cold_bytes': minimum(size_bytes, page_bytes*x13),
        'further_buffers': -x13 + maximum(x13, size_bytes/page_bytes),
        'further_packets': x11 - minimum(1, x11),
        'taken': batch*x2 + x9*minimum(batch, x17),
        'fetch_batch': minimum(x18, x17*x9 + x18*x2),
        'kicks': x19,
        'interrupts': x19/interrupt_batch,
    }


traffic_stream_knobs = ('batch', 'coalesce_writes', 'datagram_saving_bytes', 'descriptor_batch', 'direct', 'fills', 'frame_bytes', 'gap_bytes', 'gro', 'header_bytes', 'interrupt_batch', 'joins', 'merges', 'mtu_bytes', 'nodelay', 'page_bytes', 'rx_buffer_bytes', 'scatter_gather', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp')


def traffic_stream_vsock(coalesce_writes, merge_rx_buffers, page_bytes, rx_buffer_bytes, segment_limit_bytes, size_bytes):
    x0 = minimum(rx_buffer_bytes, segment_limit_bytes)
    x1 = size_bytes/x0
    x2 = coalesce_writes*x1 + (1 - coalesce_writes)*ceil(x1)
    x3 = minimum(size_bytes, x0)
    return {
        'vsock_packets': x2,
        'vsock_fill': merge_rx_buffers*maximum(1, rx_buffer_bytes/x3) - merge_rx_buffers + 1,
        'vsock_large': x2*minimum(1, ceil((1/2)*x3/page_bytes) - 1),
        'vsock_cold_bytes': minimum(size_bytes, page_bytes*x2),
        'first_packet_bytes': minimum(page_bytes, x3),
    }


traffic_stream_vsock_knobs = ('coalesce_writes', 'merge_rx_buffers', 'page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes')


def traffic_packets(batch, descriptor_batch, direct, frame_bytes, gap_bytes, gro, interrupt_batch, joins, mtu_bytes, page_bytes, scatter_gather, size_bytes, tso, udp):
    x0 = ceil(size_bytes/(frame_bytes + mtu_bytes))
    x1 = tso*(1 - udp)
    x2 = gro*x0
    x3 = direct*x0
    x4 = 1 - direct
    return {
        'bytes': size_bytes,
        'tcp': 0,
        'segments': x0,
        'packets': x0,
        'stack_units': x0*x1 + x0*(1 - x1),
        'receive_units': x2 + (1 - gro)*(x0*x4 + x3),
        'delivered': x3 + x4*(joins*x2 + x0*(-gro*joins + 1)),
        'tap_units': scatter_gather*x0 + x0*(1 - scatter_gather),
        'wire_bytes': gap_bytes*x0 + size_bytes,
        'cold_bytes': minimum(page_bytes, size_bytes),
        'segment_cold_bytes': minimum(size_bytes, page_bytes*x0),
        'further_buffers': -x0 + maximum(x0, size_bytes/page_bytes),
        'further_packets': x0 - minimum(1, x0),
        'taken': batch,
        'fetch_batch': descriptor_batch + 1,
        'kicks': 1/batch,
        'interrupts': 1/maximum(batch, interrupt_batch),
    }


traffic_packets_knobs = ('batch', 'descriptor_batch', 'direct', 'frame_bytes', 'gap_bytes', 'gro', 'interrupt_batch', 'joins', 'mtu_bytes', 'page_bytes', 'scatter_gather', 'size_bytes', 'tso', 'udp')


def traffic_packets_vsock(coalesce_writes, merge_rx_buffers, page_bytes, rx_buffer_bytes, segment_limit_bytes, size_bytes):
    x0 = minimum(rx_buffer_bytes, segment_limit_bytes)
    x1 = size_bytes/x0
    x2 = coalesce_writes*x1 + (1 - coalesce_writes)*ceil(x1)
    x3 = minimum(size_bytes, x0)
    return {
        'vsock_packets': x2,
        'vsock_fill': merge_rx_buffers*maximum(1, rx_buffer_bytes/x3) - merge_rx_buffers + 1,
        'vsock_large': x2*minimum(1, ceil((1/2)*x3/page_bytes) - 1),
        'vsock_cold_bytes': minimum(size_bytes, page_bytes*x2),
        'first_packet_bytes': minimum(page_bytes, x3),
    }


traffic_packets_vsock_knobs = ('coalesce_writes', 'merge_rx_buffers', 'page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes')


STAGES = {
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
    'pcie_transit': (pcie_transit, pcie_transit_gradient, None, (), ('pcie_transit_s',), None, 'always', 0.01, ('neugebauer2018',), 'A descriptor and its payload cross the PCIe link and come back acknowledged.', False),
    'pcie_link': (pcie_link, pcie_link_gradient, None, ('wire_bytes',), ('pcie_bytes_s',), 'PCIe link', 'always', 0.01, ('neugebauer2018',), 'The payload and its frame headers occupy the PCIe link.', False),
    'nic_dma': (nic_dma, nic_dma_gradient, nic_dma_bus, ('bytes', 'packets'), ('nic_packet_s',), 'NIC DMA engine', 'always', 0.01, ('neugebauer2018',), "The NIC's DMA engine works through the descriptors of each packet and moves it over the memory bus.", False),
    'wire': (wire, wire_gradient, None, ('link_bytes_s', 'wire_bytes'), (), 'wire', 'always', 0.01, ('ieee8023',), 'Each frame occupies the wire with its headers, preamble and gap.', False),
    'propagation': (propagation, propagation_gradient, None, (), ('propagation_s',), None, 'always', 0.01, ('ieee8023',), 'The signal travels the cable and the transceivers at its ends.', False),
    'embedded_switch': (embedded_switch, embedded_switch_gradient, None, ('wire_bytes',), ('switch_bytes_s',), 'embedded switch', 'always', 0.01, ('ahern2011',), 'The switch inside the NIC turns each frame round between two functions of the same port.', False),
}
TRAFFIC = {
    'rr': (traffic_rr, traffic_rr_knobs, ('bytes', 'tcp', 'segments', 'packets', 'stack_units', 'receive_units', 'delivered', 'tap_units', 'wire_bytes', 'cold_bytes', 'segment_cold_bytes', 'further_buffers', 'further_packets', 'taken', 'fetch_batch', 'kicks', 'interrupts'), {'bytes': ('size_bytes',), 'tcp': ('udp',), 'segments': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'packets': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'udp'), 'stack_units': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'receive_units': ('datagram_saving_bytes', 'direct', 'gro', 'header_bytes', 'mtu_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'delivered': ('datagram_saving_bytes', 'direct', 'gro', 'header_bytes', 'joins', 'mtu_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'tap_units': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'scatter_gather', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'wire_bytes': ('datagram_saving_bytes', 'frame_bytes', 'gap_bytes', 'header_bytes', 'mtu_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'udp'), 'cold_bytes': ('page_bytes', 'size_bytes'), 'segment_cold_bytes': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'page_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'further_buffers': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'page_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'further_packets': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'udp'), 'taken': ('batch', 'datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'fetch_batch': ('datagram_saving_bytes', 'descriptor_batch', 'header_bytes', 'mtu_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'kicks': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'interrupts': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp')}),
    'rr_vsock': (traffic_rr_vsock, traffic_rr_vsock_knobs, ('vsock_packets', 'vsock_fill', 'vsock_large', 'vsock_cold_bytes', 'first_packet_bytes'), {'vsock_packets': ('coalesce_writes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'vsock_fill': ('merge_rx_buffers', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'vsock_large': ('coalesce_writes', 'page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'vsock_cold_bytes': ('coalesce_writes', 'page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'first_packet_bytes': ('page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes')}),
    'stream': (traffic_stream, traffic_stream_knobs, ('bytes', 'tcp', 'segments', 'packets', 'stack_units', 'receive_units', 'delivered', 'tap_units', 'wire_bytes', 'cold_bytes', 'segment_cold_bytes', 'further_buffers', 'further_packets', 'taken', 'fetch_batch', 'kicks', 'interrupts'), {'bytes': ('size_bytes',), 'tcp': ('udp',), 'segments': ('datagram_saving_bytes', 'fills', 'header_bytes', 'merges', 'mtu_bytes', 'nodelay', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'packets': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'nodelay', 'size_bytes', 'timestamp_bytes', 'timestamps', 'udp'), 'stack_units': ('datagram_saving_bytes', 'fills', 'header_bytes', 'merges', 'mtu_bytes', 'nodelay', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'receive_units': ('datagram_saving_bytes', 'direct', 'fills', 'gro', 'header_bytes', 'merges', 'mtu_bytes', 'nodelay', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'delivered': ('datagram_saving_bytes', 'direct', 'fills', 'gro', 'header_bytes', 'joins', 'merges', 'mtu_bytes', 'nodelay', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'tap_units': ('datagram_saving_bytes', 'fills', 'header_bytes', 'merges', 'mtu_bytes', 'nodelay', 'scatter_gather', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'wire_bytes': ('datagram_saving_bytes', 'frame_bytes', 'gap_bytes', 'header_bytes', 'mtu_bytes', 'nodelay', 'size_bytes', 'timestamp_bytes', 'timestamps', 'udp'), 'cold_bytes': ('page_bytes', 'size_bytes'), 'segment_cold_bytes': ('datagram_saving_bytes', 'fills', 'header_bytes', 'merges', 'mtu_bytes', 'nodelay', 'page_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'further_buffers': ('datagram_saving_bytes', 'fills', 'header_bytes', 'merges', 'mtu_bytes', 'nodelay', 'page_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'further_packets': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'nodelay', 'size_bytes', 'timestamp_bytes', 'timestamps', 'udp'), 'taken': ('batch', 'datagram_saving_bytes', 'fills', 'header_bytes', 'merges', 'mtu_bytes', 'nodelay', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'fetch_batch': ('datagram_saving_bytes', 'descriptor_batch', 'fills', 'header_bytes', 'merges', 'mtu_bytes', 'nodelay', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'kicks': ('coalesce_writes', 'datagram_saving_bytes', 'fills', 'header_bytes', 'merges', 'mtu_bytes', 'nodelay', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'interrupts': ('coalesce_writes', 'datagram_saving_bytes', 'fills', 'header_bytes', 'interrupt_batch', 'merges', 'mtu_bytes', 'nodelay', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp')}),
    'stream_vsock': (traffic_stream_vsock, traffic_stream_vsock_knobs, ('vsock_packets', 'vsock_fill', 'vsock_large', 'vsock_cold_bytes', 'first_packet_bytes'), {'vsock_packets': ('coalesce_writes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'vsock_fill': ('merge_rx_buffers', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'vsock_large': ('coalesce_writes', 'page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'vsock_cold_bytes': ('coalesce_writes', 'page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'first_packet_bytes': ('page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes')}),
    'packets': (traffic_packets, traffic_packets_knobs, ('bytes', 'tcp', 'segments', 'packets', 'stack_units', 'receive_units', 'delivered', 'tap_units', 'wire_bytes', 'cold_bytes', 'segment_cold_bytes', 'further_buffers', 'further_packets', 'taken', 'fetch_batch', 'kicks', 'interrupts'), {'bytes': ('size_bytes',), 'tcp': (), 'segments': ('frame_bytes', 'mtu_bytes', 'size_bytes'), 'packets': ('frame_bytes', 'mtu_bytes', 'size_bytes'), 'stack_units': ('frame_bytes', 'mtu_bytes', 'size_bytes', 'tso', 'udp'), 'receive_units': ('direct', 'frame_bytes', 'gro', 'mtu_bytes', 'size_bytes'), 'delivered': ('direct', 'frame_bytes', 'gro', 'joins', 'mtu_bytes', 'size_bytes'), 'tap_units': ('frame_bytes', 'mtu_bytes', 'scatter_gather', 'size_bytes'), 'wire_bytes': ('frame_bytes', 'gap_bytes', 'mtu_bytes', 'size_bytes'), 'cold_bytes': ('page_bytes', 'size_bytes'), 'segment_cold_bytes': ('frame_bytes', 'mtu_bytes', 'page_bytes', 'size_bytes'), 'further_buffers': ('frame_bytes', 'mtu_bytes', 'page_bytes', 'size_bytes'), 'further_packets': ('frame_bytes', 'mtu_bytes', 'size_bytes'), 'taken': ('batch',), 'fetch_batch': ('descriptor_batch',), 'kicks': ('batch',), 'interrupts': ('batch', 'interrupt_batch')}),
    'packets_vsock': (traffic_packets_vsock, traffic_packets_vsock_knobs, ('vsock_packets', 'vsock_fill', 'vsock_large', 'vsock_cold_bytes', 'first_packet_bytes'), {'vsock_packets': ('coalesce_writes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'vsock_fill': ('merge_rx_buffers', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'vsock_large': ('coalesce_writes', 'page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'vsock_cold_bytes': ('coalesce_writes', 'page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'first_packet_bytes': ('page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes')}),
}
