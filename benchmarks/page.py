"""How soon the what-if page shows a move, how large it is, and what one whole prediction costs in it.

A move is timed in the page, from the event of the slider to the frame after the one that shows it; `empty` is the same
way with nothing to compute. `CPU` is what the page's thread works for one move, all that follows included: it is
what is judged, since it stays the same when others want the processors too. Needs chromium, chromedriver, selenium.
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

LIMIT_MS, LIMIT_MB = 100.0, 6.0
STATES = {
    "vf, round trips": "#path=vf&rx_usecs=10",
    "vsock, bulk": "#path=vsock&topology=host-vm&workload=stream&profile=vsock-2019&size=16384",
    "virtio-vhost, frames at a load": "#path=virtio-vhost&topology=host-vm&workload=packets&load=150000pps",
    "two vf side by side": "#path=vf&rx_usecs=10&b.path=vf&b.rx_usecs=100",
}
MOVES = 60
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,1000")
MOVE = """const done = arguments[1], slider = document.getElementById("knob-size-slider");
    slider.value = arguments[0]; slider.dispatchEvent(new Event("input", { bubbles: true }));
    const look = () => (window.vmodel.moving() ? requestAnimationFrame(look) : setTimeout(done, 60)); look();"""
EMPTY = """const done = arguments[0], began = performance.now(), port = new MessageChannel();
    port.port1.onmessage = () => done(performance.now() - began);
    requestAnimationFrame(() => requestAnimationFrame(() => port.port2.postMessage(null)));"""
PREDICT = """const began = performance.now(), asked = window.vmodel.state.a;
    for (let i = 0; i < 200; i++) window.vmodel.predict({ ...asked, knobs: { ...asked.knobs, size: 1000 + i } });
    return (performance.now() - began) / 200;"""


def worked(driver: Any) -> float:
    """Milliseconds that the page's thread has worked so far."""
    metrics = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(float(m["value"]) for m in metrics if m["name"] == "TaskDuration") * 1e3


def main() -> int:
    """Measure, print a table, judge."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for option in OPTIONS:
        options.add_argument(option)
    options.binary_location = shutil.which("chromium") or ""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        began = time.perf_counter()
        command = [sys.executable, "-m", "vmodel", "explore", "-o", str(file)]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        print(f"page written in {time.perf_counter() - began:.2f} s, {file.stat().st_size / 1e6:.2f} MB")
        slow = file.stat().st_size / 1e6 > LIMIT_MB
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        heads = ("CPU", "median", "95th", "fastest", "empty", "record")
        print(f"{'shown':32s} {' '.join(f'{head:>9s}' for head in heads)}  limit {LIMIT_MS:.0f} ms")
        try:
            for name, state in STATES.items():
                driver.get("about:blank")
                driver.get(file.as_uri() + state)
                time.sleep(1)
                driver.execute_script("window.vmodel.timings.length = 0")
                driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
                before = worked(driver)
                for i in range(MOVES):
                    driver.execute_async_script(MOVE, 40 + 2 * i)
                cpu = (worked(driver) - before) / MOVES
                driver.execute_cdp_cmd("Performance.disable", {})
                found = sorted(driver.execute_script("return window.vmodel.timings"))
                empty = statistics.median(driver.execute_async_script(EMPTY) for _ in range(20))
                record = driver.execute_script(PREDICT)
                median = statistics.median(found)
                tail = found[int(0.95 * len(found))]
                slow = slow or cpu > LIMIT_MS
                row = (cpu, median, tail, found[0], empty, record)
                print(f"{name:32s} {' '.join(f'{x:6.1f} ms' for x in row)}")
        finally:
            driver.quit()
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
