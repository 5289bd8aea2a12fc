"""Failures to connect to a broker: their texts, attributes and durations, in virtual time."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from typing import Any

import pytest

from kafka.config import parse_admin
from kafka.net import open_stream as module
from kafka.net.frame_stream import Stream
from kafka.net.open_stream import DialError, HungUpOn, describe_failure, open_stream
from unit.virtual_loop import simulate

IPV4 = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
IPV6 = (socket.AF_INET6, socket.SOCK_STREAM, 6, "")
OPTIONS = parse_admin({"socket_connection_setup_timeout_ms": 10_000}).connection


def tls_error(reason: str) -> ssl.SSLError:
    error = ssl.SSLError(1, "said by the library")
    error.reason = reason
    return error


def not_trusted(message: str = "self-signed certificate", code: int = 18) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "verify failed")
    error.verify_message, error.verify_code = message, code
    return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            not_trusted(),
            (
                "its certificate is not trusted: self-signed certificate; set the trusted authorities with "
                "'ssl_cafile' or 'ssl_truststore_location'"
            ),
        ),
        (
            not_trusted("Hostname mismatch", 62),
            (
                "its certificate is not trusted: Hostname mismatch; connect with a name in the certificate, "
                "or disable the check with ssl_check_hostname=False"
            ),
        ),
        (
            not_trusted("certificate has expired", 10),
            (
                "its certificate is not trusted: certificate has expired; the broker needs a new certificate, or "
                "this machine's clock is wrong"
            ),
        ),
        (not_trusted("certificate revoked", 23), "its certificate is not trusted: certificate revoked"),
        (
            tls_error("TLSV13_ALERT_CERTIFICATE_REQUIRED"),
            (
                "it does not accept this client's certificate, or requires one (TLSV13_ALERT_CERTIFICATE_REQUIRED); "
                "set 'ssl_certfile' or 'ssl_keystore_location' to a valid certificate from an authority that the "
                "broker trusts"
            ),
        ),
        (
            tls_error("SSLV3_ALERT_HANDSHAKE_FAILURE"),
            (
                "the TLS handshake failed: SSLV3_ALERT_HANDSHAKE_FAILURE; it requires a client certificate "
                "(set 'ssl_certfile' or 'ssl_keystore_location'), or has no cipher in common with this client "
                "('ssl_ciphers')"
            ),
        ),
        (
            tls_error("TLSV1_ALERT_PROTOCOL_VERSION"),
            (
                "the TLS handshake failed: TLSV1_ALERT_PROTOCOL_VERSION; it has no TLS version in common with this "
                "client ('ssl_enabled_protocols')"
            ),
        ),
        (
            tls_error("WRONG_VERSION_NUMBER"),
            "it does not speak TLS on this port (WRONG_VERSION_NUMBER); is security_protocol right?",
        ),
        (tls_error("NO_SHARED_CIPHER"), "the TLS handshake failed: NO_SHARED_CIPHER"),
        (TimeoutError(), "no answer in time"),
        (TimeoutError(errno.ETIMEDOUT, "x"), "connection timed out (ETIMEDOUT)"),
        (ConnectionResetError(), "it reset the connection"),
        (BrokenPipeError(errno.EPIPE, "x"), "it reset the connection"),
        (ConnectionAbortedError(), "it reset the connection"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "x"), "connection refused (ECONNREFUSED)"),
        (OSError("several reasons"), "several reasons"),
        (OSError(99_999, "no such number"), "[Errno 99999] no such number"),
        (ValueError(), "ValueError"),
    ],
)
def test_failures_are_described_in_words(error: Exception, words: str) -> None:
    assert describe_failure(error) == words


def test_an_error_contains_each_address_once() -> None:
    one = DialError.of("a", 1, [("a:1", "refused")])
    assert str(one).endswith("cannot connect to a:1: refused")
    assert (one.host, one.port, one.attempts) == ("a", 1, (("a:1", "refused"),))
    assert (one.permanent, one.refused) == (False, False)
    other = DialError.of("a", 1, [("10.0.0.1:1", "refused"), ("10.0.0.2:1", "gone")])
    assert str(other).endswith("cannot connect to a:1: 10.0.0.1:1: refused; 10.0.0.2:1: gone")
    assert str(DialError.of("a", 1, [], "no such name")).endswith("cannot connect to a:1: no such name")


class FakeStream(Stream):
    """Records that it was aborted."""

    def __init__(self) -> None:
        super().__init__(lambda *_: True, lambda *_: None, 1_000)
        self.aborted = False

    def abort(self, why: Exception | None = None) -> None:
        self.aborted = True


class Network:
    """The results of a name look-up and of each address: (seconds, error or None for a connection)."""

    def __init__(self, *answers: tuple[float, Exception | None], lookup: tuple[float, Any] | None = None) -> None:
        self.answers = list(answers)
        found = [(*IPV4, (f"10.0.0.{number}", 9092)) for number, _ in enumerate(answers)]
        self.lookup = lookup if lookup is not None else (0.0, found)
        self.dialled: list[tuple[float, str]] = []
        self.streams: list[FakeStream] = []
        self.options: list[dict[str, Any]] = []

    def install(self, loop: Any) -> None:
        self._started = loop.time()
        loop.getaddrinfo, loop.create_connection = self._getaddrinfo, self._create_connection

    @property
    def now(self) -> float:
        return asyncio.get_running_loop().time() - self._started

    async def _getaddrinfo(self, host: str, port: int, **options: Any) -> Any:
        seconds, answer = self.lookup
        await asyncio.sleep(seconds)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def _create_connection(self, factory: Any, host: str, port: int, **options: Any) -> Any:
        self.dialled.append((self.now, host))
        self.options.append(options)
        seconds, error = self.answers.pop(0)
        await asyncio.sleep(seconds)
        if error is not None:
            raise error
        self.streams.append(factory())
        return None, self.streams[-1]


def connect(network: Network, tls: Any = None) -> tuple[Stream | None, DialError | None, float]:
    """Connect; return the stream, or the error, and the duration."""

    async def main() -> tuple[Stream | None, DialError | None, float]:
        network.install(asyncio.get_running_loop())
        try:
            return await open_stream("b.test", 9092, OPTIONS, tls, FakeStream), None, network.now
        except DialError as error:
            return None, error, network.now

    return simulate(main)


def refused() -> ConnectionRefusedError:
    return ConnectionRefusedError(errno.ECONNREFUSED, "refused")


@pytest.mark.parametrize(("code", "expected"), [(socket.EAI_NONAME, True), (socket.EAI_AGAIN, False)])
def test_an_unknown_name_counts_as_refused_but_a_failed_lookup_does_not(code: int, expected: bool) -> None:
    _, error, _ = connect(Network(lookup=(0.0, socket.gaierror(code, "why"))))
    assert error is not None
    assert "the name 'b.test' cannot be resolved: why" in str(error)
    assert error.refused is expected


def test_a_slow_lookup_times_out() -> None:
    _, error, took = connect(Network((0.0, None), lookup=(60.0, [])))
    assert "looking up the name 'b.test' took longer than 10 s" in str(error)
    assert took == 10.0


def test_the_broker_refuses_if_all_addresses_refuse() -> None:
    _, error, took = connect(Network((0.0, refused()), (0.0, refused())))
    assert error is not None
    assert error.refused
    assert not error.permanent
    assert [address for address, _ in error.attempts] == ["10.0.0.0:9092", "10.0.0.1:9092"]
    assert took < 0.001


def test_the_broker_does_not_refuse_if_one_address_fails_differently() -> None:
    _, error, _ = connect(Network((0.0, refused()), (0.0, ConnectionResetError())))
    assert error is not None
    assert not error.refused


def test_each_address_has_a_head_start_and_the_first_to_answer_wins() -> None:
    network = Network((60.0, None), (1.0, None), (60.0, None))
    stream, _, took = connect(network)
    assert stream is network.streams[0]
    starts = [at for at, _ in network.dialled]
    step = module._STAGGER_S
    assert starts == pytest.approx([0.0, step, 2 * step])
    assert took == pytest.approx(step + 1.0)


def test_the_timeout_includes_the_lookup_and_ends_silent_attempts() -> None:
    network = Network((60.0, None), (60.0, None), lookup=(4.0, [(*IPV4, ("10.0.0.1", 9)), (*IPV4, ("10.0.0.2", 9))]))
    stream, error, took = connect(network)
    assert stream is None
    assert took == pytest.approx(10.0)
    assert str(error).count("no answer in 6 s") == 2


def test_duplicate_addresses_and_those_of_other_families_are_skipped() -> None:
    found = [(socket.AF_UNIX, 1, 0, "", "path"), *[(*IPV6, ("::1", 9, 0, 0))] * 2, (*IPV4, ("10.0.0.1", 9))]
    network = Network((0.0, refused()), (0.0, refused()), lookup=(0.0, found))
    _, error, _ = connect(network)
    assert error is not None
    assert [address for address, _ in error.attempts] == ["[::1]:9", "10.0.0.1:9"]


def test_with_tls_a_hang_up_is_distinguished_from_a_refusal() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    network = Network((0.0, ConnectionResetError()), (0.0, refused()))
    _, error, _ = connect(network, context)
    assert error is not None
    assert [("does it speak TLS" in why, "ECONNREFUSED" in why) for _, why in error.attempts] == [
        (True, False),
        (False, True),
    ]
    assert {options["server_hostname"] for options in network.options} == {"b.test"}
    _, error, _ = connect(Network((0.0, tls_error("NO_SHARED_CIPHER"))), context)
    assert error is not None
    assert error.permanent


@pytest.mark.parametrize("said_first", [True, False])
def test_a_tls_error_takes_precedence_over_errors_of_other_addresses(said_first: bool) -> None:
    """An address may be unreachable from here; retrying does not change the TLS error of the other one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    outcomes = [(0.0, tls_error("NO_SHARED_CIPHER")), (0.0, OSError(errno.ENETUNREACH, "no way"))]
    _, error, _ = connect(Network(*outcomes[:: 1 if said_first else -1]), context)
    assert error is not None
    assert error.permanent
    hung_up = [(0.0, ConnectionResetError()), (0.0, refused())]
    _, error, _ = connect(Network(*hung_up[:: 1 if said_first else -1]), context)
    assert error is not None
    assert error.hung_up_on is HungUpOn.TLS


class Sock:
    """Records the options that are set."""

    def __init__(self) -> None:
        self.options: list[tuple[int, int, int]] = []

    def setsockopt(self, level: int, name: int, value: int) -> None:
        self.options.append((level, name, value))


async def test_socket_options_are_set_and_buffer_sizes_only_if_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sock = Sock()
    monkeypatch.setattr(FakeStream, "extra", lambda self, name: sock if name == "socket" else None)
    base, alive = socket.SOL_SOCKET, (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def options_set(**configs: Any) -> list[tuple[int, int, int]]:
        sock.options.clear()
        parsed = parse_admin({"socket_options": [(6, 1, 1)], **configs}).connection
        module._set_socket_options(FakeStream(), parsed)
        return list(sock.options)

    assert options_set(receive_buffer_bytes=None, send_buffer_bytes=None) == [alive, (6, 1, 1)]
    given = [(base, socket.SO_RCVBUF, 5_000), (base, socket.SO_SNDBUF, 6_000)]
    assert options_set(receive_buffer_bytes=5_000, send_buffer_bytes=6_000) == [alive, *given, (6, 1, 1)]
