"""aiokafka's import paths of what members of groups agree by."""
