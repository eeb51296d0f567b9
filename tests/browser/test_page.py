"""The page as a person meets it: moved, read, shared, compared, by mouse, by keyboard and on a telephone."""

import json
import shlex
import statistics
from pathlib import Path

import pytest
from click.testing import CliRunner

import vmodel
from tests.browser.test_agreement import differences
from vmodel.cli.main import cli
from vmodel.cli.options import FLAGS
from vmodel.config import scenario
from vmodel.library import tables
from vmodel.report import explorer
from vmodel.report.explained import reason_text, trials_text
from vmodel.report.text import answers
from vmodel.solve.explain import effects
from vmodel.solve.solver import predict

LARGEST_BYTES = 6e6
REPAINT_MS = 100  # of the page's own work for one move; benchmarks/page.py has the figures
SLOWEST_MS = 1000  # by the clock, on a machine that may do many other things
MOVES = range(20, 220, 20)
AXE = Path(__file__).with_name("axe.min.js")
PHONE = 900  # pixels; up to here the answer has a strip of its own at the foot
WIDTHS = (320, 390, 768, 1024, 1920)
CHECKED = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}
VSOCK = "#path=vsock&topology=host-vm&workload=stream&profile=vsock-2019&size=16384"
TWO = VSOCK + "&b.path=vsock&b.topology=host-vm&b.workload=stream&b.profile=vsock-2019&b.rx_buffer_bytes=4096"


def shown(text):
    """A figure of the command line as the page writes it."""
    return text.replace(" us", " µs")


def on_the_command_line(command):
    """The record of the command that the page shows."""
    program, *arguments = shlex.split(command)
    assert program == "vmodel"
    result = CliRunner().invoke(cli, [*arguments, "--json"], standalone_mode=False)
    assert result.exception is None, (command, result.exception)
    return json.loads(result.stdout)


def worked_ms(tab):
    """What the page's thread has worked so far."""
    metrics = tab.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(m["value"] for m in metrics if m["name"] == "TaskDuration") * 1e3


def assert_same_as_the_command_line(tab, side="a"):
    theirs = json.loads(tab.run(f"return JSON.stringify(window.vmodel.predict(window.vmodel.state.{side}))"))
    ours = on_the_command_line(tab.run("return window.vmodel.command(arguments[0])", side))
    assert list(differences(ours, theirs)) == []
    return ours


def test_the_page_opens_without_complaint_and_asks_nobody(tab):
    tab.open()
    assert tab.complaints() == []
    asked = [address for address in tab.requests() if not address.startswith("data:")]
    assert [address.partition("#")[0] for address in asked] == [tab.address]


def test_the_page_is_one_small_file_that_may_not_reach_the_network(html):
    assert len(html.encode()) < LARGEST_BYTES
    assert "default-src 'none'" in html
    assert " src=" not in html.partition("<script>")[0] and "@import" not in html


def test_the_same_inputs_give_the_same_bytes(html):
    from vmodel.calibrate import evidence

    rows = [row for study in evidence.load() for row in study.rows]
    assert explorer.page(scenario(path="vf", rx_usecs=10), rows, flags=FLAGS, version=vmodel.__version__) == html


def test_the_first_answer_is_that_of_the_command_line(tab):
    tab.open()
    known = dict(answers(predict(scenario(path="vf", rx_usecs=10))))
    text = tab.text("#headline [data-name=latency]")
    value, interval = known["latency"].removesuffix(")").split(" (90 %: ")
    assert shown(value) in text and shown(interval) in text
    assert known["bottleneck"].partition(",")[0] in tab.text("#headline [data-name=bottleneck]")


@pytest.mark.slow
@pytest.mark.parametrize("state", [
    "#path=vf&rx_usecs=10",
    VSOCK,
    "#path=virtio-vhost&workload=packets&load=150000pps&device=ixgbe&tso=0&cost.kick_s=2e-6",
    "#path=vhost-user&topology=vm-vm&workload=stream&direction=from-vm&batch=32&queues=4&flows=16&peer=virtio-vhost",
])  # fmt: skip
def test_moved_sliders_read_as_the_command_line_answers(tab, state):
    tab.open(state)
    before = assert_same_as_the_command_line(tab)
    for name, position in (("knob-size-slider", 150), ("knob-batch-slider", 90), ("knob-rx_usecs-slider", 70)):
        tab.move(name, position)
        after = assert_same_as_the_command_line(tab)
    assert after["settings"] != before["settings"] and after["settings"]["size"] != before["settings"]["size"]
    tab.choose("profile", "generic")
    assert assert_same_as_the_command_line(tab)["profile"] == "generic"
    assert tab.complaints() == []


@pytest.mark.slow
def test_every_path_can_be_picked(tab):
    tab.open()
    for path in tables.path_names():
        tab.choose("path", path)
        assert assert_same_as_the_command_line(tab)["path"] == path
        offered = tab.run("return [...document.getElementById('topology').options].map((o) => o.value)")
        assert offered == list(tables.endpoint(path).topologies)
    assert tab.complaints() == []


