"""Forms of the tools' outputs that no collected file shows: other versions, options and languages.

The samples follow the tools' sources and manuals; expected values are read off the samples by eye.
"""

import json

import pytest

from vmodel.errors import DatasetError
from vmodel.ingest.read import read


def observed(text, place=0, **options):
    return read(text.encode(), **options).observations[place]


def configured(text, **options):
    return read(text.encode(), **options).configuration


def has(record, **wanted):
    assert {key: record[key] for key in wanted} == {
        key: pytest.approx(v) if isinstance(v, float) else v for key, v in wanted.items()
    }


def refused(text, match, **options):
    with pytest.raises(DatasetError, match=match):
        read(text.encode(), **options)


def report(**end):
    start = {
        "version": "iperf 3.16",
        "test_start": {"protocol": "TCP", "num_streams": 1, "blksize": 131072, "reverse": 0},
    }
    return {"start": start, "intervals": [], "end": end}


def sums(bps, **more):
    return {"start": 0, "end": 10, "seconds": 10, "bytes": bps / 8 * 10, "bits_per_second": bps, "sender": True, **more}


def test_iperf3_reverse_is_the_other_direction():
    body = report(sum_sent=sums(9e9, retransmits=3), sum_received=sums(8.9e9))
    body["start"]["test_start"]["reverse"] = 1
    has(observed(json.dumps(body)), direction="remote to local", received_bps=8.9e9, retransmits=3, reverse=True)


def test_iperf3_of_a_server_is_the_other_side():
    body = report(sum_sent=sums(0.0), sum_received=sums(8.9e9), cpu_utilization_percent={"host_total": 40.0})
    body["start"]["accepted_connection"] = {"host": "192.0.2.1", "port": 1}
    found = observed(json.dumps(body))
    has(found, direction="remote to local", sent_bps=None, receiver_cpu_percent=40.0, sender_cpu_percent=None)


def test_iperf3_over_vsock_names_its_path():
    body = report(sum_sent=sums(9e9), sum_received=sums(8.9e9))
    body["start"]["test_start"]["protocol"] = "VSOCK"
    has(observed(json.dumps(body)), path="vsock", throughput_bps=8.9e9)


def test_iperf3_bidirectional_udp_has_two_points():
    body = report(
        sum=sums(5e8, packets=100, lost_packets=10, lost_percent=10),
        sum_sent=sums(5e8, packets=100), sum_received=sums(4.5e8, packets=99, lost_packets=10, lost_percent=10),
        sum_bidir_reverse=sums(3e8, packets=60, lost_packets=0, lost_percent=0),
        sum_sent_bidir_reverse=sums(3e8, packets=60), sum_received_bidir_reverse=sums(3e8, packets=60, lost_packets=0),
    )  # fmt: skip
    body["start"]["test_start"] |= {"protocol": "UDP", "blksize": 1000}
    text = json.dumps(body)
    has(observed(text), delivered_bps=4.5e8, lost_packets=10, offered_pps=62500.0, direction="local to remote")
    has(observed(text, 1), delivered_bps=3e8, lost_packets=0, direction="remote to local")


def test_iperf3_prints_nan_for_nothing_by_nothing():
    body = json.dumps(report(sum=sums(0, packets=0, lost_packets=0, lost_percent=7)))
    refused(body.replace('"lost_percent": 7', '"lost_percent": -nan').replace('"TCP"', '"UDP"'), "moved 0 packets")


def test_iperf3_stream_with_the_full_report_at_its_end():
    whole = report(sum_sent=sums(9e9), sum_received=sums(8.9e9))
    lines = [{"event": "start", "data": whole["start"]}, {"event": "end", "data": whole["end"]}, whole]
    assert observed("\n".join(map(json.dumps, lines)))["received_bps"] == 8.9e9
    twice = [*lines[:2], *lines[:2]]
    refused("\n".join(map(json.dumps, twice)), "more than one run")


def test_iperf3_of_many_threads_is_no_one_core_figure():
    for version, expected in (("iperf 3.15", True), ("iperf 3.16", False), ("iperf 3.9+", True), ("iperf 3.1.3", True)):
        body = report(sum_sent=sums(9e9), sum_received=sums(8.9e9))
        body["start"]["version"] = version
        body["start"]["test_start"]["num_streams"] = 8
        assert any("one thread" in text for text in read(json.dumps(body).encode()).warnings) is expected


