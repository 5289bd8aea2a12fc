"""An import path of `ConfigResource` and `ConfigResourceType`, as a file for type checkers."""

from kafka.admin import ConfigResource as ConfigResource
from kafka.admin import ConfigResourceType as ConfigResourceType
