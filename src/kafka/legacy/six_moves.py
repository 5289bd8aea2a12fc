"""The names of `six.moves`, mapped to Python 3. Some are modules that programs also import from."""

import _thread as _thread
import builtins as builtins
import configparser as configparser
import copyreg as copyreg
import html.entities
import html.parser
import http.client
import http.cookiejar
import http.cookies
import http.server
import pickle
import queue as queue
import reprlib as reprlib
import socketserver as socketserver
import sys
import urllib as urllib
import urllib.error
import urllib.parse
import urllib.request
import urllib.response
import urllib.robotparser
from builtins import filter as filter  # noqa: A004
from builtins import input as input  # noqa: A004
from builtins import map as map  # noqa: A004
from builtins import range as range  # noqa: A004
from builtins import zip as zip  # noqa: A004
from collections import UserDict as UserDict
from collections import UserList as UserList
from collections import UserString as UserString
from functools import reduce as reduce
from importlib import reload as reload_module  # noqa: F401
from io import BytesIO as BytesIO
from io import StringIO as StringIO
from itertools import filterfalse as filterfalse
from itertools import zip_longest as zip_longest
from os import getcwd as getcwd
from os import getcwdb as getcwdb
from shlex import quote as shlex_quote  # noqa: F401
from subprocess import getoutput as getoutput
from sys import intern as intern
from types import ModuleType

xrange = range
cStringIO = StringIO  # noqa: N816
cPickle = pickle  # noqa: N816
html_entities, html_parser = html.entities, html.parser
http_client, http_cookiejar, http_cookies = http.client, http.cookiejar, http.cookies
BaseHTTPServer = CGIHTTPServer = SimpleHTTPServer = http.server
urllib_error, urllib_parse, urllib_robotparser = urllib.error, urllib.parse, urllib.robotparser


def register(package: str) -> None:
    """Make the modules importable below a package, as in `from kafka.vendor.six.moves.urllib.parse import quote`."""
    modules = {name: value for name, value in globals().items() if isinstance(value, ModuleType)}
    for part in ("error", "parse", "request", "response", "robotparser"):
        modules[f"urllib.{part}"] = getattr(urllib, part)
    sys.modules.update({f"{package}.{name}": module for name, module in modules.items()})


register("kafka.vendor.six.moves")