UDP_TEXT = """Connecting to host 192.0.2.2, port 5201
[  5] local 192.0.2.1 port 38415 connected to 192.0.2.2 port 5201
[ ID] Interval           Transfer     Bitrate         Total Datagrams
[  5]   0.00-1.00   sec   119 MBytes  1000 Mbits/sec  85607
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-1.00   sec   119 MBytes  1.00 Gbits/sec  0.000 ms  0/85607 (0%)  sender
[  5]   0.00-1.04   sec   100 MBytes   839 Mbits/sec  0.014 ms  13700/85607 (16%)  receiver

iperf Done.
"""


def test_iperf3_udp_text_tells_offered_and_delivered_apart():
    wanted = dict(
        protocol="UDP", offered_bps=1e9, delivered_bps=839e6, lost_packets=13700, lost_percent=16.0, jitter_us=14.0
    )
    has(observed(UDP_TEXT), **wanted)
    for prefix in ("Mon Nov 30 12:43:31 2026 ", "run 7:  "):
        has(observed("\n".join(prefix + line for line in UDP_TEXT.split("\n"))), **wanted)


def test_iperf3_text_of_udp_before_roles_were_printed():
    text = """Connecting to host 192.0.2.2, port 5201
[ ID] Interval           Transfer     Bandwidth       Total Datagrams
[  4]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec  16
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  4]   0.00-10.00  sec  1.25 MBytes  1.00 Mbits/sec  0.021 ms  40/160 (25%)
[  4] Sent 160 datagrams

iperf Done.
"""
    has(observed(text), offered_bps=1e6, delivered_bps=0.75e6, lost_packets=40)


def test_iperf3_text_of_both_directions_and_of_a_server():
    text = """Connecting to host 192.0.2.2, port 5201
[ ID][Role] Interval           Transfer     Bitrate         Retr
[  5][TX-C]   0.00-2.00   sec  1.00 GBytes  4.29 Gbits/sec   12             sender
[  5][TX-C]   0.00-2.00   sec  1.00 GBytes  4.28 Gbits/sec                  receiver
[  7][RX-C]   0.00-2.00   sec  1.20 GBytes  5.15 Gbits/sec    3             sender
[  7][RX-C]   0.00-2.00   sec  1.20 GBytes  5.13 Gbits/sec                  receiver
"""
    has(observed(text), received_bps=4.28e9, direction="local to remote")
    has(observed(text, 1), received_bps=5.13e9, direction="remote to local")
    server = """-----------------------------------------------------------
Server listening on 5201 (test #1)
-----------------------------------------------------------
Accepted connection from 192.0.2.1, port 41780
[  5] local 192.0.2.2 port 5201 connected to 192.0.2.1 port 41782
[ ID] Interval           Transfer     Bitrate
[  5]   0.00-1.00   sec  1.10 GBytes  9.41 Gbits/sec
[  5]   0.00-1.04   sec  1.10 GBytes  9.05 Gbits/sec                  receiver
"""
    has(observed(server), received_bps=9.05e9, sent_bps=None)
    refused(server + server, "holds 2 iperf3 runs")


def test_iperf3_runs_that_do_not_show_the_capacity_are_not_usable():
    body = report(sum_sent=sums(3e8), sum_received=sums(2.99e8))
    body["start"]["test_start"]["target_bitrate"] = 300000000
    has(observed(json.dumps(body)), usable=False, limited_by="target_bitrate")
    body["start"]["test_start"]["target_bitrate"] = 900000000
    has(observed(json.dumps(body)), usable=True, limited_by=None)
    body["start"]["test_start"] |= {"target_bitrate": 0, "bidir": 1}
    has(observed(json.dumps(body)), usable=False)


def test_iperf3_text_errors():
    refused(
        UDP_TEXT + "iperf3: interrupt - the client has terminated\n", "interrupted.*not used as a calibration point"
    )
    has(observed(UDP_TEXT + "iperf3: error - unable to send control message: Broken pipe\n"), usable=False)
    refused("iperf3: error - unable to connect to server: No route to host\n", "No route to host")
    refused("Connecting to host 192.0.2.2, port 5201\n", "no summary lines")


IPERF2_UDP = """------------------------------------------------------------
Client connecting to 192.0.2.20, UDP port 5001 with pid 7 (1 flows)
Sending 1470 byte datagrams, IPG target: 11215.21 us (kalman adjust)
------------------------------------------------------------
[  3] local 192.0.2.10 port 37620 connected with 192.0.2.20 port 5001
[ ID] Interval       Transfer     Bandwidth
[  3] 0.0000-10.0000 sec  1.25 MBytes  1.05 Mbits/sec
[  3] Sent 892 datagrams
[  3] Server Report:
[  3] 0.0000-10.0000 sec  1.00 MBytes   839 Kbits/sec   0.016 ms  178/  892 (20%)
"""


