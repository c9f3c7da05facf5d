"""A place for services: a campaign around a Python program that listens, and what stands beside it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import socket
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.artifact.packed_campaign import named_files
from analysis.artifact.redacted import campaign_values
from analysis.errors import UsageError
from harness.bisect.recipe import recipe_of
from harness.campaign.model import Command, port_mark
from harness.campaign.resolve import load_campaign
from harness.commands.rerun_preview import commands_of, stays_inside
from harness.errors import LaunchError
from harness.fleet.submission import _least_cpus
from harness.host.cgroups import RunGroups
from harness.launch.commands import ServiceFailedError, SideCommands, resolve_all
from harness.launch.matching import Interrupted, Interrupts, Matching
from harness.launch.running import RunningServices

SERVER = """\
import os, signal, socket, sys, time
port, how = int(sys.argv[1]), sys.argv[2:]
if "deaf" in how:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "child" in how:  # in a session of its own, where no signal to a group reaches it
    os.posix_spawnp("sleep", ["sleep", "1000"], os.environ, setsid=True)
if "quiet" in how:
    time.sleep(1000)
if "leaves" in how:
    sys.exit()
if "ends" in how:
    print("no such file: data", flush=True)
    sys.exit(3)
one = socket.socket()
one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
one.bind(("127.0.0.1", port))
one.listen()
print("up at", os.environ.get("WHERE"), flush=True)
while True:
    there, _ = one.accept()
    word = there.recv(100)
    if word == b"die":
        print("told to die", flush=True)
        os._exit(7)
    there.sendall(b"%d %s" % (os.getpid(), b" ".join(map(os.fsencode, how))))
    there.close()