@pytest.mark.slow
def test_a_move_is_shown_at_once(tab):
    tab.open()
    tab.move("knob-size-slider", 10)
    tab.rest()
    tab.run("window.vmodel.timings.length = 0")
    tab.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    before = worked_ms(tab)
    for position in MOVES:
        tab.move("knob-size-slider", position)
    cpu = (worked_ms(tab) - before) / len(MOVES)
    tab.driver.execute_cdp_cmd("Performance.disable", {})
    found = tab.run("return window.vmodel.timings")
    assert len(found) >= len(MOVES)
    assert cpu < REPAINT_MS
    assert statistics.median(found) < SLOWEST_MS


@pytest.mark.slow
def test_the_address_holds_everything(tab):
    tab.open(VSOCK)
    tab.move("knob-size-slider", 120)
    tab.choose("sweep-x", "rx_buffer_bytes")
    tab.rest()
    address = tab.run("return location.hash")
    before = tab.run("return JSON.stringify(window.vmodel.state)")
    assert "rx_buffer_bytes" in address
    tab.open(address)
    assert tab.run("return JSON.stringify(window.vmodel.state)") == before


@pytest.mark.slow
@pytest.mark.parametrize("state", [
    "#path=<img src=x onerror=alert(1)>&size=-5&x=constructor&y=__proto__&load=NaNpps", "#b.path=vf&b.size=nonsense",
    "#path=vf&topology=loopback&size=1e99&cost.kick_s=-1&cost.nothing=3&__proto__=1&constructor=2", "#%", "#path",
])  # fmt: skip
def test_nonsense_in_the_address_is_put_right(tab, state):
    tab.open(state)
    assert tab.complaints() == []
    assert_same_as_the_command_line(tab)


@pytest.mark.slow
def test_two_configurations_side_by_side(tab):
    tab.open(VSOCK)
    tab.run("document.getElementById('compare').click()")
    tab.rest()
    tab.move("knob-size-slider", 60)
    a, b = assert_same_as_the_command_line(tab, "a"), assert_same_as_the_command_line(tab, "b")
    assert a["settings"]["size"] == 16384 != b["settings"]["size"]
    times = b["throughput_bps"]["value"] / a["throughput_bps"]["value"]
    assert f"B has {times:.3g} times the throughput of A" in tab.text("#ratio")
    assert tab.run("return document.querySelectorAll('#commands code').length") == 2
    assert tab.complaints() == []


@pytest.mark.slow
def test_measured_points_lie_over_the_curve(tab):
    tab.open("#path=vsock")
    rows = tab.run("return window.vmodel.rows()")
    names = tab.run("return [...document.getElementById('series').options].map((o) => o.value)")
    series = next(name for name in names if name.startswith("vsock/to-vm/optimized"))
    tab.choose("series", series)
    tab.rest()
    mine = [r for r in rows if f"{r['series']} · {r['topology']}" == series]
    count = int(tab.text("#sweep-caption").split("upright line: the configuration above. ")[1].split()[0])
    assert len(mine) > 3 and count >= len(mine)
    assert tab.run("return window.vmodel.state.x") == "size"
    assert "92 measured points" in tab.text("#verdict")
    drawn = tab.run(
        """const c = document.querySelector("#sweep canvas");
        const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
        let n = 0;
        for (let i = 0; i < d.length; i += 4) n += d[i] === 27 && d[i + 1] === 36 && d[i + 2] === 48;
        return n;"""
    )
    assert drawn > 20 * count  # pixels in the colour of measured points


@pytest.mark.slow
def test_each_setting_says_what_it_does_or_why_nothing(tab):
    tab.open("#path=vf&workload=rr")
    known = {effect.knob: effect for effect in effects(scenario(path="vf", workload="rr"))}
    for name in ("size", "rx_usecs", "queues", "ring_size", "batch", "in_flight"):
        hint = tab.text(f"#knob-{name}-hint")
        text = trials_text(known[name]) if known[name].matters else reason_text(known[name])
        assert shown(text) in hint.replace(" µs", " us").replace(" us", " µs"), name
        idle = tab.run(f"return document.getElementById('knob-{name}-hint').parentElement.classList.contains('idle')")
        assert idle == (not known[name].matters)


@pytest.mark.slow
def test_costs_are_sliders_too(tab):
    tab.open("#path=vf&rx_usecs=10")
    before = assert_same_as_the_command_line(tab)
    tab.run("document.getElementById('costs').open = true")
    tab.rest()
    tab.move("cost-vcpu_wake_s-slider", 200)
    after = assert_same_as_the_command_line(tab)
    assert after["latency_us"]["mean"] > before["latency_us"]["mean"]
    assert "vcpu_wake_s=" in tab.text("#commands")


def test_the_formula_adds_up(tab):
    tab.open("#path=vf&rx_usecs=10")
    assert "vcpu_wake_s*(1 - halt_poll)" in tab.text("#formula")
    assert "t_vcpu_wake" in tab.text("#formula .formulas")


# for everybody


