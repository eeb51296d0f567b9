"""Fleet files: all faults at once, each with its place; the published schema is that of the reader."""

import json
from pathlib import Path

import jsonschema
import pytest

from tests.plan import fleets
from vmodel.errors import ConfigError
from vmodel.plan import fleet as shapes
from vmodel.plan.read import fleet_of, read_fleet

GOOD = """
[rules]
minimise = "price"
n_minus_1 = ["host"]

[[host]]
name = "big"
cores = 64
memory = "512GiB"
nics = [{ rate = "25Gbit/s", vfs = 64, count = 2 }]
price = 12000

[[vm]]
name = "web"
count = 10
vcpus = 4
memory = "8GiB"
workload = "rr"
rate = "2k/s"
latency = "400us"
"""
AS_CSV = """\
name,table,cores,memory,nic_rate,nic_vfs,nic_count,price,count,vcpus,workload,rate,latency,minimise,n_minus_1
,rules,,,,,,,,,,,,price,host
big,host,64,512GiB,25Gbit/s,64,2,12000,,,,,,,
web,vm,,8GiB,,,,,10,4,rr,2k/s,400us,,
"""
BAD = """
[rules]
minimise = "watts"
spare = 1

[[host]]
name = "big"
cores = "many"
memory = "512GiB"
nics = [{ rate = "25G", vfs = -1, node = 3 }]
profile = "genric"

[[vm]]
name = "web"
count = 0
vcpus = 4
memory = "8GiB"
workload = "rq"
rate = "max"
must_migrat = true
paths = ["vff"]
settings = { rx_usec = 10, mtu = 3 }

[[vm]]
name = "web"
count = 5
vcpus = 1
memory = "1GiB"
workload = "stream"
rate = "1Gbit/s"
latency = "1ms"
percentile = 98

[[running]]
name = "r1"
host = "bigg"
vms = { webb = 3 }
"""


def faults(text, tmp_path, name="fleet.toml"):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_fleet([str(file)])
    return [str(line) for line in caught.value.lines()]