"""


class Place:
    """Services of a campaign whose text begins with its variants a and b."""

    def __init__(self, folder: Path, interrupts: Interrupts) -> None:
        self.folder, self.interrupts = folder, interrupts
        self.heard: list[str] = []
        self.commands = SideCommands(None, interrupts)
        (folder / "server.py").write_text(SERVER)
        (folder / "outputs").mkdir()

    def services(self, text: str, groups: RunGroups | None = None) -> RunningServices:
        path = self.folder / "c.yaml"
        path.write_text(
            "name: s\nvariants: {a: {how: a}, b: {how: b}}\n"
            "benchmarks: {x: {command: [client, '{how}']}}\n"
            f"services:\n  {text}\n".replace("[PYTHON", f"[{sys.executable}, -I, -S").replace(
                "PYTHON", sys.executable
            )
        )
        return RunningServices(
            load_campaign(path),
            environment=dict(os.environ),
            cpus={},
            pinned=False,
            commands=self.commands,
            interrupts=self.interrupts,
            groups=groups,
        )

    def standing(self, services: RunningServices):
        services.choose_ports()
        return services.standing(1, self.folder / "outputs", self.heard.append)

    def logs(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "outputs").iterdir())


@pytest.fixture
def place(tmp_path):
    with Interrupts() as interrupts:
        made = Place(tmp_path, interrupts)
        yield made
        made.commands.close()


# --- Services of a session and of runs: real processes that listen on loopback
#
# Authority: the kernel's own tables of processes and sockets, and what a client hears.


ONE = "s: {command: [PYTHON, server.py, '{s.port}'%s]%s}"


def said(port: int, word: bytes = b"hi") -> str:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as there:
        there.sendall(word)
        return there.recv(100).decode()


def alive(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
        return text.rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_each_variant_has_its_own_and_all_stand_during_a_session(place):
    services = place.services(ONE % (", '{variant}'", ", env: {WHERE: '{variant}'}"))
    with place.standing(services):
        ports = dict(services.ports)
        assert sorted(ports) == ["s/a", "s/b"]
        assert said(ports["s/a"]).endswith(" a")
        assert said(ports["s/b"]).endswith(" b")
        found = services.processes()
        assert sorted(found) == ["s/a", "s/b"]
        every = [pid for one in found.values() for pid in one]
        assert len(set(every)) == 2
        assert all(map(alive, every))
        assert services.serving("a") == ("s/a",)
        services.before_run("a")
        assert services.died("a") is None
        services.after_run("a")
        assert services.processes() == found  # runs leave them alone
    assert not any(map(alive, every))
    assert place.logs() == ["service-s-a-session1-1.log", "service-s-b-session1-1.log"]
    assert "up at a" in (place.folder / "outputs/service-s-a-session1-1.log").read_text()
    assert place.heard == []
    with pytest.raises(OSError, match="refused"):
        said(ports["s/a"])


def test_one_of_runs_stands_around_each_run_alone(place):
    services = place.services(ONE % (", '{variant}'", ", each: run"))
    with place.standing(services):
        assert services.processes() == {}
        first = []
        for _ in range(2):
            services.before_run("b")
            assert list(services.processes()) == ["s/b"]
            first.append(said(services.ports["s/b"]).split()[0])
            services.after_run("b")
            assert services.processes() == {}
    assert place.logs() == []  # nothing happened that one would look up


def test_a_foreign_listener_is_refused_and_stays_alive(place):
    with socket.socket() as foreign:
        foreign.bind(("127.0.0.1", 0))
        foreign.listen()
        port = foreign.getsockname()[1]
        services = place.services(ONE % ("", f", ready: {{port: {port}}}"))
        with (
            pytest.raises(ServiceFailedError, match="somebody else listens") as caught,
            place.standing(services),
        ):
            pass
        assert f"process {os.getpid()}" in caught.value.what
        with socket.create_connection(("127.0.0.1", port)) as there, foreign.accept()[0] as here:
            here.sendall(b"mine")
            assert there.recv(100) == b"mine"
    assert services.processes() == {}


def test_who_listens_in_its_place_is_no_sign_that_it_is_ready(place):
    services = place.services(ONE % (", quiet", ", ready: {timeout: 20s}"))
    with socket.socket() as foreign:
        services.choose_ports()
        foreign.bind(("127.0.0.1", services.ports["s"]))
        at_once = threading.Timer(0.3, foreign.listen)  # after the look that comes before the start
        at_once.start()
        # a port that is bound is not free: keep the one that was chosen
        services._move = lambda one: None  # type: ignore[method-assign]
        with (
            pytest.raises(ServiceFailedError, match="somebody else listens on port"),
            services.standing(1, place.folder / "outputs", place.heard.append),
        ):
            pass
        at_once.join()


def test_a_service_that_hides_its_sockets_is_not_called_somebody_else(place, monkeypatch):
    """As of a program with file capabilities, which an ordinary user may not look into (proc_pid_fd(5))."""
    listed = os.listdir

    def refused(folder):
        if str(folder).endswith("/fd"):
            raise PermissionError(13, "Permission denied", str(folder))
        return listed(folder)

    services = place.services(ONE % ("", ""))
    monkeypatch.setattr("harness.launch.running.os.listdir", refused)
    with (
        pytest.raises(ServiceFailedError, match="cannot be seen: its process") as caught,
        place.standing(services),
    ):
        pass
    assert "write ready: {output: REGEX}" in caught.value.fix
    assert services.processes() == {}


def test_a_port_that_was_taken_meanwhile_is_given_up_for_another(place):
    services = place.services(ONE % ("", ""))
    services.choose_ports()
    before = services.ports["s"]
    with socket.socket() as other:
        other.bind(("127.0.0.1", before))
        with services.standing(1, place.folder / "outputs", place.heard.append):
            assert services.ports["s"] != before
            assert said(services.ports["s"])
    assert len(place.heard) == 1
    assert f"port {before} of the service 's' was not free any more" in place.heard[0]


def test_one_that_ends_with_address_in_use_is_tried_again_elsewhere(place):
    text = "s: {command: {shell: 'mkdir first && {{ echo bind: Address already in use; exit 1; }}; exec PYTHON server.py {s.port}'}}"
    services = place.services(text)
    services.choose_ports()
    before = services.ports["s"]
    with services.standing(1, place.folder / "outputs", place.heard.append):
        assert services.ports["s"] != before
        assert said(services.ports["s"])
    assert "was not free any more" in place.heard[0]


@pytest.mark.parametrize(
    ("how", "keys", "what"),
    [
        (", ends", "", "ended with exit code 3 before it was ready\n    no such file: data"),
        (", leaves", "", "with exit code 0 before it was ready; a service stays"),
        (", quiet", ", ready: {timeout: 300ms}", "was not ready after 0.3 s: no process of it listens on port"),
        (", quiet", ", ready: {output: never, timeout: 300ms}", "no line of its output matches never"),
        (", quiet", ", ready: {command: 'false', timeout: 300ms}", "its 'ready' command did not end"),
    ],
)  # fmt: skip
def test_one_that_is_never_ready_is_told_with_its_last_lines(place, how, keys, what):
    services = place.services(ONE % (how, keys))
    with pytest.raises(ServiceFailedError) as caught, place.standing(services):
        pass
    assert what in caught.value.what
    assert "c.yaml:5:" in caught.value.where
    if "listens on port" in what:  # it may listen elsewhere
        assert "write ready: {output: REGEX}" in caught.value.fix
    assert services.processes() == {}


@pytest.mark.parametrize(
    ("service", "said"),
    [
        ("{shell: 'sleep 100 & true'}, ready: {output: x}", "stays in the foreground"),
        ("[no-such-server, '{s.port}']", "command 'no-such-server' not found"),
    ],
)
def test_one_that_goes_into_the_background_or_is_not_there_is_told(place, service, said):
    services = place.services(f"s: {{command: {service}}}")
    with pytest.raises(ServiceFailedError, match=said), place.standing(services):
        pass


@pytest.mark.parametrize(
    "ready",
    [
        "{output: '^up at here$'}",
        "{command: [PYTHON, -c, 'import socket, sys; socket.create_connection((\"127.0.0.1\", int(sys.argv[1])))', '{s.port}']}",
    ],
)
def test_a_line_or_a_command_may_tell_that_it_is_ready(place, ready):
    services = place.services(ONE % ("", f", env: {{WHERE: here}}, ready: {ready}"))
    with place.standing(services):
        assert said(services.ports["s"])
    assert place.logs() == ["service-s-session1-1.log"]


def test_one_that_dies_is_told_with_its_last_lines_and_starts_again_before_the_next_run(place):
    services = place.services(ONE % (", '{variant}'", ""))
    with place.standing(services):
        services.before_run("a")
        (before,) = services.processes()["s/a"]
        with contextlib.suppress(OSError):
            said(services.ports["s/a"], b"die")
        while alive(before):
            time.sleep(0.001)
        found = services.died("a")  # its launcher may not have told it yet
        assert found == "the service 's/a' ended with exit code 7\n    up at None\n    told to die"
        assert services.died("b") is None
        services.after_run("a")
        services.before_run("b")
        assert place.heard == []
        services.before_run("a")
        assert services.died("a") is None
        assert said(services.ports["s/a"])
        assert services.processes()["s/a"] != (before,)
    assert place.heard == [
        "the service 's/a' was started again: the service 's/a' ended with exit code 7"
    ]


def test_who_cannot_be_started_three_times_in_a_row_ends_the_trial(place):
    services = place.services(ONE % (", ends", ", each: run"))
    with place.standing(services):
        for _ in range(2):
            with pytest.raises(ServiceFailedError):
                services.before_run("a")
        with pytest.raises(LaunchError, match="3 times in a row") as caught:
            services.before_run("a")
        assert not isinstance(caught.value, ServiceFailedError)
    assert len(place.logs()) == 3


def test_the_log_of_one_of_runs_that_was_never_ready_is_there_for_who_is_told_to_read_it(place):
    services = place.services(ONE % (", ends", ", each: run"))
    standing = place.standing(services)
    with standing, pytest.raises(ServiceFailedError) as caught, services.around("a"):
        pass
    (log,) = place.logs()
    assert caught.value.fix == f"the whole output is in {place.folder / 'outputs' / log}"


def test_one_of_runs_that_never_ends_by_itself_is_told_once_a_session(place):
    services = place.services(ONE % (", deaf", ", each: run, grace: 50ms"))
    for _ in range(2):
        with place.standing(services):
            for _ in range(2):
                with services.around("a"):
                    pass
    assert len(place.heard) == 2
    assert all("was killed" in one for one in place.heard)


def test_what_does_not_end_is_killed_with_all_that_it_started(place):
    services = place.services(ONE % (", deaf, child", ", grace: 200ms"))
    with place.standing(services):
        found = services.processes()["s"]
        assert len(found) == 2
    assert not any(map(alive, found))
    assert place.heard == [
        "the service 's': it did not end within 0.2 s of SIGTERM, and was killed"
    ]


def test_each_has_a_cgroup_and_the_death_of_one_launcher_is_not_the_others(place, own_group):
    def group_of(pid: int) -> str:
        lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
        return next(line.rpartition("/")[2] for line in lines if line.startswith("0::"))

    def launcher_of(pid: int) -> int:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])

    with closing(RunGroups(own_group)) as groups:
        services = place.services(ONE % (", '{variant}', child", ""), groups)
        with place.standing(services):
            found = services.processes()
            names = {label: {group_of(pid) for pid in pids} for label, pids in found.items()}
            assert {len(one) for one in names.values()} == {1}
            assert names["s/a"] != names["s/b"]
            os.kill(launcher_of(found["s/a"][0]), signal.SIGKILL)
            assert "killed together with its launcher" in services.died("a", patience_s=20)
            assert not any(map(alive, found["s/a"]))
            assert services.died("b") is None
            assert said(services.ports["s/b"])
        assert list(groups.path.glob("run-*")) == []


def test_those_of_all_variants_are_asked_to_end_at_the_same_time(place):
    (place.folder / "waits.py").write_text(
        "import os, signal, sys, time\n"
        "def end(*_):\n"
        "    open(f'asked-{sys.argv[1]}', 'w').close()\n"
        "    while not os.path.exists('asked-a') or not os.path.exists('asked-b'): time.sleep(.01)\n"
        "    os._exit(0)\n"
        "signal.signal(signal.SIGTERM, end)\n"
        "print('up', flush=True)\n"
        "while True: signal.pause()\n"
    )
    services = place.services(
        "s: {command: [PYTHON, waits.py, '{variant}'], ready: {output: up}, grace: 60s}"
    )
    with place.standing(services):
        found = services.processes()
        assert sorted(found) == ["s/a", "s/b"]
    assert place.heard == []  # none had to be killed
    assert not any(alive(pid) for pids in found.values() for pid in pids)


def test_a_signal_to_fairtrial_ends_the_wait_and_the_service(place):
    services = place.services(ONE % (", quiet", ""))
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGTERM)).start()
    with pytest.raises(Interrupted), place.standing(services):
        pass
    assert services.processes() == {}
    place.interrupts.acknowledge()


def test_a_sign_is_a_whole_line_and_each_line_is_looked_at_once(place, monkeypatch):
    (place.folder / "slow.py").write_text(
        "import time\nprint('no\\nno\\nu', end='', flush=True)\ntime.sleep(.2)\n"
        "print('p', flush=True)\ntime.sleep(1000)"
    )
    looked_at = []

    def any_line(_self, _regex, lines):
        looked_at.extend(lines)
        return "up" in lines

    services = place.services("s: {command: [PYTHON, slow.py], ready: {output: up}}")
    monkeypatch.setattr("harness.launch.running.Matching.any_line", any_line)
    with place.standing(services):
        pass
    assert looked_at == ["no", "no", "up"]


def test_a_log_that_floods_ends_the_service(place):
    (place.folder / "flood.py").write_text(
        "import os, sys, time\nsys.argv[1:] and print('up', flush=True)\n"
        "while sys.argv[1:] and not os.path.exists('go'): time.sleep(.01)\n"
        "for _ in range(20): print('x' * 100000, flush=True)\ntime.sleep(1000)"
    )
    services = place.services(
        "s: {command: [PYTHON, flood.py, late], ready: {output: up}}\nisolation: {output_limit: 1MB}"
    )
    with place.standing(services):
        (place.folder / "go").touch()
        while (found := services.died("a")) is None:
            time.sleep(0.01)
    assert found.startswith(
        "the service 's' wrote more than isolation.output_limit and was ended\n"
    )
    services = place.services(
        "s: {command: [PYTHON, flood.py], ready: {output: up}}\nisolation: {output_limit: 1MB}"
    )
    with (
        pytest.raises(ServiceFailedError, match="output_limit before it was ready"),
        place.standing(services),
    ):
        pass


def test_a_pattern_without_an_end_is_no_reason_to_wait(place, monkeypatch):
    """Authority: `^(a+)+$` on 40 letters and a digit takes 2^40 steps, and passed the timeout unseen."""
    services = place.services(
        "s: {command: [sh, -c, 'echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1; sleep 1000'], "
        "ready: {output: '^(a+)+$', timeout: 1h}}"
    )
    monkeypatch.setattr("harness.launch.running.Matching", lambda heard, _s: Matching(heard, 0.05))
    with (
        pytest.raises(ServiceFailedError, match="the pattern was too slow"),
        place.standing(services),
    ):
        pass


def test_what_lies_in_place_of_a_log_is_not_waited_for(place):
    """Authority: a FIFO there waits for a writer for ever."""
    services = place.services(ONE % ("", ""))
    with place.standing(services):
        process = next(iter(services._processes.values()))
        process.log.unlink()
        os.mkfifo(process.log)
        assert process.last_lines() == ""
        assert process.new_lines() == []


def test_the_port_of_a_run_is_filled_in_once_as_long_as_it_stays(place):
    services = place.services(ONE % ("", ""))
    services.choose_ports()
    (cell, _) = load_campaign(place.folder / "c.yaml").cells
    assert services.filled(cell) is cell
    cell = dataclasses.replace(cell, command=Command(argv=("c", port_mark("s")), mark="x"))
    filled = services.filled(cell)
    assert filled.command.argv == ("c", str(services.ports["s"]))
    assert services.filled(cell) is filled


def test_without_services_nothing_is_done(place):
    services = place.services(ONE % ("", ""))
    services.services = ()
    with place.standing(services):
        services.before_run("a")
        assert services.died("a") is None
        assert services.processes() == {}
        services.after_run("a")
    assert services.described() == {}


# --- Where services are told before anything is executed: previews, bundles, jobs; and what no service may join
#
# Authority: whoever executes somebody else's campaign is shown every command of it.


TEXT = """\
name: told
variants: {a: {how: x}, b: {how: y}}
benchmarks: {x: {command: [client, "{s.port}"]}}
services:
  s: {command: [./server, "{how}", "{s.port}"], cwd: %s, env: {KEY: hidden-word}, ready: {command: [./ask, "{s.port}"]}%s}
