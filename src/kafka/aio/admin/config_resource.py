"""aiokafka's import path for `ConfigResource` and `ConfigResourceType`, as a file so that type checkers find it."""

from kafka.admin import ConfigResource as ConfigResource
from kafka.admin import ConfigResourceType as ConfigResourceType