def test_toml_and_csv_say_the_same(tmp_path):
    (tmp_path / "a.toml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "a.csv").write_text(AS_CSV, encoding="utf-8")
    assert read_fleet([str(tmp_path / "a.toml")]) == read_fleet([str(tmp_path / "a.csv")])


def test_tables_of_several_files_lie_beside_each_other(tmp_path):
    head, _, vms = GOOD.partition("[[vm]]")
    (tmp_path / "hosts.toml").write_text(head, encoding="utf-8")
    (tmp_path / "vms.toml").write_text("[[vm]]" + vms, encoding="utf-8")
    (tmp_path / "a.toml").write_text(GOOD, encoding="utf-8")
    assert read_fleet([str(tmp_path / "hosts.toml"), str(tmp_path / "vms.toml")]) == read_fleet(
        [str(tmp_path / "a.toml")]
    )


@pytest.mark.parametrize(
    "part",
    [
        'host "big".cores = "many": expected processor cores',
        '.nics.0.rate = "25G": expected rate of the port with unit',
        ".nics.0.vfs = -1",
        'host "big".nics.node = 3',
        'host "big".profile = "genric"',
        'did you mean "generic"',
        'host "big".watts: expected a number, since rules.minimise is watts',
        "rules.spare: expected a known key",
        'did you mean "spare_hosts"',
        'vm "web".count = 0',
        'vm "web".workload = "rq"',
        'vm "web".rate = "max"',
        'vm "web".must_migrat: expected a known key; did you mean "must_migrate"?',
        'vm "web".paths = "vff": expected paths of a VM (see `vmodel paths`); did you mean "vf"?',
        'vm "web".settings.rx_usec: expected a knob (see `vmodel knobs`); did you mean "rx_usecs"?',
        'vm "web".settings.mtu = 3',
        'vm "web".name = "web": expected a name that is used once',
        'vm "web".latency: expected no latency objective',
        'vm "web".percentile = 98',
        'running "r1".host = "bigg": expected the name of a host type of this file; did you mean "big"?',
        'running "r1".vms.webb: expected the name of a VM class of this file; did you mean "web"?',
    ],
)
def test_every_fault_stands_in_one_report(part, tmp_path):
    found = faults(BAD, tmp_path)
    assert any(part in line for line in found), "\n".join(found)


def test_each_fault_is_one_printable_line_that_names_the_file(tmp_path):
    found = faults(BAD, tmp_path)
    assert all("fleet.toml" in line and line.isprintable() for line in found)


@pytest.mark.parametrize(
    ("text", "name", "part"),
    [
        ("a = [", "x.toml", "TOML"),
        ("", "x.toml", "[[host]] tables"),
        ("name,cores\n", "x.csv", "a column `table`"),
        ("table,name\nhostt,x\n", "x.csv", 'did you mean "host"'),
        ('table,name\nhost,"x\n', "x.csv", "CSV"),
        ("table,name\nhost,x,y,z\n", "x.csv", "2 cells"),
    ],
)
def test_what_is_no_fleet_at_all_is_refused_in_one_line_each(text, name, part, tmp_path):
    assert any(part in line for line in faults(text, tmp_path, name))


def test_a_file_that_is_too_large_or_not_there_is_refused(tmp_path):
    big = tmp_path / "big.toml"
    big.write_bytes(b"#" * ((8 << 20) + 1))
    for file in (big, tmp_path / "none.toml"):
        with pytest.raises(ConfigError):
            read_fleet([str(file)])


def test_more_vms_running_than_wanted_is_a_fault():
    running = [{"name": "r", "host": "host", "count": 20, "vms": {"web": 2}}]
    with pytest.raises(ConfigError, match="at least 40, which run today"):
        fleets.fleet(running=running)


def test_the_published_schema_is_that_of_the_reader():
    published = json.loads(Path(shapes.__file__).with_name("fleet.schema.json").read_text("utf-8"))
    assert published == json.loads(json.dumps(shapes.schema()))
    jsonschema.Draft202012Validator.check_schema(published)


def test_schema_and_reader_agree():
    body = {"host": [fleets.host()], "vm": [fleets.web(), fleets.nfv(latency="1.5ms"), fleets.backup()]}
    check = jsonschema.Draft202012Validator(shapes.schema())
    assert check.is_valid(body)
    fleet_of(body)
    for key, value in (("count", 0), ("vcpus", "x"), ("unknown", 1), ("direction", "up"), ("memory", "8 potatoes")):
        wrong = {**body, "vm": [{**fleets.web(), key: value}]}
        assert not check.is_valid(wrong)
        with pytest.raises(ConfigError):
            fleet_of(wrong)


@pytest.mark.parametrize(
    ("old", "new", "key", "expected"),
    [
        ("count = 10", "count = true", 'vm "web".count', "a whole number from 1"),
        ("cores = 64", "cores = true", 'host "big".cores', "a whole number from 1 to 4096"),
        ("price = 12000", "price = true", 'host "big".price', "a number from 0"),
        ('latency = "400us"', 'paths = ["vf", "vf"]', 'vm "web".paths', "each path once"),
        ('latency = "400us"', 'paths = ["nowhere.toml"]', 'vm "web".paths', "nowhere.toml: expected a readable file"),
        ('latency = "400us"', "size = 1e12", 'vm "web".size', "to 1GiB"),
        ('latency = "400us"', 'settings = { batch = "lots" }', 'vm "web".settings.batch', "a number"),
        ('rate = "2k/s"', "rate = 1e-300", 'vm "web".rate', "messages per second of one VM"),
        ('minimise = "price"', "growth_per_year = 9\nhorizon_years = 20", 'vm "web".rate', "at rules.horizon_years"),
    ],
)
def test_slips_that_would_be_read_as_something_else_are_told(tmp_path, old, new, key, expected):
    """Not as one, nor as a crash later; one line with the place and what belongs there."""
    assert old in GOOD
    file = tmp_path / "fleet.toml"
    file.write_text(GOOD.replace(old, new), encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        read_fleet([str(file)])
    (fault,) = error.value.faults
    assert (fault.file, fault.key) == (str(file), key)
    assert expected in fault.expected
