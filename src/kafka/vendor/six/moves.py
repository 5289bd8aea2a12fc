"""The names of `six.moves`, where Python 3 has them."""

import configparser as configparser
import copyreg as copyreg
import queue as queue
import socketserver as socketserver
import urllib as urllib
import urllib.error
import urllib.parse
import urllib.request  # noqa: F401
from builtins import filter as filter  # noqa: A004
from builtins import input as input  # noqa: A004
from builtins import map as map  # noqa: A004
from builtins import range as range  # noqa: A004
from builtins import zip as zip  # noqa: A004
from collections import UserDict as UserDict
from collections import UserList as UserList
from collections import UserString as UserString
from functools import reduce as reduce
from io import BytesIO as BytesIO
from io import StringIO as StringIO
from itertools import filterfalse as filterfalse
from itertools import zip_longest as zip_longest
from os import getcwd as getcwd
from sys import intern as intern

xrange = range
cStringIO = StringIO  # noqa: N816
