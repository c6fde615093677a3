"""Dask clusters that stall, vanish, or are to be kept from others."""

import os
import signal
import socket
import socketserver
import ssl
import subprocess
import sys
import threading
import time

import pytest

from ratecheck.cli import study as command
from ratecheck.engine.errors import ExecutorError, ExecutorLost
from ratecheck.executors import cluster
from ratecheck.store import Store
from tests.hanging import declare, sleeps_or_answers, waited
from tests.places import executor

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow
CONE = ["--family", "cone", "--dims", "1"]
SOON = 3.0  # seconds, in place of a minute


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(cluster, "STALLED", SOON)
    monkeypatch.setattr(cluster, "PATIENCE", 2 * SOON)
    monkeypatch.setattr(cluster, "LOOK_EVERY", 0.2)


@pytest.fixture
def remote(tmp_path):
    """Starts a scheduler, and workers that know no nanny, as others have them; returns its address and processes."""
    processes = []

    def begin(scheme="tcp", workers=2, **files):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            address = f"{scheme}://127.0.0.1:{probe.getsockname()[1]}"
        tls = [f"--tls-{name}={file}" for name, file in files.items()]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        port = address.rpartition(":")[2]
        listen = ["--host", f"{scheme}://127.0.0.1", "--port", port, "--no-dashboard", "--dashboard-address", ":0"]
        processes.append(subprocess.Popen([*dask_command("scheduler"), *listen, *tls], **quiet))
        for _ in range(workers):
            alone = [address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path)]
            processes.append(subprocess.Popen([*dask_command("worker"), *alone, *tls], **quiet))
        assert waited(lambda: answers(address), 60)
        return address, processes

    yield begin
    for process in processes:
        process.kill()
        process.wait(60)


def dask_command(what):
    return [sys.executable, "-c", f"from distributed.cli.dask_{what} import main; main()"]


