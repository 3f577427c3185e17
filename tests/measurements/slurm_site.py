"""Slurm on one machine, for measurements and tests: a controller and nodes that are daemons beside each other, with ports and files of their own."""
import getpass
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")
PLACES = os.environ["PATH"] + ":/usr/sbin:/sbin"  # where Debian has daemons
CONFIGURATION = """ClusterName=site
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
SlurmdTimeout=10
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=1 State=UNKNOWN
PartitionName=main Nodes=n[1-{nodes}] Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """The programs that are not here."""
    return [name for name in PROGRAMS if shutil.which(name, path=PLACES) is None]


def free_ports(count):
    """So many free ports in a row."""
    for first in range(20000 + os.getpid() % 20000, 60000, count):
        sockets = [socket.socket() for _ in range(count)]
        try:
            for port, one in enumerate(sockets, first):
                one.bind(("", port))
            return first
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
    raise OSError("no free ports")


def kill(process, number):
    """A signal for a process, which may have ended meanwhile."""
    try:
        os.kill(process, number)
    except ProcessLookupError:
        pass


class Site:
    """Nodes n1, n2, ... of one task each in partition `main`, while it is entered. Programs of Slurm see it by `environment`."""

    def __init__(self, folder, nodes=4):
        self.folder, self.nodes, self.daemons = pathlib.Path(folder).resolve(), nodes, {}
        self.environment = {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def __enter__(self):
        for name in ("state", *(f"spool.n{i + 1}" for i in range(self.nodes))):
            (self.folder / name).mkdir(parents=True)
        self.folder.chmod(0o755)
        first = free_ports(self.nodes + 1)
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], folder=self.folder, user=getpass.getuser(), nodes=self.nodes,
            controller=first, first=first + 1, last=first + self.nodes))
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        try:
            self.begin("munged", "--foreground", "--force", *(f"--{what}={self.folder / name}" for what, name in {
                "key-file": "munge.key", "socket": "munge.socket", "pid-file": "munge.pid", "log-file": "munge.log", "seed-file": "munge.seed"}.items()))
            self.wait_for(lambda: (self.folder / "munge.socket").exists(), "munged")
            self.begin("slurmctld", "-D")
            for node in self.names():
                self.start(node)
            self.wait_for(lambda: self.told("sinfo", "--noheader", "--states=idle", "--format=%D").strip() == str(self.nodes), "nodes")
        except Exception:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in reversed(list(self.daemons)):
            self.end(name)

    def names(self):
        return [f"n{i + 1}" for i in range(self.nodes)]

    def begin(self, program, *words, name=None):
        with open(self.folder / f"{name or program}.out", "ab") as out:
            self.daemons[name or program] = subprocess.Popen([shutil.which(program, path=PLACES), *words], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                                             env={**os.environ, **self.environment}, start_new_session=True)

    def end(self, name, number=signal.SIGTERM):
        """Ends a daemon; a node keeps the processes of its jobs unless they are ended too."""
        daemon = self.daemons.pop(name)
        daemon.send_signal(number)
        try:
            daemon.wait(5)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()

    def start(self, node):
        self.begin("slurmd", "-D", "-N", node, name=node)

    def break_down(self, node):
        """The machine of a node fails, with all that runs there, and comes back at once."""
        for member in self.members(node):
            kill(member, signal.SIGKILL)
        self.end(node, signal.SIGKILL)
        self.start(node)

    def jobs(self):
        """The tasks that wait or run, as "JOB_TASK"."""
        return [line.strip() for line in self.told("squeue", "--noheader", "--array", "--format=%i").splitlines()]

    def members(self, node=None):
        """The processes that evaluate on this site, or on one node of it."""
        out = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
                variables = dict(line.partition(b"=")[::2] for line in (folder / "environ").read_bytes().split(b"\0"))
            except OSError:
                continue
            ours = variables.get(b"SLURM_CONF", b"").decode() == self.environment["SLURM_CONF"]
            if words[1:3] == [b"worker", b"member"] and ours and node in (None, variables.get(b"SLURMD_NODENAME", b"").decode()):
                out.append(int(folder.name))
        return out

    def told(self, *command):
        return subprocess.run(command, env={**os.environ, **self.environment}, capture_output=True, text=True, check=False).stdout

    def wait_for(self, holds, what, seconds=60):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise TimeoutError(f"{what} not there after {seconds} s; logs in {self.folder}")
            time.sleep(0.05)
