"""The fleets of the worked example: when is a virtual function worth losing migration?"""

from vmodel.plan.read import fleet_of

MACHINES = {  # name -> host type, what its class fixes
    "2011, rx-usecs default": ({"profile": "e5620-82576-2011", "cores": 8, "memory": "48GiB"}, {"rx_usecs": 3}),
    "2011, rx-usecs 10": ({"profile": "e5620-82576-2011", "cores": 8, "memory": "48GiB"}, {"rx_usecs": 10}),
    "any later server": ({"profile": "generic", "cores": 32, "memory": "256GiB"}, {}),
}
OBJECTIVES_US = (350, 250)


def fleet(machine, objective_us, *, must_migrate):
    """Sixty VMs of request and answer, with a median that must be kept."""
    host, settings = MACHINES[machine]
    old = host["profile"] != "generic"
    nic = {"rate": "1Gbit/s" if old else "25Gbit/s", "vfs": 7 if old else 64, "count": 2}
    return fleet_of(
        {
            "host": [{"name": "host", "reserved_cores": 1, "nics": [nic], "price": 1000, **host}],
            "vm": [
                {
                    "name": "service", "count": 60, "vcpus": 1, "memory": "2GiB", "workload": "rr", "rate": 1000.0,
                    "size": 1024.0, "latency": f"{objective_us}us", "percentile": 50, "settings": settings,
                    "must_migrate": must_migrate, "paths": ["vf", "virtio-vhost"],
                }
            ],
            "rules": {"minimise": "hosts", "confidence": 0.9},
        }
    )  # fmt: skip