def test_iperf2_udp_counts_what_the_server_reports():
    wanted = dict(protocol="UDP", offered_bps=1.05e6, delivered_bps=839e3, lost_packets=178, usable=True)
    has(observed(IPERF2_UDP), **wanted)
    alone = IPERF2_UDP.split("[  3] Server")[0]
    has(observed(alone), usable=False, because="offered, not delivered")


def test_iperf2_adds_up_no_streams_by_itself():
    head = "Client connecting to 192.0.2.20, TCP port 5001\n[ ID] Interval Transfer Bandwidth\n"
    rows = "[  3]  0.0-10.0 sec  1.00 GBytes   859 Mbits/sec\n[  4]  0.0-10.0 sec  1.00 GBytes   859 Mbits/sec\n"
    has(observed(head + rows + "[SUM]  0.0-10.0 sec  2.00 GBytes  1.72 Gbits/sec\n"), throughput_bps=1.72e9, streams=2)
    refused(head + rows, "without a .SUM. line")
    refused("connect failed: Connection refused\nClient connecting to 192.0.2.20, TCP port 5001\n", "connect failed")


def test_iperf2_in_csv():
    row = "20261130124058,192.0.2.1,50624,192.0.2.2,5001,{},{},{},{}\n"
    interval, whole = row.format(3, "0.0-1.0", 1, 8), row.format(3, "0.0-10.0", 11811160064, 9448928051)
    has(observed(interval + whole), throughput_bps=9448928051.0, streams=1)
    several = whole + row.format(4, "0.0-10.0", 5, 9448928051) + row.format(-1, "0.0-10.0", 5, 18897856102)
    has(observed(several), throughput_bps=18897856102.0, streams=2)


RR = """MIGRATED TCP REQUEST/RESPONSE TEST from ::0 (::) port 0 AF_INET6 to b.example () port 0 AF_INET6 : first burst 15 : cpu bind
Local /Remote
Socket Size   Request Resp.  Elapsed Trans.   CPU    CPU    S.dem   S.dem
Send   Recv   Size    Size   Time    Rate     local  remote local   remote
bytes  bytes  bytes   bytes  secs.   per sec  % S    % S    us/Tr   us/Tr

262144 540000 70      60     10.00   80000.00  0.86   -1.00  62.490  -1.000
262144 540000
"""  # noqa: E501


def test_netperf_burst_divides_the_round_trip_and_cpu_may_be_missing():
    has(
        observed(RR), in_flight=16, transactions_per_s=80000.0, latency_us=200.0, request_bytes=70.0,
        response_bytes=60.0,
        local_cpu_percent=0.86, remote_cpu_percent=None, local_service_us=62.49, remote_service_us=None,
    )  # fmt: skip


def test_netperf_runs_in_one_file_are_points_of_their_own():
    other = RR.replace("80000.00", "40000.00")
    found = read((RR + other).encode())
    assert [o["transactions_per_s"] for o in found.observations] == [80000.0, 40000.0]
    broken = read((RR + RR.split("262144")[0]).encode())
    assert len(broken.observations) == 1
    assert "one of 2 tests is left out" in broken.warnings[0]


def test_netperf_rates_of_round_trips_in_bits_and_rows_without_heads():
    text = RR.replace("per sec  % S", "10^6bits/s % S").replace("80000.00", "83.20")
    has(observed(text), transactions_per_s=83.2e6 / 8 / 130)
    refused("3939840,131072,131072,3939840,1,1,1.00,26282.32,Trans/s\n", "no banner")


def test_netperf_connections_are_no_round_trips():
    text = RR.replace("REQUEST/RESPONSE", "Connect/Request/Response").replace(" : first burst 15", "")
    has(observed(text), test="TCP_CRR", usable=False, workload=None, transactions_per_s=80000.0)


def test_netperf_table_for_people():
    text = """OMNI Send TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 192.0.2.2 () port 0 AF_INET : demo
Local       Remote      Local  Elapsed Throughput Throughput  Local Local  Remote Remote Local   Remote  Service
Send Socket Recv Socket Send   Time               Units       CPU   CPU    CPU    CPU    Service Service Demand
Size        Size        Size   (sec)                          Util  Util   Util   Util   Demand  Demand  Units
Final       Final                                             %     Method %      Method
2304000     6291456     16384  10.00   9413.41    10^6bits/s  1.45  S      2.51   S      0.101   0.175   usec/KB
"""
    has(
        observed(text), test="TCP_STREAM", throughput_bps=9413.41e6, seconds=10.0, message_bytes=16384.0,
        local_cpu_percent=1.45, remote_cpu_percent=2.51,
    )  # fmt: skip


