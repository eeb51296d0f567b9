"""Input that means harm ends in one line and exit code 2, within bounds of time and memory."""

import gzip
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from vmodel.cli.main import main
from vmodel.errors import DatasetError, VmodelError
from vmodel.ingest.given import MOST_BYTES, MOST_JSON_BYTES
from vmodel.ingest.read import READERS, read

HOME = Path(__file__).parent
FILES = HOME / "files"
SECONDS = 20  # of processor time, many times what the slowest case takes
MEMORY = 1 << 31  # bytes of address space, interpreter included
DEEP = 100_000
IPERF3 = (FILES / "iperf3_3.12_tcp_1stream.json").read_bytes()
DOMAIN = (FILES / "libvirt_virtio_vhost_q4_mtu9000.xml").read_bytes()


def external(kind):
    return (
        f'<?xml version="1.0"?><!DOCTYPE domain [<!ENTITY x {kind} "file:///etc/hostname">]>'
        '<domain type="kvm"><name>&x;</name><devices/></domain>'
    ).encode()


CASES = {
    "external entity": external("SYSTEM"),
    "public entity": external('PUBLIC "a"'),
    "parameter entity": b'<!DOCTYPE d [<!ENTITY % p SYSTEM "http://192.0.2.1/x"> %p;]><domain/>',
    "external subset": b'<!DOCTYPE domain SYSTEM "http://192.0.2.1/x.dtd"><domain type="kvm"/>',
    "quadratic blowup": b'<!DOCTYPE d [<!ENTITY a "' + b"a" * 50_000 + b'">]><d>' + b"&a;" * 50_000 + b"</d>",
    "unknown entity": b'<domain type="kvm"><name>&nbsp;</name></domain>',
    "unknown encoding": b'<?xml version="1.0" encoding="klingon"?><domain type="kvm"/>',
    "deep XML": b"<domain type='kvm'>" + b"<a>" * DEEP,
    "wide XML": b"<domain type='kvm'><devices>" + b"<a/>" * 500_000,
    "many attributes": b"<domain " + b" ".join(b"a%d='1'" % n for n in range(100_000)) + b">",
    "deep JSON list": b"[{" + b'"a":[' * DEEP,
    "deep JSON object": b'{"start":' * DEEP,
    "deep JSON on a ps line": b"qemu-system-x86_64 -device " + b'{"a":' * DEEP,
    "digits": b"7" * 8_000_000,
    "digits in JSON": b'{"start":{"test_start":{}},"intervals":[],"end":{"sum_sent":{"bits_per_second":'
    + b"7" * 5_000_000,
    "digits in a table": b"TCP STREAM TEST from 0.0.0.0 to 0.0.0.0\n10^6bits/sec\n" + b"7" * 5_000_000 + b" 1 1 1 1\n",
    "digits in ethtool": b"Ring parameters for eth0:\nCurrent hardware settings:\nRX:\t" + b"7" * 5_000_000 + b"\n",
    "one long line": b"a" * 8_000_000,
    "spaces": b" " * 8_000_000 + b"x",
    "commas": b"," * 8_000_000,
    "quotes": b"qemu-system-x86_64 " + b"'\"" * 400_000,
    "backslashes": b"qemu-system-x86_64 " + b"\\" * 900_000,
    "many options": b"qemu-system-x86_64 " + b"-netdev tap " * 80_000,
    "NUL bytes": b"\0" * 100_000,
    "NUL in a table": b"Coalesce parameters for eth0:\nrx-usecs: 3\0\n",
    "NUL in JSON": IPERF3.replace(b"iperf 3.12", b"iperf\0 3.12"),
    "UTF-16": "Coalesce parameters for eth0:\nrx-usecs: 3\n".encode("utf-16"),
    "UTF-16 without a mark": "Coalesce parameters for eth0:\nrx-usecs: 3\n".encode("utf-16-le"),
    "UTF-16 XML": DOMAIN.decode().encode("utf-16"),
    "UTF-32": "driver: igb\nbus-info: 0000:01:00.0\n".encode("utf-32"),
    "truncated gzip": gzip.compress(IPERF3)[:-20],
    "gzip with a wrong sum": gzip.compress(IPERF3)[:-8] + b"\0" * 8,
    "gzip of nothing": b"\x1f\x8b",
    "gzip in gzip": gzip.compress(gzip.compress(IPERF3)),
    "gzip bomb": gzip.compress(b"\0" * (MOST_BYTES + 1)),
    "large JSON": b'{"start":[' + b"{}," * (MOST_JSON_BYTES // 3) + b"{}]}",
    "many documents": b"{}" * 300_000,
    "many lines": b"\n" * 3_000_000 + b"x",
    "control characters": bytes(range(1, 32)) * 1000,
    "random bytes": bytes((n * n * 31 + n * 7) % 256 for n in range(100_000)),
    "number for text": b'{"start":{"version":7,"test_start":[]},"intervals":{},"end":"x","error":{}}',
}


def complaint(capsys, *arguments):
    code = main(["ingest", *arguments])
    out, err = capsys.readouterr()
    assert (code, out, err.count("\n")) == (2, "", 1), err[:500]
    assert err.startswith("vmodel: ") and len(err) < 700
    return err


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("hostile")
    for number, data in enumerate(CASES.values()):
        (place / f"{number}.dat").write_bytes(data)
    return place


def bounded():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


SCRIPT = """
import sys
from vmodel.cli.main import main
for file in sys.argv[1:]:
    print(main(["ingest", file]), flush=True)
"""


def test_every_case_ends_in_one_line_within_bounds(folder):
    files = [str(folder / f"{number}.dat") for number in range(len(CASES))]
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, *files], capture_output=True, text=True, preexec_fn=bounded, check=False,
        env={**os.environ, "PYTHONPATH": str(HOME.parents[1]), "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    names = dict(zip(files, CASES, strict=True))
    lines = ran.stderr.splitlines()
    told = [names.get(line.removeprefix("vmodel: ").split(".dat")[0] + ".dat") for line in lines]
    assert ran.returncode == 0, (ran.returncode, list(CASES)[ran.stdout.count("\n")], ran.stderr[-500:])
    codes = dict(zip(CASES, ran.stdout.split(), strict=True))
    assert {name: code for name, code in codes.items() if code != "2"} == {}
    assert told == list(CASES)  # one line for each, in order
    assert max(map(len, lines)) < 700


def test_a_file_of_a_gigabyte_is_refused_by_its_size(capsys, tmp_path):
    file = tmp_path / "digits.json"
    with file.open("wb") as stream:
        stream.truncate(1 << 30)  # sparse: a gigabyte to every reader
    assert "expected the output of one run" in complaint(capsys, str(file))


def test_a_gigabyte_on_standard_input_is_read_no_further_than_the_limit():
    writer = subprocess.Popen(
        [sys.executable, "-c", "import os\nwhile True: os.write(1, b'7' * 65536)"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    ran = subprocess.run(
        [sys.executable, "-m", "vmodel", "ingest", "-"], stdin=writer.stdout, capture_output=True, text=True,
        preexec_fn=bounded, check=False, env={**os.environ, "PYTHONPATH": str(HOME.parents[1])},
    )  # fmt: skip
    writer.stdout.close()
    writer.wait()
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert ran.stderr.startswith("vmodel: standard input: more than")


def test_links_pipes_folders_and_devices_are_refused_without_waiting(capsys, tmp_path):
    good = tmp_path / "good.json"
    good.write_bytes(IPERF3)
    link, loop, pipe, dangling = (tmp_path / name for name in ("link", "loop", "pipe", "dangling"))
    link.symlink_to(good)
    loop.symlink_to(loop)
    dangling.symlink_to(tmp_path / "nothing")
    os.mkfifo(pipe)
    for place in (link, loop, dangling):
        assert "symbolic link" in complaint(capsys, str(place))
    for place in (pipe, tmp_path, Path("/dev/zero"), Path("/dev/null")):
        assert "regular file" in complaint(capsys, str(place))
    assert "No such file" in complaint(capsys, str(tmp_path / "missing"))
    assert "name of a file" in complaint(capsys, "a\0b")
    assert "File name too long" in complaint(capsys, "x" * 5000)


def test_a_pipe_of_the_users_own_shell_is_read():
    ran = subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -m vmodel ingest <(cat "{FILES}/ethtool_6.1_l_igb.txt") --json'],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(HOME.parents[1])},
    )  # fmt: skip
    assert json.loads(ran.stdout)["configuration"]["queues"] == 2, ran.stderr


CODE = '$(touch hacked)`touch hacked`"; import os; os.system("touch hacked") #'


@pytest.mark.parametrize(
    "text",
    [
        f"Coalesce parameters for {CODE.replace(' ', '')}:\nrx-usecs: 3\n",
        f"qemu-system-x86_64 -enable-kvm -name '{CODE}' -netdev tap,id=n0 -device virtio-net-pci,netdev=n0\n",
        json.dumps([{"ifindex": 1, "ifname": CODE, "flags": [CODE], "mtu": 1500, "linkinfo": {"info_kind": CODE}}]),
        f"driver: {CODE.split()[0]}\nversion: 1\nbus-info: x\n",
        DOMAIN.decode().replace("vm7", "__import__('os').system('touch hacked')"),
        IPERF3.decode().replace('"iperf 3.12"', json.dumps(CODE)),
    ],
)
def test_code_in_a_name_is_a_name(text, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("input").write_text(text)
    assert main(["ingest", "input"]) in (0, 2)
    assert main(["predict", "--path", "vf", "--from", "input"]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["input"]


def test_terminal_escapes_in_a_file_do_not_reach_the_terminal(capsys, tmp_path):
    file = tmp_path / "x"
    file.write_text(
        "driver: evil\x1b]0;owned\x07name\nversion: \x9b31m\nbus-info: \x1b[2J\nfirmware-version: \u202egnp\n"
    )
    assert main(["ingest", str(file)]) in (0, 2)
    out, err = capsys.readouterr()
    assert not set(out + err) & {"\x1b", "\x07", "\x9b", "\u202e"}


@pytest.mark.parametrize("reader", READERS, ids=lambda r: f"{r.tool}-{r.form}")
@pytest.mark.parametrize("name", ["digits", "deep JSON list", "one long line", "random bytes", "number for text"])
def test_a_reader_that_was_named_refuses_what_is_not_its_own(reader, name):
    with pytest.raises(VmodelError):
        read(CASES[name], tool=reader.tool)


def test_an_error_line_repeats_little_of_the_input(capsys, tmp_path):
    file = tmp_path / "passwd"
    file.write_text("root:x:0:0:root:/root:/bin/bash\n" * 50)
    assert "root:x" not in complaint(capsys, str(file))


def test_errors_of_bytes_have_no_file_name():
    with pytest.raises(DatasetError, match=r"^file is empty"):
        read(b"")
