"""Interceptors, which see and may change every record of a client, like Java's (KIP-42). Layer 0.

Programs subclass `ProducerInterceptor` or `ConsumerInterceptor`, and pass the classes or instances in the option
`interceptor_classes`.
"""

from kafka.interceptor.client_interceptors import ConsumerInterceptor, ProducerInterceptor, ProducerRecord

__all__ = ["ConsumerInterceptor", "ProducerInterceptor", "ProducerRecord"]
