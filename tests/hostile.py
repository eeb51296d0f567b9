# ruff: noqa: E501, RUF001
"""Command lines that nobody should type, for every option of every command, and what must hold of the answers.

`tests/test_hostile.py` runs a reproducible few of them, `benchmarks/fuzz_commands.py` as many as there is time for.
"""

import contextlib
import io
import json
import sys
import warnings
from functools import cache

import click
from hypothesis import strategies as st

from vmodel.cli.main import COMMANDS, cli, main
from vmodel.cli.options import FLAGS
from vmodel.library import tables
from vmodel.library.moderation import devices
from vmodel.library.profile import shipped

LEFT_OUT = {"--write", "--help", "--version", "--scheduler"}  # rewrite what ships, end at once, open connections
NUMBERS = (
    "0", "1", "-1", "-0", "0.0", "1e308", "1e-308", "5e-324", "1e309", "-1e309", "nan", "inf", "-inf", "1e9", "1e18",
    "9007199254740993", "9" * 30, "9" * 5000, "0x10", "1_000", "٣", "²", "½", "1,5", "1.5", "1e", "+1", " 1 ", "1e-9",
    "0.1", "64", "1500", "65536", "4294967296", "18446744073709551616", "1e3", "2", "3", "10", "16", "100", "1000",
)  # fmt: skip
UNITS = (
    "1K", "64KiB", "0K", "1e308K", "1e300GiB", "-1KiB", "10Gbit/s", "0Gbit/s", "1e300Gbit/s", "1e-300bit/s", "200kpps",
    "1e300Mpps", "0pps", "max", "MAX", "50%", "100%", "0%", "200 %", "1e300%", "-5%", "10Gbps", "10 furlongs", "3Gbit/s",
    "1pps", "5us", "10ms", "1e300s", "0s", "1Mpps",
)  # fmt: skip
TEXTS = (
    "", " ", "\t", "\n", "a\nb", "\x1b[2J", "\x7f", "\udcff", "\u202e", "é", "İ", "ı", "ß", "💥", "-", "--", "---", "=", "a=",
    "=b", "a=b=c", ",", ",,", "a,b", ":", "..", "/", "//", "%s", "%n", "{0}", "{x.__class__}", "$(id)", "`id`", "'", '"',
    "\\", "__class__", "__import__('os')", "None", "null", "true", "false", "on", "yes", "no", "[]", "{}", "x" * 300,
    "x" * 70000, "vf", "VF", "v f", "vf ", "native", "generic", "rr", "stream", "packets", "to-vm",
)  # fmt: skip
FILES = (
    "missing.csv", "missing/deep.csv", "", ".", "..", "/", "folder", "folder.csv", "empty.csv", "empty.toml", "empty.json",
    "noise.csv", "noise.toml", "noise.xml", "deep.toml", "deep.json", "bomb.xml", "huge.toml", "rows.csv", "odd.csv",
    "fleet.toml", "odd_fleet.toml", "fleet.csv", "config.toml", "odd_config.toml", "profile.toml", "odd_profile.toml",
    "path.toml", "newer.toml", "ethtool.txt", "domain.xml", "iperf.json", "closed.csv", "x" * 300 + ".csv", "\udcff.csv",
    "a\nb.csv", "/dev/null", "/dev/full", "/proc/self/mem", "-", "~/x.csv", "link.toml", "link.csv",
)  # fmt: skip
OUTPUTS = ("", ".", "/", "-", "/dev/full", "/dev/null", "folder") + tuple(  # noqa: RUF005
    f"{stem}.{kind}"
    for stem in ("out", "folder", "missing/out", "x" * 300, "\udcff", "a\nb", "/proc/out", "/dev/full")
    for kind in ("csv", "json", "md", "html", "svg", "png", "toml", "parquet", "sh", "mmd", "exe", "")
)
VARY = (
    "rx_usecs=0:200:50", "size=64..64KiB/5@log", "load=2%..105%/5", "rx_usecs=0:1e308:1e307", "rx_usecs=0:1:0",
    "rx_usecs=0:1:-1", "rx_usecs=5:1:1", "size=1..1e308/3", "size=0..10/3@log", "size=-1..1/3@log", "batch=1,2,64",
    "path=vf,virtio-vhost", "path=", "rx_usecs=", "rx_usecs=nan", "rx_usecs=1..inf/3", "rx_usecs=1..2/0", "=", "x=1",
    "rx_usecs=0:1e18:1", "size=1..2/1e18", "rx_usecs=1..2/-3", "rx_usecs=0..1/2@cube", "tso=true,false", "tso=maybe",
    "profile=generic,hs21-2007", "load=max", "queues=1:4:1", "in_flight=1..64/4@log", "rx_usecs=1:2", "a..b/c",
    "load=0%..0%/2", "load=1e308pps", "workload=rr,stream", "topology=vm-vm,cross-vm-vm",
)  # fmt: skip
OWN = {  # words that mean something to one option, beside numbers and texts
    "--vary": VARY,
    "--columns": ("latency_us", "rate_pps,regime", "standing", "latency", "p99", ",", "*"),
    "--answer": ("latency_us", "rate_pps", "regime", "nothing"),
    "--minimize": ("latency", "p99", "cpu", "cpu_host", "throughput", "rate"),
    "--maximize": ("throughput", "rate", "rate_pps", "latency", "cpu"),
    "--subject": ("p99<100us", "latency<=1e308s", "cpu<nan", "cpu<=2", "rate>=1Mpps", "x<1", "p99<", "<", "p99=1"),
    "--over": ("rx_usecs", "batch", "rx_usecs,batch", "size", "load", "nothing", "path", "rx_usecs=0:100:10", "queues=1,2"),
    "--worth": ("latency=1", "cpu=1e308", "throughput=0", "latency=nan", "latency"),
    "--objective": ("latency", "throughput", "p99", "cpu"),
    "--decide": ("path", "vf,virtio-vhost", "rx_usecs", "latency", "path=vf,virtio-vhost", "rx_usecs=0,10"),
    "--bucket": NUMBERS,
    "--beside": ("count=2", "path=vf", "count=1e308", "weight=0", "weight=nan", "load=1kpps,weight=2", "count=-1", "size=1"),
    "--case": ("rx_usecs=0", "path=vf,rx_usecs=1e308", "batch=0", "x=1", ",", "load=1e300pps", "path=virtio-vhost"),
    "--tool": ("iperf3", "ethtool", "netperf", "netperf:TCP_RR", "sockperf", "perf"),
    "--series": ("a", "rx"),
    "--sobol": ("0", "1", "2", "4", "3", "-4", "16"),
    "--draws": ("0", "1", "2", "10", "-1", "1e3"),
    "--messages": ("0", "1", "-1", "100", "1000"),
    "--time-limit": ("0.1", "0.5", "0", "nan", "-1"),
    "--workers": ("0", "1", "-1", "nan"),
    "--budget": ("0", "nan", "-1"),
    "--against": ("generic", "vf", "missing.toml"),
    "--figure": ("waterfall", "tornado", "path", "nothing"),
}  # fmt: skip
FILE_OPTIONS = {
    "--config", "--from", "--measured", "--calibration", "--verify", "--without", "--after", "--update", "--prior", "--fit",
}  # fmt: skip
NO_NAMES = ("nothing", "", "__class__")
WRITES = {"-o", "--output", "--plot"}


