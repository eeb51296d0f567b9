"""Fleets to plan, made by chance, the same for the same seed: the usual mix, and nine kinds that are hard to place."""

import numpy as np

from vmodel.plan.read import fleet_of

CLASSES = 20
USUAL = "usual"
KINDS = {
    USUAL: "as many requests as bulk as frames, all sizes",
    "memory": "VMs with 6 to 16 GiB for each vCPU",
    "network": "bulk classes of 1 to 5 Gbit/s",
    "functions": "small VMs, most of them on virtual functions",
    "large": "VMs of 8 to 28 vCPUs",
    "small-hosts": "hosts with half the cores",
    "mixed-price": "the middle host is cheapest for its size",
    "hosts": "as few hosts as possible, whatever they cost",
    "strict": "latency objectives of 250 to 600 us",
    "stock": "so many medium and large hosts and no more",
}


def hosts(kind=USUAL, vms=0):
    """Three generations of hosts, the newest the cheapest for its size."""
    found = [
        {"name": "small", "cores": 32, "reserved_cores": 2, "memory": "192GiB", "memory_bandwidth": "80GB/s",
         "nics": [{"rate": "25Gbit/s", "vfs": 16}], "price": 4900, "watts": 350},
        {"name": "medium", "cores": 64, "reserved_cores": 2, "memory": "512GiB", "memory_bandwidth": "150GB/s",
         "numa_nodes": 2, "nics": [{"rate": "25Gbit/s", "vfs": 32, "count": 2}], "price": 9900, "watts": 600},
        {"name": "large", "cores": 128, "reserved_cores": 4, "memory": "1024GiB", "memory_bandwidth": "300GB/s",
         "numa_nodes": 2, "nics": [{"rate": "100Gbit/s", "vfs": 48, "count": 2}], "price": 19500, "watts": 1000},
    ]  # fmt: skip
    if kind == "small-hosts":
        for host in found:
            host["cores"] //= 2
            host["reserved_cores"] = 1
    if kind == "mixed-price":
        for host, price in zip(found, (5000, 9000, 19500), strict=True):
            host["price"] = price
    if kind == "stock":
        found[1]["count"], found[2]["count"] = vms // 40, vms // 60
    return found


def fleet(vms, seed, kind=USUAL, classes=CLASSES):
    """A fleet of so many VMs: random sizes, workloads and objectives."""
    random = np.random.default_rng(seed + 1000)
    shares = random.dirichlet(np.full(classes, 0.7 if seed % 2 else 3.0))
    counts = np.maximum(1, np.floor(shares * (vms - classes)).astype(int))
    counts[np.argmax(counts)] += vms - counts.sum()
    rows = [vm_class(random, f"class{i}", int(count), kind) for i, count in enumerate(counts)]
    rules = {"minimise": "hosts" if kind == "hosts" else "price"}
    return fleet_of({"host": hosts(kind, vms), "vm": rows, "rules": rules})


def vm_class(random, name, count, kind):
    """One class by chance."""
    sizes = {"large": [8, 12, 16, 24, 28], "functions": [1, 2, 4, 8]}.get(kind, [2, 4, 8, 16])
    per_vcpu = [6, 8, 12, 16] if kind == "memory" else [2, 4, 8]
    strict = kind == "strict"
    vcpus = int(random.choice(sizes))
    row = {
        "name": name,
        "count": count,
        "vcpus": vcpus,
        "memory": vcpus * 2**30 * int(random.choice(per_vcpu)),
        "flows": 64,
    }
    workload = random.integers(0, 4)
    if workload == 0:
        row |= {"workload": "rr", "rate": float(random.integers(200, 3000)), "size": 1024.0, "in_flight": 4}
        row["latency"] = f"{random.integers(250, 600) if strict else random.integers(400, 1500)}us"
    elif workload == 1:
        rate = random.uniform(1.0, 5.0) if kind == "network" else random.uniform(0.1, 1.5)
        row |= {"workload": "stream", "rate": f"{rate:.2f}Gbit/s", "size": 65536.0}
    else:
        row |= {"workload": "packets", "rate": float(random.integers(5, 120)) * 1e3}
        row["size"] = float(random.choice([256, 512, 1024]))
        row["latency"] = f"{random.integers(250, 500) if strict else random.integers(300, 1500)}us"
    if kind == "functions" and random.random() < 0.6:
        row["paths"] = ["vf"]
    elif random.random() < 0.4:
        row["must_migrate"] = True
    return row
