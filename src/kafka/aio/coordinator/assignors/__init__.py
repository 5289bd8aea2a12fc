"""aiokafka's import paths of the assignors, for the option ``partition_assignment_strategy``."""