@cache
def words_of(option):
    """Values that an option may really have."""
    names = {
        "--path": tables.path_names(), "--peer": tables.path_names(), "--topology": tables.TOPOLOGIES,
        "--workload": tables.WORKLOADS, "--direction": tables.DIRECTIONS, "--profile": (*shipped(), "profile.toml"),
        "--device": tuple(devices()), "--prior": ("generic", "profile.toml"),
    }  # fmt: skip
    if option == "--load":
        return ("max", "1pps", "1kpps", "100kpps", "1Mpps", "1Gbit/s", "1000Gbit/s", "1e-6pps")
    knob = {flag: name for name, flag in FLAGS.items()}.get(option)
    return tuple(names.get(option, OWN.get(option, edges(knob) if knob else ())))


@cache
def edges(name):
    """The ends of what a knob may be, and what lies close to them."""
    k = tables.knobs()[name]
    if k.kind == "switch":
        return ("true", "false", "1", "0")
    ends = {k.least, k.most, k.least + 1, k.most - 1, (k.least * k.most) ** 0.5, k.default or k.least}
    return tuple(f"{value:.17g}" for value in sorted(ends))


@st.composite
def settings_pairs(draw, possible=False):
    """name=value for --set: every knob and every cost, with numbers at every edge."""
    name = draw(st.sampled_from((*tables.knobs(), *tables.priors(), *(() if possible else NO_NAMES))))
    pool = (*NUMBERS, *UNITS, "true", "no", "")
    if name in tables.knobs() and (possible or draw(st.integers(0, 3))):
        pool = edges(name)
    elif name in tables.priors() and (possible or draw(st.booleans())):
        pool = ("1e-15", "1e-9", "1e-6", "1", "1e6", "1e12", "1e30", "1e-30", "1e300", "1e-300")
    return f"{name}={draw(st.sampled_from(pool))}"


