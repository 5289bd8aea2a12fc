"""What configuration belongs to."""

from kafka.admin import ConfigResource as ConfigResource
from kafka.admin import ConfigResourceType as ConfigResourceType
