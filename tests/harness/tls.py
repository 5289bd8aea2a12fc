"""Throw-away certificates for a broker's TLS listeners."""

from __future__ import annotations

import subprocess
from pathlib import Path

STORE_PASSWORD = "changeit"
CLIENT_NAME = "alice"


def make_certificates(folder: Path) -> None:
    """Make a CA, a server's and a client's certificate in `folder`, with openssl and keytool.

    Leaves `ca.pem`, `server.pem`, `server.key`, `client.pem`, `client.key` (CN=alice), and for the broker `server.p12`
    and `trust.p12`. The server's certificate is for localhost and 127.0.0.1.
    """
    folder.mkdir(parents=True)

    def run(*command: str) -> None:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command[:2])} failed: {done.stderr.strip()[-500:]}")

    ca = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-subj", "/CN=test-ca")
    run(*ca, "-keyout", "ca.key", "-out", "ca.pem")
    (folder / "names.cnf").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    for name, common_name in (("server", "localhost"), ("client", CLIENT_NAME)):
        request = ("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={common_name}")
        run(*request, "-keyout", f"{name}.key", "-out", f"{name}.csr")
        sign = ("openssl", "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial")
        run(*sign, "-days", "3650", "-extfile", "names.cnf", "-out", f"{name}.pem")
        bundle = ("openssl", "pkcs12", "-export", "-in", f"{name}.pem", "-inkey", f"{name}.key", "-certfile", "ca.pem")
        run(*bundle, "-passout", f"pass:{STORE_PASSWORD}", "-out", f"{name}.p12")
    trust = ("keytool", "-importcert", "-noprompt", "-alias", "ca", "-file", "ca.pem", "-storetype", "PKCS12")
    run(*trust, "-keystore", "trust.p12", "-storepass", STORE_PASSWORD)
