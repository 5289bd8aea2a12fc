"""kafka-python's `socketpair` for systems that lack it: the standard library's, which has it everywhere."""

from socket import socketpair as socketpair