def values(option, possible=False):
    """A value of an option: one that it could have, or one that it should refuse."""
    if option == "--set":
        return settings_pairs(possible)
    if possible and option in WRITES:
        return st.sampled_from([name for name in OUTPUTS if name.startswith("out.")])
    if possible and words_of(option):
        return st.sampled_from(words_of(option))
    pools = [st.sampled_from(NUMBERS), st.sampled_from(UNITS), st.sampled_from(TEXTS)]
    if option in WRITES:
        pools = [st.sampled_from(OUTPUTS)] * 4 + pools[2:]
    if option in FILE_OPTIONS or option in ("--profile", "--path"):
        pools = [*pools[2:], st.sampled_from(FILES)] + [st.sampled_from(FILES)] * (2 if option in FILE_OPTIONS else 0)
    if words_of(option):
        pools = [st.sampled_from(words_of(option))] * 4 + pools
    return st.one_of(pools)


@cache
def command(name):
    """A click command by its name."""
    return cli.get_command(None, name)


def flags_of(parameter):
    """Every spelling of an option that is tried."""
    return [flag for flag in (*parameter.opts, *parameter.secondary_opts) if flag not in LEFT_OUT]


@st.composite
def command_lines(draw, names=tuple(COMMANDS)):
    """A command with some of its options; half of the time with a path, so that something is computed."""
    name = draw(st.sampled_from(names))
    made = command(name)
    options = [p for p in made.params if isinstance(p, click.Option) and flags_of(p)]
    line = [name]
    known = {p.opts[0] for p in options}
    if "--path" in known and name not in ("measure", "fit", "validate", "diagnose") and draw(st.integers(0, 3)):
        line += ["--path", draw(st.sampled_from(tables.path_names()))]
        if "--workload" in known and draw(st.booleans()):
            line += ["--workload", draw(st.sampled_from(tables.WORKLOADS))]
    if name == "sweep" and draw(st.integers(0, 3)):
        line += ["--vary", draw(st.sampled_from(VARY[:3]))]
    possible = draw(st.integers(0, 2)) > 0  # two of three lines hold only values that each option may have by itself
    if possible:
        options = [p for p in options if p.opts[-1] not in (*FILE_OPTIONS, "--interface", "--peer")]
    for option in draw(st.lists(st.sampled_from(options), max_size=5)) if options else ():
        flag = draw(st.sampled_from(flags_of(option)))
        line.append(flag)
        if not option.is_flag:
            line.append(draw(values(option.opts[-1] if option.opts[-1].startswith("--") else option.opts[0], possible)))
    for argument in (p for p in made.params if isinstance(p, click.Argument)):
        most = argument.nargs if argument.nargs > 0 else 3
        line += draw(
            st.lists(
                st.sampled_from(FILES),
                min_size=1 if argument.required or name in ("fit", "validate") else 0,
                max_size=most,
            )
        )
    if name == "measure":
        line += ["-o", "folder"]  # is there already: everything is read, nothing is run
    if name == "check" and "--messages" not in line:
        line += ["--messages", "200"]
    if name == "plan":
        line += ["--time-limit", "0.2"]
    return [part.replace("\0", "") for part in line]


