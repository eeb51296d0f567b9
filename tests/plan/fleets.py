"""Small fleets that the tests of planning share."""

from vmodel.plan.read import fleet_of


def host(name="host", **more):
    return {
        "name": name, "cores": 32, "reserved_cores": 2, "memory": "256GiB", "memory_bandwidth": "100GB/s",
        "numa_nodes": 2, "nics": [{"rate": "25Gbit/s", "vfs": 16, "count": 2}], "price": 5000, "watts": 400,
        "watts_idle": 150, **more,
    }  # fmt: skip


def web(**more):
    return {
        "name": "web", "count": 30, "vcpus": 4, "memory": "8GiB", "workload": "rr", "rate": 2000.0, "size": 1024.0,
        "latency": "400us", **more,
    }  # fmt: skip


def nfv(**more):
    return {
        "name": "nfv", "count": 12, "vcpus": 4, "memory": "4GiB", "rate": 60000.0, "size": 256.0, "latency": "300us",
        **more,
    }  # fmt: skip


def backup(**more):
    return {
        "name": "backup", "count": 8, "vcpus": 2, "memory": "4GiB", "workload": "stream", "rate": "1Gbit/s",
        "size": 65536.0, **more,
    }  # fmt: skip


def fleet(*vms, hosts=None, running=(), **rules):
    return fleet_of(
        {
            "host": list(hosts or [host()]),
            "vm": list(vms or [web(), nfv(), backup()]),
            "running": list(running),
            "rules": {"minimise": "price", **rules},
        }
    )
