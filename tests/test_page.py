"""report.html: one file that needs nothing else and fits its window."""

import json
import re
import shutil
import subprocess

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=20000",
    "--window-size=1400,900",
    "--dump-dom",
]

MEASURE = """<script>window.addEventListener("load", () => parent.postMessage(JSON.stringify({
  width: innerWidth,
  page: document.documentElement.scrollWidth,
  images: document.images.length,
  broken: [...document.images].filter(i => !i.complete || i.naturalWidth === 0).length,
  wide: [...document.querySelectorAll("body > *:not(.box):not(pre)")].filter(e => e.scrollWidth > innerWidth).length,
}), "*"))</script>"""

FRAMES = """<!doctype html><body><script>addEventListener("message", e => {
  const p = document.createElement("p"); p.textContent = e.data; document.body.append(p); })</script>
<iframe src="page.html" width="1280" height="800" style="border:0"></iframe>
<iframe src="page.html" width="400" height="800" style="border:0"></iframe>"""


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine; apt-get install chromium")
def test_page_in_a_browser(written, tmp_path):
    page = (written / "report.html").read_text("utf-8")
    (tmp_path / "page.html").write_text(page.replace("</body>", MEASURE + "</body>"), encoding="utf-8")
    (tmp_path / "frames.html").write_text(FRAMES, encoding="utf-8")
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", (tmp_path / "frames.html").as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    measured = {m["width"]: m for m in map(json.loads, re.findall(r"<p>(\{.*?\})</p>", shown))}
    assert set(measured) == {1280, 400}, shown[:2000]
    for width, found in measured.items():
        assert found["images"] == 6
        assert found["broken"] == 0
        assert found["page"] <= width
        assert found["wide"] == 0


def test_page_needs_nothing_but_itself(written):
    page = (written / "report.html").read_text("utf-8")
    assert page.count("<img ") == 6
    assert all(source.startswith("data:image/png;base64,") for source in re.findall(r'src="([^"]*)"', page))
    assert "<script" not in page
    assert "$" not in page
    assert "http" not in re.sub(r"base64,[^\"]*", "", page)
