"""`kafka.vendor.six` and its `moves`, which programs of old generations import."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kafka.vendor import six

pytestmark = pytest.mark.once


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "from kafka.vendor import six; assert six.PY3 and isinstance('', six.string_types)",
        "from kafka.vendor.six.moves import range, zip, map, queue, configparser; range(3)",
        "from kafka.vendor.six.moves import urllib; urllib.parse.quote('a')",
        "from kafka.vendor.six.moves.urllib.parse import urlparse, quote; quote('a')",
        "import kafka.vendor.six.moves.urllib.request as request; request.Request",
        "from kafka.vendor.six.moves.queue import Queue, Empty",
        "import urllib.error as a; import kafka.vendor.six.moves.urllib.error as b; assert a.URLError is b.URLError",
        "from kafka.vendor.six.moves import cPickle, http_client, reload_module, shlex_quote; cPickle.dumps(1)",
        "import kafka.vendor.six.moves; kafka.vendor.six.moves.xrange(1)",
        "from kafka.vendor.six import iteritems, binary_type, text_type, Iterator",
    ],
)
def test_old_import_forms_work(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_iteration_over_dicts() -> None:
    numbers = {"a": 1}
    assert list(six.iterkeys(numbers)) == list(six.viewkeys(numbers)) == ["a"]
    assert list(six.itervalues(numbers)) == list(six.viewvalues(numbers)) == [1]
    assert list(six.iteritems(numbers)) == list(six.viewitems(numbers)) == [("a", 1)]


def test_text_and_bytes() -> None:
    assert (six.b("\xff"), six.u("x"), six.int2byte(5), six.byte2int(b"\x05")) == (b"\xff", "x", b"\x05", 5)
    assert six.ensure_binary("ä") == six.ensure_binary(b"\xc3\xa4")
    assert six.ensure_text(b"\xc3\xa4") == six.ensure_str("ä")


def test_errors_are_reraised() -> None:
    cause = ValueError("x")
    with pytest.raises(KeyError) as caught:
        six.raise_from(KeyError("y"), cause)
    assert caught.value.__cause__ is cause
    with pytest.raises(ValueError, match="x"):
        six.reraise(ValueError, cause, caught.tb)


def test_metaclasses() -> None:
    class Meta(type):
        pass

    @six.add_metaclass(Meta)
    class Decorated:
        __slots__ = ("field",)

    class Derived(six.with_metaclass(Meta, object)):  # type: ignore[misc]
        pass

    assert type(Decorated) is type(Derived) is Meta
    assert not hasattr(Decorated(), "__dict__")
