"""A Kerberos KDC (MIT krb5) in one folder, and the package gssapi, which is built where Kerberos is."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType

from harness.cache import ROOT, cache_folder, locked
from harness.debian import PackagesMissing, install
from harness.pins import PinsError, pinned_folder
from harness.ports import free_ports
from harness.process import Supervised

PINS = ROOT / "requirements" / "kerberos.txt"
REALM = "LAB.TEST"
_PACKAGES = ("krb5-kdc", "krb5-admin-server", "krb5-user", "libkrb5-dev")
_TOOLS = ("krb5kdc", "kdb5_util", "kadmin.local", "krb5-config")
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"

_CLIENT = """[libdefaults]
 default_realm = {realm}
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
[realms]
 {realm} = {{
  kdc = 127.0.0.1:{port}
 }}
"""
_SERVER = """[kdcdefaults]
 kdc_listen = 127.0.0.1:{port}
 kdc_tcp_listen = 127.0.0.1:{port}
[realms]
 {realm} = {{
  database_name = {folder}/principal
  key_stash_file = {folder}/stash
  acl_file = {folder}/kadm5.acl
 }}
[logging]
 kdc = STDERR
"""


class KerberosMissing(Exception):
    """Kerberos is not here, and cannot be installed."""


def require_kerberos() -> Path:
    """Install what is missing, as root by apt-get; gives the folder of the package gssapi.

    Raises `KerberosMissing`, which says what is missing and why.
    """
    with locked(cache_folder() / ".kerberos.lock"):
        if any(shutil.which(tool, path=_PATH) is None for tool in _TOOLS):
            try:
                install(_PACKAGES)
            except PackagesMissing as error:
                raise KerberosMissing(str(error)) from error
    try:
        return pinned_folder(PINS)
    except PinsError as error:
        raise KerberosMissing(f"the package gssapi cannot be built: {error}") from error


class Kdc:
    """A KDC, from `with` on. `keytab(name)` makes a principal; `environment` is for its clients."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (self.port,) = free_ports(1)
        self._process: Supervised | None = None

    @property
    def environment(self) -> dict[str, str]:
        """How Kerberos finds its settings, with a ticket cache of its own."""
        return {"KRB5_CONFIG": str(self.folder / "krb5.conf"), "KRB5CCNAME": f"FILE:{self.folder}/none.cc"}

    def keytab(self, principal: str) -> Path:
        """Make a principal with a random key; gives the keytab that has it."""
        path = self.folder / f"{principal.replace('/', '-')}.keytab"
        self._run("kadmin.local", "-r", REALM, "-q", f"addprinc -randkey {principal}")
        self._run("kadmin.local", "-r", REALM, "-q", f"ktadd -k {path} {principal}")
        return path

    def ticket_cache(self, principal: str, keytab: Path, life: str = "1h") -> str:
        """Log a principal in; gives the name of the ticket cache."""
        name = f"FILE:{self.folder}/{principal}-{life}.cc"
        self._run("kinit", "-k", "-t", str(keytab), "-l", life, "-c", name, principal)
        return name

    def holds(self, cache: str) -> bool:
        """Whether there is a ticket in the cache that has not expired."""
        return subprocess.run(["klist", "-s", "-c", cache], env=self._environment, check=False).returncode == 0

    def __enter__(self) -> Kdc:
        self.folder.mkdir(parents=True, exist_ok=True)
        values = {"realm": REALM, "port": self.port, "folder": self.folder}
        (self.folder / "krb5.conf").write_text(_CLIENT.format(**values))
        (self.folder / "kdc.conf").write_text(_SERVER.format(**values))
        self._run("kdb5_util", "create", "-s", "-r", REALM, "-P", "masterpw")
        settings = [f"{name}={self._environment[name]}" for name in ("KRB5_CONFIG", "KRB5_KDC_PROFILE", "PATH")]
        self._process = Supervised(["env", *settings, "krb5kdc", "-n"], self.folder / "kdc.log", self.folder)
        if not self._process.wait_for("commencing operation", 30):
            raise RuntimeError(f"the KDC does not start: {self._process.output()[-300:]}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.end()

    @property
    def _environment(self) -> dict[str, str]:
        profile = {"KRB5_KDC_PROFILE": str(self.folder / "kdc.conf")}
        return {**os.environ, **self.environment, **profile, "PATH": _PATH}

    def _run(self, *command: str) -> None:
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{command[0]} failed: {(done.stderr + done.stdout).strip()[-300:]}")
