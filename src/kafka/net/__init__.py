"""A connection to one broker, and the thread whose event loop the synchronous clients share.

Layer 3. This package imports only `kafka.wire` and layer 0. The packages above it do not open sockets, start threads or
read the time themselves.
"""

from kafka.net.broker_versions import ApiVersions
from kafka.net.buffers import BufferPool, FrameBuffer
from kafka.net.connect import open_connection
from kafka.net.connection import Connection
from kafka.net.loop_call import LoopCall
from kafka.net.loop_thread import LoopThread
from kafka.net.pending_requests import Answered, Reply

__all__ = [
    "Answered",
    "ApiVersions",
    "BufferPool",
    "Connection",
    "FrameBuffer",
    "LoopCall",
    "LoopThread",
    "Reply",
    "open_connection",
]