def test_netperf_omni_udp_stream_needs_what_arrived():
    text = "THROUGHPUT=900.00\nTHROUGHPUT_UNITS=10^6bits/s\nPROTOCOL=UDP\nDIRECTION=Send\n"
    has(observed(text), test="UDP_STREAM", usable=False)
    more = text + "LOCAL_SEND_THROUGHPUT=900.00\nREMOTE_RECV_THROUGHPUT=700.00\n"
    has(observed(more), delivered_bps=700e6, offered_bps=900e6, throughput_bps=700e6, usable=True)


def test_netperf_errors_are_told():
    refused("establish control: are you sure there is a netserver listening on 192.0.2.2 at port 12865?\n", "netserver")
    refused("MIGRATED TCP STREAM TEST from 0.0.0.0 to 192.0.2.2 : demo\nRecv Send\n", "no row")


SOCKPERF = """sockperf: == version #3.10-no.git ==
sockperf[CLIENT] send on:
[ 0] IP = 192.0.2.2       PORT = 11111 # {}
sockperf: Total of 9750678 messages sent in 30.000 sec

sockperf: NOTE: test was performed, using msg-size=14. For getting maximum throughput consider using --msg-size=1472
sockperf: Summary: Message Rate is 325020 [msg/sec]
sockperf: Summary: BandWidth is 4.339 MBps (34.716 Mbps)
"""


def test_sockperf_throughput_counts_what_was_sent():
    bits = 325020 * 14 * 8.0
    has(observed(SOCKPERF.format("UDP")), rate_pps=325020.0, throughput_bps=bits, counts="offered", usable=False)
    has(observed(SOCKPERF.format("TCP")), throughput_bps=bits, counts="sent", message_bytes=14, usable=True)


def test_sockperf_with_more_statistics_and_older_words():
    line = "sockperf: ====> avg-{}=14.728 (std-dev=113.839{})\n"
    run = "sockperf: [Valid Duration] RunTime=1.550 sec; SentMessages=52570; ReceivedMessages=52570\n"
    new = line.format("latency", ", mean-ad=1.1, median-ad=0.9, siqr=0.5, cv=7.7, std-error=0.5, 99.0% ci=[13.4, 16.0]")
    has(observed(run + new), half_rtt_mean_us=14.728, latency_us=29.456, mode="ping-pong")
    has(observed(run + line.format("lat", "")), half_rtt_mean_us=14.728)
    refused(run.replace("52570", "0") + new, "received no messages")
    refused("sockperf: No messages were received from the server. Is the server down?\n", "server down")


def test_sockperf_under_load_with_every_message_answered():
    line = "sockperf: ====> avg-latency={} (std-dev=1.0)\n"
    run = "sockperf: [Total Run] RunTime=1.000 sec; SentMessages={0}; ReceivedMessages={0}\n"
    both = "sockperf: [Valid Duration] RunTime=0.530 sec; SentMessages={0}; ReceivedMessages={0}\n"
    for half_us, messages in ((1853.32, 5393), (10.0, 5393)):  # queues, and gaps: neither fills the run exactly
        text = (run + both).format(messages) + line.format(half_us)
        has(observed(text), mode="under-load", latency_us=half_us, load_pps=float(messages))


def test_sockperf_log_without_its_summary():
    rows = "".join(f"{n}, {n / 1e4:.9f}, {n / 1e4 + 8e-5:.9f}, 40.000\n" for n in range(100))
    found = observed("packet, txTime(sec), rxTime(sec), latency(usec)\n" + rows)
    has(found, half_rtt_mean_us=40.0, latency_us=80.0, mode="ping-pong", rows=100)