"""


@pytest.fixture
def campaign(tmp_path):
    def load(cwd="data", more=""):
        path = tmp_path / "c.yaml"
        path.write_text(TEXT % (cwd, more))
        return load_campaign(path)

    return load


def test_a_received_campaign_shows_the_commands_of_services(campaign):
    loaded = campaign()
    steps = commands_of(loaded, loaded.source.parent)
    told = [(one.kind, one.of, one.argv) for one in steps if "service" in one.kind]
    assert told[0] == ("service", ("s/a",), ("./server", "x", "{s.port}"))
    assert told[1] == ("is the service ready", ("s/a", "s/b"), ("./ask", "{s.port}"))
    assert len(told) == 3
    assert steps[0].cwd == "data"
    assert steps[0].variables == {"KEY": "hidden-word"}


def test_a_service_that_works_outside_of_the_folder_is_told(campaign):
    loaded = campaign(cwd="../elsewhere")
    assert any("the service s/a in" in one for one in stays_inside(loaded, loaded.source.parent))
    inside = campaign()
    assert list(stays_inside(inside, inside.source.parent)) == []


def test_a_bundle_packs_the_programs_of_services_and_hides_their_variables(campaign):
    loaded = campaign()
    named = {
        (one.path, one.cwd, one.role)
        for one in named_files(json.loads(json.dumps(loaded.to_dict())))
    }
    assert {("./server", "data", "program"), ("./ask", "data", "program")} <= named
    assert "hidden-word" in (campaign_values(loaded.text.decode())[0] or set())


@pytest.mark.parametrize(
    ("more", "least"), [("", 3), (", cpus: [6, 7]", 8), (", cpus: 1, share_cpus: on", 2)]
)
def test_a_job_asks_for_a_node_with_enough_cpus(campaign, more, least):
    assert _least_cpus(campaign(more=more)) == {"mincpus": least}


def test_without_services_a_job_asks_for_what_it_did(campaign):
    assert _least_cpus(SimpleNamespace(services=())) == {}


def test_a_bisection_refuses_them(campaign):
    with pytest.raises(UsageError, match="a bisection starts no services") as caught:
        recipe_of(campaign(), SimpleNamespace(root=None))
    assert caught.value.fix


def test_a_server_that_is_not_there_is_told_before_anything_is_made(tmp_path):
    path = tmp_path / "c.yaml"
    text = TEXT.replace("client", "env").replace("./server", "'{how}'") % ("data", "")
    path.write_text(text.replace("{how: x}", "{how: env}").replace("{how: y}", "{how: ./made}"))
    environment = {"PATH": os.environ["PATH"]}
    resolve_all(
        load_campaign(path), environment
    )  # a hook may make what lies in the campaign's folder
    path.write_text(text.replace("{how: y}", "{how: env}").replace("{how: x}", "{how: no-such}"))
    with pytest.raises(LaunchError) as caught:
        resolve_all(load_campaign(path), environment)
    assert "the service 's/a' cannot be started: command 'no-such' not found" in caught.value.what
    assert "c.yaml:5:" in caught.value.where
    assert resolve_all(load_campaign(path), environment, unbuilt={"a"})
