"""Generated from the formulas of vmodel.library.traffic by vmodel.solve.compile; do not edit. Key 9541c98399f97c9d."""


def formulas(ceil, floor, maximum, minimum, sqrt):
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


    traffic_stream_vsock, traffic_stream_vsock_knobs = traffic_rr_vsock, traffic_rr_vsock_knobs


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


    traffic_packets_vsock, traffic_packets_vsock_knobs = traffic_rr_vsock, traffic_rr_vsock_knobs


    return {
        'rr': (traffic_rr, traffic_rr_knobs, ('bytes', 'tcp', 'segments', 'packets', 'stack_units', 'receive_units', 'delivered', 'tap_units', 'wire_bytes', 'cold_bytes', 'segment_cold_bytes', 'further_buffers', 'further_packets', 'taken', 'fetch_batch', 'kicks', 'interrupts'), {'bytes': ('size_bytes',), 'tcp': ('udp',), 'segments': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'packets': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'udp'), 'stack_units': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'receive_units': ('datagram_saving_bytes', 'direct', 'gro', 'header_bytes', 'mtu_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'delivered': ('datagram_saving_bytes', 'direct', 'gro', 'header_bytes', 'joins', 'mtu_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'tap_units': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'scatter_gather', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'wire_bytes': ('datagram_saving_bytes', 'frame_bytes', 'gap_bytes', 'header_bytes', 'mtu_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'udp'), 'cold_bytes': ('page_bytes', 'size_bytes'), 'segment_cold_bytes': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'page_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'further_buffers': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'page_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'further_packets': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'udp'), 'taken': ('batch', 'datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'fetch_batch': ('datagram_saving_bytes', 'descriptor_batch', 'header_bytes', 'mtu_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'kicks': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'interrupts': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp')}),
        'rr_vsock': (traffic_rr_vsock, traffic_rr_vsock_knobs, ('vsock_packets', 'vsock_fill', 'vsock_large', 'vsock_cold_bytes', 'first_packet_bytes'), {'vsock_packets': ('coalesce_writes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'vsock_fill': ('merge_rx_buffers', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'vsock_large': ('coalesce_writes', 'page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'vsock_cold_bytes': ('coalesce_writes', 'page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'first_packet_bytes': ('page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes')}),
        'stream': (traffic_stream, traffic_stream_knobs, ('bytes', 'tcp', 'segments', 'packets', 'stack_units', 'receive_units', 'delivered', 'tap_units', 'wire_bytes', 'cold_bytes', 'segment_cold_bytes', 'further_buffers', 'further_packets', 'taken', 'fetch_batch', 'kicks', 'interrupts'), {'bytes': ('size_bytes',), 'tcp': ('udp',), 'segments': ('datagram_saving_bytes', 'fills', 'header_bytes', 'merges', 'mtu_bytes', 'nodelay', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'packets': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'nodelay', 'size_bytes', 'timestamp_bytes', 'timestamps', 'udp'), 'stack_units': ('datagram_saving_bytes', 'fills', 'header_bytes', 'merges', 'mtu_bytes', 'nodelay', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'receive_units': ('datagram_saving_bytes', 'direct', 'fills', 'gro', 'header_bytes', 'merges', 'mtu_bytes', 'nodelay', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'delivered': ('datagram_saving_bytes', 'direct', 'fills', 'gro', 'header_bytes', 'joins', 'merges', 'mtu_bytes', 'nodelay', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'tap_units': ('datagram_saving_bytes', 'fills', 'header_bytes', 'merges', 'mtu_bytes', 'nodelay', 'scatter_gather', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'wire_bytes': ('datagram_saving_bytes', 'frame_bytes', 'gap_bytes', 'header_bytes', 'mtu_bytes', 'nodelay', 'size_bytes', 'timestamp_bytes', 'timestamps', 'udp'), 'cold_bytes': ('page_bytes', 'size_bytes'), 'segment_cold_bytes': ('datagram_saving_bytes', 'fills', 'header_bytes', 'merges', 'mtu_bytes', 'nodelay', 'page_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'further_buffers': ('datagram_saving_bytes', 'fills', 'header_bytes', 'merges', 'mtu_bytes', 'nodelay', 'page_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'further_packets': ('datagram_saving_bytes', 'header_bytes', 'mtu_bytes', 'nodelay', 'size_bytes', 'timestamp_bytes', 'timestamps', 'udp'), 'taken': ('batch', 'datagram_saving_bytes', 'fills', 'header_bytes', 'merges', 'mtu_bytes', 'nodelay', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'fetch_batch': ('datagram_saving_bytes', 'descriptor_batch', 'fills', 'header_bytes', 'merges', 'mtu_bytes', 'nodelay', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'kicks': ('coalesce_writes', 'datagram_saving_bytes', 'fills', 'header_bytes', 'merges', 'mtu_bytes', 'nodelay', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp'), 'interrupts': ('coalesce_writes', 'datagram_saving_bytes', 'fills', 'header_bytes', 'interrupt_batch', 'merges', 'mtu_bytes', 'nodelay', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes', 'timestamp_bytes', 'timestamps', 'tso', 'udp')}),
        'stream_vsock': (traffic_stream_vsock, traffic_stream_vsock_knobs, ('vsock_packets', 'vsock_fill', 'vsock_large', 'vsock_cold_bytes', 'first_packet_bytes'), {'vsock_packets': ('coalesce_writes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'vsock_fill': ('merge_rx_buffers', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'vsock_large': ('coalesce_writes', 'page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'vsock_cold_bytes': ('coalesce_writes', 'page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'first_packet_bytes': ('page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes')}),
        'packets': (traffic_packets, traffic_packets_knobs, ('bytes', 'tcp', 'segments', 'packets', 'stack_units', 'receive_units', 'delivered', 'tap_units', 'wire_bytes', 'cold_bytes', 'segment_cold_bytes', 'further_buffers', 'further_packets', 'taken', 'fetch_batch', 'kicks', 'interrupts'), {'bytes': ('size_bytes',), 'tcp': (), 'segments': ('frame_bytes', 'mtu_bytes', 'size_bytes'), 'packets': ('frame_bytes', 'mtu_bytes', 'size_bytes'), 'stack_units': ('frame_bytes', 'mtu_bytes', 'size_bytes', 'tso', 'udp'), 'receive_units': ('direct', 'frame_bytes', 'gro', 'mtu_bytes', 'size_bytes'), 'delivered': ('direct', 'frame_bytes', 'gro', 'joins', 'mtu_bytes', 'size_bytes'), 'tap_units': ('frame_bytes', 'mtu_bytes', 'scatter_gather', 'size_bytes'), 'wire_bytes': ('frame_bytes', 'gap_bytes', 'mtu_bytes', 'size_bytes'), 'cold_bytes': ('page_bytes', 'size_bytes'), 'segment_cold_bytes': ('frame_bytes', 'mtu_bytes', 'page_bytes', 'size_bytes'), 'further_buffers': ('frame_bytes', 'mtu_bytes', 'page_bytes', 'size_bytes'), 'further_packets': ('frame_bytes', 'mtu_bytes', 'size_bytes'), 'taken': ('batch',), 'fetch_batch': ('descriptor_batch',), 'kicks': ('batch',), 'interrupts': ('batch', 'interrupt_batch')}),
        'packets_vsock': (traffic_packets_vsock, traffic_packets_vsock_knobs, ('vsock_packets', 'vsock_fill', 'vsock_large', 'vsock_cold_bytes', 'first_packet_bytes'), {'vsock_packets': ('coalesce_writes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'vsock_fill': ('merge_rx_buffers', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'vsock_large': ('coalesce_writes', 'page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'vsock_cold_bytes': ('coalesce_writes', 'page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes'), 'first_packet_bytes': ('page_bytes', 'rx_buffer_bytes', 'segment_limit_bytes', 'size_bytes')}),
    }