def test_flent_classes_are_part_of_their_sum():
    results = {
        "TCP upload BE": [None, 10.0, 20.0], "TCP upload BK": [None, 5.0, 5.0], "TCP upload avg": [None, 10.0, 12.5],
        "TCP upload sum": [None, 15.0, 25.0], "TCP download::1": [1.0, 1.0, None], "TCP download::2": [2.0, 2.0, None],
        "TCP totals": [3.0, 18.0, 28.0], "Ping (ms) ICMP": [None, 1.0, 3.0], "Ping (ms) avg": [None, 1.0, 3.0],
    }  # fmt: skip
    text = json.dumps(
        {"version": 3, "x_values": [0, 1, 2], "results": results, "metadata": {"NAME": "rrul", "LENGTH": 2}}
    )
    found = read(text.encode()).observations
    assert [(o.get("series"), o.get("throughput_mbps"), o.get("ping_ms_mean")) for o in found] == [
        ("TCP upload sum", 20.0, None), ("TCP download", 3.0, None), ("Ping (ms) ICMP", None, 2.0)
    ]  # fmt: skip


def test_pktgen_runs_of_different_sizes_are_no_sum():
    block = """Params: count 1000  min_pkt_size: {0}  max_pkt_size: {0}
     frags: 0  delay: 0  clone_skb: 0  ifname: eth0
Result: OK: 1000(c900+d100) usec, 1000 ({0}byte,0frags)
  {1}pps {2}Mb/sec ({3}bps) errors: 0
"""
    found = read((block.format(60, 1000000, 480, 480000000) + block.format(1496, 800000, 9574, 9574400000)).encode())
    assert [(o["pkt_size_bytes"], o["rate_pps"]) for o in found.observations] == [(60, 1e6), (1496, 8e5)]
    refused("Running: \nStopped: eth0 \nResult: OK: max_before_softirq=10000\n", "has not been run")


def test_testpmd_in_capitals_and_two_ports():
    block = """  ######################## NIC statistics for port {0}  ########################
  RX-packets: 1000       RX-missed: 0          RX-bytes:  64000
  TX-packets: 0          TX-errors: 0          TX-bytes:  0

  Throughput (since last show)
  RX-pps:     {1}
  TX-pps:            0
"""
    text = block.format(0, 5000000) + block.format(1, 6000000) + block.format(0, 7000000) + block.format(1, 6000000)
    found = read(text.encode()).observations
    assert [(o["port"], o["rx_pps"], o["periods"]) for o in found] == [(0, 6e6, 2), (1, 6e6, 2)]


def test_ethtool_answers_of_one_device_come_together():
    text = """Features for ens1:
tcp-segmentation-offload: on
generic-receive-offload: off
Channel parameters for ens1:
Current hardware settings:
RX:\t\t4
TX:\t\t2
Combined:\t0
driver: ixgbe
version: 6.1
bus-info: 0000:01:00.0
Coalesce parameters for ens1:
Adaptive RX: off  TX: off
rx-usecs: 40
Cannot get wake-on-lan settings: Operation not permitted
"""
    found = read(text.encode())
    has(
        found.configuration,
        tso=True,
        gro=False,
        queues=2,
        rx_queues=4,
        tx_queues=2,
        driver="ixgbe",
        rx_usecs=40,
        device="ixgbe",
    )
    assert any("Operation not permitted" in text for text in found.warnings)


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ([{"ifname": "e", "adaptive-rx": True, "rx-usecs": 8, "rx-frames": 32}], {"adaptive_rx": True, "rx_usecs": 8}),
        ([{"ifname": "e", "combined-max": 8, "combined": 3}], {"queues": 3, "queues_max": 8}),
        (
            [{"ifname": "e", "rx-max": 4096, "rx": 512, "tx": 256, "tx-max": 4096}],
            {"rx_ring": 512, "tx_ring_max": 4096},
        ),
        ([{"ifname": "e", "speed": 25000, "link-detected": True}], {"link_bps": 25e9, "link_up": True}),
        ([{"ifname": "e", "driver": "mlx5_core", "bus-info": "0000:65:00.0"}], {"device": "mlx5", "path": None}),
        (
            [{"ifname": "e", "tcp-segmentation-offload": {"active": False, "fixed": False, "requested": True}}],
            {"tso": False},
        ),
    ],
)
def test_ethtool_json(rows, wanted):
    has(configured(json.dumps(rows)), **wanted)