def fill(folder):
    """The files that command lines name."""
    (folder / "folder").mkdir()
    (folder / "folder.csv").mkdir()
    for kind in ("csv", "json", "md", "html", "svg", "png", "toml", "parquet"):
        (folder / f"folder.{kind}").mkdir(exist_ok=True)
    texts = {
        "empty.csv": "", "empty.toml": "", "empty.json": "",
        "deep.toml": "a = " + "[" * 3000, "deep.json": "[" * 100_000, "huge.toml": "a = 1 # " + "x" * (5 << 20),
        "bomb.xml": '<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><domain><name>&b;</name></domain>',
        "rows.csv": "id,path,topology,workload,direction,message_bytes,metric,value,sd,rx_usecs,series\n"
        "a,vf,cross-host-vm,rr,to-vm,1,latency_us,55,1,10,s\nb,vf,cross-host-vm,rr,to-vm,1,latency_us,80,2,50,s\n"
        "c,virtio-vhost,host-vm,stream,to-vm,16384,throughput_mbps,9000,100,,t\n",
        "odd.csv": "id,path,topology,workload,direction,message_bytes,metric,value,sd\na,vf,,rr,,1e309,latency_us,nan,-1\n"
        "a,vff,moon,rr,up,-1,latency,0,0\nb,vf,,stream,,1e18,latency_us,1e308,1e-300\n",
        "fleet.toml": '[[host]]\nname = "h"\ncores = 16\nmemory = "64GiB"\nmemory_bandwidth = "50GB/s"\nprice = 1.0\n'
        'nics = [{ rate = "25Gbit/s", vfs = 8 }]\n[[vm]]\nname = "web"\ncount = 3\nvcpus = 2\nmemory = "4GiB"\n'
        'workload = "rr"\nrate = 1000.0\nsize = 1024.0\nlatency = "400us"\n',
        "odd_fleet.toml": '[[host]]\nname = "h"\ncores = 1e308\nmemory = "-1GiB"\nprice = nan\n[[vm]]\nname = ""\ncount = -1\n',
        "fleet.csv": "name,count,vcpus,memory,workload,rate,size,latency\nweb,3,2,4GiB,rr,1000,1024,400us\n",
        "config.toml": 'path = "vf"\nrx-usecs = 10\nsize = "64KiB"\n',
        "odd_config.toml": 'path = 1\nrx-usecs = true\nsize = [1]\nlink = "1e308"\nbatch = nan\nqueues = 1e400\nx = "\\u0000"\n',
        "profile.toml": 'format = 1\nname = "mine"\ntitle = "mine"\nclock_ghz = 0.1\n',
        "odd_profile.toml": 'format = "one"\nname = 1\ntitle = []\nclock_ghz = inf\n[parameters.x]\nvalue = nan\n',
        "newer.toml": 'format = 999\nname = "mine"\ntitle = "mine"\nclock_ghz = 2.0\nnews = 1\n',
        "path.toml": '[mine]\ntitle = "x"\ntx = ["nothing"]\n',
        "ethtool.txt": "Coalesce parameters for eth0:\nAdaptive RX: off  TX: off\nrx-usecs: 50\nrx-frames: 99999999999999\n",
        "domain.xml": "<domain type='kvm'><name>x</name><vcpu>99999999999</vcpu><devices><interface type='bridge'>"
        "<source bridge='br0'/><model type='virtio'/><driver name='vhost' queues='-3'/></interface></devices></domain>",
        "iperf.json": '{"start": {}, "end": {"sum_received": {"bits_per_second": 1e309, "bytes": -1}}}',
        "closed.csv": "id,path\na,vf\n",
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    for kind in ("csv", "toml", "xml"):
        (folder / f"noise.{kind}").write_bytes(bytes(range(256)) * 20)
    (folder / "link.toml").symlink_to("/dev/zero")
    (folder / "link.csv").symlink_to("/dev/zero")
    (folder / "closed.csv").chmod(0)


class Kept(io.StringIO):
    """Standard output and error that also take bytes and lone surrogates, as a terminal with `errors=replace` does."""

    encoding = "utf-8"

    @property
    def buffer(self):
        return io.BytesIO()


def run(line):
    """Run one command line in this process: exit code, output, complaints. What escapes is our fault."""
    out, err = Kept(), Kept()
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(b""), encoding="utf-8")
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                code = main(line)
            except SystemExit as error:
                raise RuntimeError(f"left by SystemExit({error.code})") from error
    finally:
        sys.stdin = before
    return code, out.getvalue(), err.getvalue()


def fault(line):
    """What is wrong with the answer to a command line, or an empty text; raises what escaped the command."""
    code, out, err = run(line)
    if code not in (0, 1, 2):
        return f"exit code {code!r}"
    if code == 2 and not err:
        return "refused without a word"
    complaints = [part for part in err.split("\n") if part.startswith("vmodel: ")] if code == 2 else []
    if code == 2 and (out or not complaints or len(complaints) != len([p for p in err.split("\n") if p])):
        return f"bad input told otherwise than in lines of stderr: {out[:200]!r} {err[:400]!r}"
    if any(not part.isprintable() for part in complaints):
        return f"an error line that is not printable: {err[:400]!r}"
    if any(len(part) > 4000 for part in complaints):
        return f"an error line of {max(map(len, complaints))} characters: {err[:400]!r}"
    if "Traceback" in err or "Warning" in err:
        return f"machinery on stderr: {err[:400]!r}"
    if "--json" in line and code in (0, 1) and out and "--rules" not in line and "--schema" not in line:
        json.loads(out, parse_constant=lambda text: (_ for _ in ()).throw(ValueError(f"{text} is not JSON")))
    return ""