def answers(address) -> bool:
    host, port = address.rpartition("/")[2].split(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


def both_work(place):
    """Two workers have answered."""
    return waited(lambda: place.slots == 2, 60)


@pytest.mark.usefixtures("impatient")
def test_a_stalled_worker_of_ours_is_replaced_and_its_units_run():
    place = executor("local:2")
    try:
        assert both_work(place)
        stalled = place.cluster.workers[0].pid
        os.kill(stalled, signal.SIGSTOP)
        futures = [place.submit(sleeps_or_answers, number, limit=60) for number in range(8)]
        assert [future.result(120) for future in futures] == list(range(8))
        assert waited(lambda: place.cluster.workers[0].pid not in (None, stalled), 60)
    finally:
        place.close()


@pytest.mark.usefixtures("impatient")
def test_a_stalled_worker_elsewhere_is_left_alone_and_its_units_run(remote):
    address, (_, first, _) = remote()
    place = executor(address)
    try:
        assert both_work(place)
        first.send_signal(signal.SIGSTOP)
        futures = [place.submit(sleeps_or_answers, number, limit=60) for number in range(8)]
        assert [future.result(120) for future in futures] == list(range(8))
    finally:
        place.close()


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("blow", [signal.SIGSTOP, signal.SIGKILL])
def test_a_scheduler_that_is_gone_or_says_nothing_is_lost(remote, blow, capfd):
    address, (scheduler, *_) = remote()
    place = executor(address)
    try:
        assert both_work(place)
        futures = [place.submit(sleeps_or_answers, number, limit=60) for number in ("sleep", "sleep", 3)]
        scheduler.send_signal(blow)
        with pytest.raises(ExecutorLost, match=r"lost the scheduler .*finished units are kept"):
            waited(lambda: place.slots > 2, 120)
        assert not any(future.done() and not future.cancelled() for future in futures)
        with pytest.raises(ExecutorLost):
            place.check()
    finally:
        start = time.monotonic()
        place.close()
        assert time.monotonic() - start < 8
    time.sleep(2)
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("impatient")
def test_a_study_whose_scheduler_stalls_before_it_begins_ends_with_a_sentence(remote, tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT", SOON)
    address, (scheduler, *_) = remote()
    scheduler.send_signal(signal.SIGSTOP)
    code = command.main([*CONE, "--scheduler", address, "--out", str(tmp_path / "x")])
    assert code == 2  # it never began
    check_sentence(capfd, f"there is no Dask scheduler at {address}")
    assert not (tmp_path / "x").exists()


class NoDask(socketserver.BaseRequestHandler):
    """Answers whatever it is told like a server of pages."""

    def handle(self):
        self.request.recv(1)
        self.request.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n")


@pytest.fixture
def no_dask():
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), NoDask) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.parametrize("scheme", ["tcp", "tls"])
def test_what_is_no_scheduler_ends_a_study_with_a_sentence(no_dask, scheme, tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT", SOON)
    address = f"{scheme}://{no_dask}"
    line = [*CONE, "--scheduler", address, "--out", str(tmp_path / "x")]
    assert command.main(line) == 2
    check_sentence(capfd, f"there is no Dask scheduler at {address}")
    assert not (tmp_path / "x").exists()
    (tmp_path / "x").mkdir()
    with Store(tmp_path / "x", create=True) as store:  # one that went on before
        store.note("failed", ["a unit"])
    assert command.main(line) == 2
    check_sentence(capfd, f"there is no Dask scheduler at {address}")
    with Store(tmp_path / "x") as store:
        assert store.names("failed") == ["a unit"]


def check_sentence(capfd, words):
    said = capfd.readouterr().err
    assert f"error: {words}" in said
    assert "Traceback" not in said


@pytest.mark.usefixtures("impatient")
def test_a_study_whose_scheduler_stalls_in_the_middle_ends_with_a_sentence(remote, tmp_path, capfd):
    address, (scheduler, *_) = remote()
    study = declare(tmp_path / "hanging_m", "Sleeps")
    stalls = threading.Timer(10, scheduler.send_signal, (signal.SIGSTOP,))
    stalls.start()
    code = command.main(["--study", str(study), "--scheduler", address, "--out", str(tmp_path / "x")])
    assert code == 1
    said = capfd.readouterr().err
    assert "error: lost the scheduler" in said
    assert "Traceback" not in said


# Who may talk to it


def test_a_cluster_of_this_machine_listens_by_tls_on_loopback_alone():
    psutil = pytest.importorskip("psutil")
    place = executor("local:1")
    try:
        assert place.client.scheduler.address.startswith("tls://127.0.0.1:")
        me = psutil.Process()
        processes = [me, *me.children(recursive=True)]
        found = [c.laddr for p in processes for c in p.net_connections("inet") if c.status == "LISTEN"]
        assert {address.ip for address in found} == {"127.0.0.1"}
        assert len(found) >= 3  # scheduler, nanny, worker
        stranger = ssl.create_default_context()
        stranger.check_hostname, stranger.verify_mode = False, ssl.CERT_NONE
        for address in found:
            assert refuses(address, stranger), address
    finally:
        place.close()


def refuses(address, context) -> bool:
    """A stranger without the key gets nothing: neither in plain words nor by TLS."""
    with socket.create_connection(tuple(address), timeout=20) as plain:
        plain.sendall(b"GET / HTTP/1.0\r\n\r\n")
        if b"200 OK" in received(plain):
            return False
    with socket.create_connection(tuple(address), timeout=20) as raw:
        try:
            with context.wrap_socket(raw) as secure:
                return received(secure) == b""
        except (ssl.SSLError, ConnectionError):
            return True


def received(connection) -> bytes:
    try:
        return connection.recv(1000)
    except (ConnectionError, ssl.SSLError):
        return b""


def test_a_scheduler_elsewhere_by_tls(remote, tmp_path):
    import dask

    ours, others = (certificate(tmp_path, name) for name in ("ours", "others"))
    address, _ = remote("tls", **{name.rpartition(".")[2]: file for name, file in ours.items()})
    with dask.config.set(ours):
        place = executor(address)
    try:
        assert both_work(place)
        assert place.submit(sleeps_or_answers, 5, limit=60).result(60) == 5
    finally:
        place.close()
    with dask.config.set(others), pytest.raises(ExecutorError, match="no Dask scheduler"):
        executor(address)
    with pytest.raises(ExecutorError, match="there is no Dask scheduler"):
        executor(address)


def certificate(folder, name) -> dict:
    """What Dask's configuration says of a new key."""
    from distributed.security import Security

    made = Security.temporary()
    for part, text in (("cert", made.tls_client_cert), ("key", made.tls_client_key)):
        (folder / f"{name}.{part}").write_text(text)
    cert, key = (str(folder / f"{name}.{part}") for part in ("cert", "key"))
    names = ("ca-file", "client.cert", "client.key")
    return dict(zip((f"distributed.comm.tls.{name}" for name in names), (cert, cert, key), strict=True))