def test_ethtool_refuses_what_it_cannot_read():
    refused(
        "Ring parameters for eth0:\nCurrent hardware settings:\nRX:\tmany\n", 'RX = "many": expected a whole number'
    )
    refused("Channel parameters for eth0:\nCurrent hardware settings:\nCombined:\tn/a\n", "no channel is in use")
    refused("Coalesce parameters for eth0:\nrx-usecs: n/a\n", "every value is n/a")
    refused("Settings for eth9:\nCannot get link status: No such device\n", "No such device")
    refused(
        "Features for a:\ntcp-segmentation-offload: on\nFeatures for b:\ntcp-segmentation-offload: off\n", "2 devices"
    )


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ("Speed: Unknown!\n\tLink detected: no (No cable)", {"speed_mbps": None, "link_up": False, "link_bps": None}),
        ("Speed: 40000Mb/s (auto)\n\tLink detected: yes", {"speed_mbps": 40000, "link_bps": 40e9}),
        ("Link detected: yes", {"speed_mbps": None, "link_up": True}),
        ("Speed: 4294967295Mb/s\n\tLink detected: yes", {"speed_mbps": None}),
    ],
)
def test_ethtool_link(lines, wanted):
    has(configured(f"Settings for ens3:\n\t{lines}\n"), **wanted)


def test_ip_link_with_details_in_text():
    text = """7: vnet0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc fq_codel master br0 state UNKNOWN group default
    link/ether fe:54:00:00:53:01 brd ff:ff:ff:ff:ff:ff promiscuity 1 minmtu 68 maxmtu 65521
    tun type tap pi off vnet_hdr off multi_queue numqueues 4 numdisabled 0 persist off
    bridge_slave state forwarding priority 32 cost 100 numtxqueues 256 numrxqueues 256
"""
    found = read(text.encode())
    has(found.configuration, ifname="vnet0", kind="tap", mtu=9000, master="br0", vnet_hdr=False, queues=4)
    assert any("vnet_hdr" in warning for warning in found.warnings)


def test_ip_link_in_json_with_limits_of_functions():
    row = {
        "ifindex": 4, "ifname": "ens1f0", "flags": ["UP"], "mtu": 1500, "parentdev": "0000:65:00.0",
        "vfinfo_list": [{"vf": 0, "vlan_list": [{"vlan": 42}], "rate": {"max_tx": 2000, "min_tx": 0}}, {"vf": 1}],
    }  # fmt: skip
    found = configured(json.dumps([row]))
    has(found, bus_info="0000:65:00.0", ifname="ens1f0")
    has(found["vfs"][0], max_tx_bps=2e9, vlan=42, min_tx_mbps=None)


@pytest.mark.parametrize(
    "text",
    [
        "Architecture\u00a0:        x86_64\nProcesseur(s)\u00a0:       4\nThread(s) par c\u0153ur\u00a0: 2\n",
        "Arquitectura:      x86_64\nCPU(s):            4\nHilo(s) de procesamiento por n\u00facleo: 2\n",
        json.dumps(
            {"lscpu": [{"field": "Architektur:", "data": "x86_64"}, {"field": "Kern(e) pro Sockel:", "data": "4"}]}
        ),
    ],
)
def test_lscpu_in_other_languages(text):
    refused(text, "not in English.*LC_ALL=C")


def test_lscpu_in_older_words():
    text = (
        "Architecture:          x86_64\nCPU(s):                8\nThread(s) per core:    2\nCore(s) per socket:    4\n"
        "Socket(s):             1\nL3 cache:              20480K\nL1d cache:  1.3 MiB (32 instances)\n"
        "CPU(s) scaling MHz:    64%\n"
    )
    has(configured(text), cpus=8, cores=4, l3_bytes=20480 << 10, l1d_bytes=int(1.3 * (1 << 20)), numa_nodes=None)
    refused("# The following is the parsable format, which can be fed to other\n0,0,0,0\n", "lscpu -p")


LSPCI = """65:00.0 Ethernet controller: Intel Corporation Ethernet Controller XXV710 for 25GbE SFP28 (rev 02)
\tNUMA node: 1
\t\tDevCap:\tMaxPayload 2048 bytes, PhantFunc 0, Latency L0s <512ns, L1 <64us
\t\tDevCtl:\tCorrErr+ NonFatalErr+ FatalErr+ UnsupReq-
\t\t\tMaxPayload 256 bytes, MaxReadReq 512 bytes
\t\tLnkCap:\tPort #0, Speed 8GT/s, Width x8, ASPM L1, Exit Latency L1 <16us
\t\tLnkSta:\tSpeed 8GT/s (ok), Width x4 (downgraded)
\tKernel driver in use: i40e

65:02.3 Ethernet controller: Intel Corporation Ethernet Virtual Function 700 Series (rev 02)
\t\tLnkCap:\tPort #0, Speed unknown, Width x0, ASPM not supported
\t\tLnkSta:\tSpeed unknown, Width x0
\tKernel driver in use: vfio-pci

00:1f.2 SATA controller: Intel Corporation
"""