@pytest.mark.slow
@pytest.mark.parametrize(
    ("state", "width", "scheme"), [("", 1400, "light"), (TWO, 1400, "dark"), (VSOCK, 390, "light"), ("", 390, "dark")]
)
def test_axe_finds_nothing(tab, state, width, scheme):
    tab.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    tab.open(state)
    tab.size(width, 900)
    tab.run("for (const d of document.querySelectorAll('details')) d.open = true")
    tab.rest()
    tab.run(AXE.read_text("utf-8"))
    script = (
        "const done = arguments[1]; axe.run(document, arguments[0]).then((r) => done(JSON.stringify(r.violations)))"
    )
    violations = json.loads(tab.driver.execute_async_script(script, CHECKED))
    tab.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert [(v["id"], [n["html"][:200] for n in v["nodes"]]) for v in violations] == []


@pytest.mark.slow
def test_the_keyboard_reaches_everything_in_order_of_reading(tab):
    from selenium.webdriver.common.keys import Keys

    tab.open()
    body = tab.driver.find_element("tag name", "body")
    body.send_keys(Keys.TAB)
    assert tab.run("return document.activeElement.textContent") == "Skip to the answer"
    order = []
    for _ in range(24):
        tab.driver.switch_to.active_element.send_keys(Keys.TAB)
        order.append(tab.run("const e = document.activeElement; return e.id || e.textContent"))
    places = [order.index(name) for name in ("compare", "path", "topology", "profile", "series", "knob-size-number")]
    assert places == sorted(places)
    slider = tab.driver.find_element("id", "knob-size-slider")
    before = tab.run("return window.vmodel.state.a.knobs.size ?? 1024")
    slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    tab.rest()
    assert tab.run("return window.vmodel.state.a.knobs.size") > before
    tab.run("document.querySelector('.skip').click()")
    assert tab.run("return document.activeElement.id") == "answer"


@pytest.mark.slow
def test_a_screen_reader_hears_the_answer_when_the_hand_rests(tab):
    tab.open("#path=vf&rx_usecs=10")
    assert tab.run("return document.getElementById('live').getAttribute('aria-live')") == "polite"
    first = tab.text("#live")
    assert first.startswith("latency 176.9 microseconds") and "bottleneck wire" in first
    tab.move("knob-rx_usecs-slider", 230)
    tab.rest()
    assert tab.text("#live") != first
    spoken = tab.run("return document.getElementById('knob-rx_usecs-slider').getAttribute('aria-valuetext')")
    assert spoken.endswith("µs")
    for chart in ("sweep", "curve"):
        assert "The table below has the values" in tab.run(f"return document.getElementById('{chart}').ariaLabel")


@pytest.mark.slow
@pytest.mark.parametrize("state", ["", TWO])
def test_nothing_sticks_out_at_any_width(tab, state):
    tab.open(state)
    for width in WIDTHS:
        tab.size(width, 800 if width > PHONE else 844)
        assert tab.run("return document.documentElement.scrollWidth") <= width
        strip = tab.run("return getComputedStyle(document.getElementById('strip')).display")
        assert (strip == "flex") == (width <= PHONE)


# hostile names


@pytest.mark.slow
def test_names_of_a_profile_never_become_markup(chromium, tmp_path):
    from dataclasses import replace

    from tests.browser.conftest import Tab
    from vmodel.library.profile import profile

    evil = "</script><script>window.caught = 1</script><img src=x onerror='window.caught = 2'>&lt;@FACTS@"
    own = replace(profile("generic"), name=evil, title=evil, note=evil)
    text = explorer.page(
        scenario(path="vf", profile=own),
        [],
        profiles=[own],
        profile_files={evil: "it's; rm -rf $(x).toml"},
        flags=FLAGS,
        version=vmodel.__version__,
    )
    file = tmp_path / "page.html"
    file.write_text(text, encoding="utf-8")
    tab = Tab(chromium, file.as_uri()).open()
    assert tab.run("return window.caught ?? 0") == 0
    assert tab.run("return document.images.length") == 0
    assert evil in tab.text("#digest") and evil in tab.text("#profile-title")
    assert tab.complaints() == []
    words = shlex.split(tab.text("#commands code"))
    assert words[words.index("--profile") + 1] == "it's; rm -rf $(x).toml"


@pytest.mark.slow
def test_a_path_of_ones_own_computes_in_the_page(chromium, tmp_path, monkeypatch):
    from tests.browser.conftest import Tab
    from tests.report.test_explorer import OWN_PATH

    monkeypatch.chdir(tmp_path)
    Path("own.toml").write_text(OWN_PATH, "utf-8")
    start = scenario(path="own.toml", workload="stream")
    Path("page.html").write_text(explorer.page(start, [], flags=FLAGS, version="0"), "utf-8")
    tab = Tab(chromium, (tmp_path / "page.html").as_uri()).open()
    assert assert_same_as_the_command_line(tab)["path"] == "own.toml"
    tab.move("knob-size-slider", 200)
    assert_same_as_the_command_line(tab)
    assert tab.complaints() == []
