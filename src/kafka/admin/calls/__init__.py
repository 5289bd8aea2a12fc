"""The methods of `KafkaAdminClient`, a module for each subject. Each checks its arguments in the caller's
thread, and waits."""