def test_lspci_tells_a_narrow_slot():
    found = read(LSPCI.encode())
    has(
        found.configuration, pcie_width=4, pcie_width_max=8, pcie_gt_s=8.0, pcie_bps=8e9 * 4 * 128 / 130,
        pcie_payload_bytes=256, numa_node=1, driver="i40e", bus_info="65:00.0",
    )  # fmt: skip
    assert [(d["bus_info"], d["role"]) for d in found.configuration["devices"]] == [
        ("65:00.0", None),
        ("65:02.3", "VF"),
    ]
    assert any("x4" in warning and "x8" in warning for warning in found.warnings)
    refused("00:1f.2 SATA controller: Intel\n\tLnkSta: Speed 6GT/s\n", "no network device")
    refused(LSPCI.replace("LnkSta", "xxx"), "run lspci -vv as root")


def domain(devices, more="", kind="kvm", machine="pc-q35-8.2"):
    return f"""<domain type='{kind}' id='3'><name>v</name><vcpu placement='static' current='2'>4</vcpu>{more}
      <os><type arch='x86_64' machine='{machine}'>hvm</type></os><devices>{devices}</devices></domain>"""


@pytest.mark.parametrize(
    ("devices", "wanted"),
    [
        ("<interface type='user'><model type='virtio'/></interface>", {"path": None, "backend": "user"}),
        ("<interface type='bridge'><model type='ne2k_pci'/></interface>", {"path": "emulated-rtl8029"}),
        ("<interface type='bridge'></interface>", {"path": "emulated-e1000", "model_is_default": True}),
        (
            "<interface type='direct'><source dev='e'/><model type='virtio'/><driver name='qemu'/></interface>",
            {"path": "virtio-qemu"},
        ),
        (
            "<interface type='network'><source network='n' bridge='virbr0'/><model type='virtio'/></interface>",
            {"bridge": True, "master": "virbr0"},
        ),
        ("<vsock model='virtio'><cid auto='yes'/></vsock>", {"path": "vsock", "vcpus": 2}),
        (
            "<interface type='bridge'><source bridge='b'/><model type='virtio'/>"
            "<driver name='vhost' packed='on' iommu='on'/></interface><iommu model='intel'/>",
            {"packed": True, "iommu_platform": True, "viommu": True},
        ),
    ],
)  # fmt: skip
def test_libvirt_interfaces(devices, wanted):
    has(configured(domain(devices)), **wanted)


def test_libvirt_with_text_before_it_and_inside_a_status_file():
    nic = "<interface type='bridge'><source bridge='b'/><model type='virtio'/><driver name='vhost'/></interface>"
    assert configured(f"setlocale: No such file or directory\n{domain(nic)}")["path"] == "virtio-vhost"
    assert configured(f"<domstatus state='running'>{domain(nic)}</domstatus>")["path"] == "virtio-vhost"
    assert configured(f"<!-- WARNING: generated -->\n{domain(nic)}")["path"] == "virtio-vhost"


def test_libvirt_placement_and_pages():
    more = (
        "<memoryBacking><hugepages><page size='1' unit='G'/></hugepages></memoryBacking>"
        "<numatune><memory mode='strict' nodeset='1'/></numatune><cputune><vcpupin vcpu='0' cpuset='16-17'/></cputune>"
    )
    nic = "<interface type='bridge'><source bridge='b'/><model type='virtio'/><driver name='vhost'/></interface>"
    has(configured(domain(nic, more)), page_bytes=1 << 30, hugepages=True, numa_nodeset="1", vcpu_pins=["16-17"])


def test_libvirt_refusals():
    refused(
        domain("<interface type='bridge'><model type='virtio'/><driver name='vhost' queues='x'/></interface>"), "queues"
    )
    refused(domain("", kind="hvf"), '"hvf" is outside the model')
    refused("<domainsnapshot><name>s</name></domainsnapshot>", "expected a libvirt <domain> or <network>")
    refused("<svg xmlns='http://www.w3.org/2000/svg'/>", "svg")


