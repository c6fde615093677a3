"""Chromium without a window, driven through its own pipe: what a page looks like, and what clicks and keys do to it."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
from collections import deque

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING = "no chromium on this machine; apt-get install chromium"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",  # the browser reads commands from descriptor 3 and answers on 4
]
PATIENCE = 60  # seconds without a word from the browser, after which it is given up
KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "Tab": (9, ""), "ArrowRight": (39, ""), "ArrowDown": (40, "")}


class Browser:
    """One tab. Calls are those of the DevTools protocol; events wait in `heard` until somebody looks."""

    def __init__(self, profile):
        command = 'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1'
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", command, CHROMIUM, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._number, self._session, self._buffer = 0, None, b""
        self.heard, self._waiting = [], deque()
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        with contextlib.suppress(OSError):
            self.call("Browser.close")
        self._process.communicate(timeout=PATIENCE)

    def call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._process.stdin.write(json.dumps(message).encode() + b"\0")
        self._process.stdin.flush()
        while (answer := self._next()).get("id") != self._number:
            self.heard.append(answer)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def _next(self):
        while not self._waiting:
            ready, _, _ = select.select([self._process.stdout], [], [], PATIENCE)
            more = os.read(self._process.stdout.fileno(), 1 << 20) if ready else b""
            if not more:
                raise OSError("the browser is gone, or says nothing any more")
            *whole, self._buffer = (self._buffer + more).split(b"\0")
            self._waiting.extend(map(json.loads, whole))
        return self._waiting.popleft()

    def open(self, path, width, height=800, dark=False, media=""):
        """A page in a window of this size, when it has loaded."""
        colours = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media, features=[colours])
        self.heard.clear()
        self.call("Page.navigate", url=path.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.heard):
            self.heard.append(self._next())

    def ask(self, expression):
        """The value of an expression in the page; promises are awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def click(self, element):
        """A click of the mouse in the middle of what an expression gives."""
        place = self.ask(
            f"(() => {{ const e = {element}; e.scrollIntoView({{block: 'center', behavior: 'instant'}});"
            "const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def press(self, key):
        code, text = KEYS[key]
        for kind in ("keyDown", "keyUp"):
            pressed = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **pressed)

    def choose(self, select, value):
        """What choosing an option of a select does."""
        self.ask(
            f"(() => {{ const s = {select}; s.value = {json.dumps(value)}; s.dispatchEvent(new Event('change')); }})()"
        )

    def pdf(self) -> bytes:
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"])

    def picture(self, whole=False) -> bytes:
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"])

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings of the page, and what its policy forbade."""
        said = [e["params"] for e in self.heard if e["method"] in ("Runtime.exceptionThrown", "Log.entryAdded")]
        said += [e["params"] for e in self.heard if e["method"] == "Runtime.consoleAPICalled"]
        return list(map(str, said))

    @property
    def requests(self) -> list[str]:
        sent = [e["params"] for e in self.heard if e["method"] == "Network.requestWillBeSent"]
        return [request["request"]["url"][:200] for request in sent]