QEMU = "qemu-system-x86_64 -accel kvm -smp 4 "


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("-netdev tap,fds=21:22:23,vhost=on,vhostfds=24:25:26,id=a -device virtio-net-pci,netdev=a,mq=on,vectors=8",
         {"queues": 3, "path": "virtio-vhost", "vectors": 8}),
        ("-netdev '{\"type\":\"tap\",\"fds\":\"21:22\",\"vhost\":true,\"id\":\"a\"}' -device "
         "'{\"driver\":\"virtio-net-pci\",\"mq\":true,\"vectors\":6,\"host_tso4\":false,\"netdev\":\"a\"}'",
         {"queues": 2, "path": "virtio-vhost", "tso": False, "host_tso": False}),
        ("-netdev tap,id=a,vhost=on,queues=4 -device virtio-net-pci,netdev=a", {"queues": 1, "queues_max": 4}),
        ("-netdev tap,id=a,vhostforce=on -device virtio-net-pci-non-transitional,netdev=a", {"path": "virtio-vhost"}),
        ("-netdev bridge,id=a,br=br0 -device virtio-net-device,netdev=a", {"path": "virtio-qemu"}),
        ("-nic user,model=virtio", {"path": None, "backend": "user"}),
        ("-net nic,model=virtio -net tap,vhost=on", {"path": "virtio-qemu", "vhost": False}),
        ("-device vfio-pci,host=0000:65:02.3", {"path": None, "host_bus_info": "0000:65:02.3", "backend": "vfio"}),
        ("-nodefaults -device vhost-vsock-pci,guest-cid=3", {"path": "vsock"}),
        ("-netdev passt,id=a -device virtio-net-pci,netdev=a", {"path": None, "backend": "passt"}),
        ("-nic tap,model=rtl8139", {"path": "emulated-rtl8139"}),
        ("-netdev tap,id=a,script=a,,b -device e1000-82545em,netdev=a", {"path": "emulated-e1000"}),
        ("--netdev tap,id=a,vhost=on --device virtio-net-pci,netdev=a", {"path": "virtio-vhost", "vcpus": 4}),
    ],
)  # fmt: skip
def test_qemu_command_lines(text, wanted):
    has(configured(QEMU + text), **wanted)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (QEMU.replace("kvm", "tcg") + "-nic tap", "tcg.*outside the model"),
        ("qemu-system-x86_64 -machine q35,accel=tcg -nic tap", "outside the model"),
        (QEMU + "-nodefaults", "no network device"),
        (QEMU + "-net none", "no network device"),
        (
            QEMU + "-netdev tap,id=a,vhost=perhaps -device virtio-net-pci,netdev=a",
            'vhost = "perhaps": expected on or off',
        ),
        (QEMU + "-nic tap\n" + QEMU + "-nic tap", "2 QEMU command lines"),
        (QEMU + "-device vfio-pci,host=65:02.3 -device vfio-pci,host=65:02.4", "2 devices passed through"),
    ],
)
def test_qemu_refusals(text, match):
    refused(text, match)


def test_qemu_without_an_accelerator_says_so():
    found = read(b"qemu-system-x86_64 -netdev tap,id=a,vhost=on -device virtio-net-pci,netdev=a")
    assert any("KVM is assumed" in warning for warning in found.warnings)


def test_qemu_log_of_libvirt():
    text = (
        "2026-11-30 12:00:00.000+0000: starting up libvirt version: 10.0.0, qemu version: 8.2.2\n"
        "LC_ALL=C \\\nPATH=/usr/bin \\\nHOME=/x \\\n/usr/bin/qemu-system-x86_64 \\\n-name guest=vm7 \\\n"
        "-machine pc-q35-8.2,usb=off \\\n-accel kvm \\\n-smp 2,sockets=2,cores=1,threads=1 \\\n"
        '-netdev \'{"type":"tap","fd":"31","vhost":true,"vhostfd":"33","id":"hostnet0"}\' \\\n'
        '-device \'{"driver":"virtio-net-pci","netdev":"hostnet0","id":"net0"}\' \\\n-msg timestamp=on\n'
    )
    has(configured(text), path="virtio-vhost", vcpus=2, name="vm7", queues=1)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (json.dumps({"boot-source": {"kernel_image_path": "k"}, "drives": []}), "Firecracker configuration"),
        ("./firecracker --api-sock /run/f.sock --config-file vm.json\n", "Firecracker"),
        (json.dumps({"config": {"cpus": {"boot_vcpus": 4}, "net": [{"num_queues": 4}]}, "state": "Running"}),
         "cloud-hypervisor configuration.*num_queues=4 means 2 queue pairs"),
        ("cloud-hypervisor\0--net\0tap=t,num_queues=2\0", "num_queues=2 means 1 queue pairs"),
        ("crosvm run --net tap-name=t vmlinux\n", "crosvm"),
    ],
)  # fmt: skip
def test_other_monitors_are_refused(text, match):
    refused(text, match)
