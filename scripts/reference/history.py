"""In which generation of kafka-python each option was first there: facts about its releases 0.9.5 to 3.0.12."""

_OPTIONS = {
    "0.9": """
        auto_commit_interval_ms auto_offset_reset bootstrap_servers client_id consumer_timeout_ms
        fetch_min_bytes group_id
    """,
    "1.0": """
        acks api_version batch_size buffer_memory check_crcs compression_type connections_max_idle_ms
        enable_auto_commit fetch_max_wait_ms heartbeat_interval_ms key_deserializer key_serializer linger_ms
        max_block_ms max_in_flight_requests_per_connection max_partition_fetch_bytes max_request_size
        metadata_max_age_ms partition_assignment_strategy partitioner receive_buffer_bytes reconnect_backoff_ms
        request_timeout_ms retries retry_backoff_ms send_buffer_bytes session_timeout_ms value_deserializer
        value_serializer
    """,
    "1.4": """
        api_version_auto_timeout_ms bootstrap_topics_filter default_offset_commit_callback
        exclude_internal_topics fetch_max_bytes legacy_iterator max_poll_interval_ms max_poll_records
        metric_group_prefix metric_reporters metrics_num_samples metrics_sample_window_ms
        reconnect_backoff_max_ms sasl_kerberos_domain_name sasl_kerberos_service_name sasl_mechanism
        sasl_oauth_token_provider sasl_plain_password sasl_plain_username security_protocol selector
        sock_chunk_buffer_count sock_chunk_bytes socket_options ssl_cafile ssl_certfile ssl_check_hostname
        ssl_ciphers ssl_context ssl_crlfile ssl_keyfile ssl_password
    """,
    "2.3": """
        allow_auto_create_topics delivery_timeout_ms enable_idempotence enable_incremental_fetch_sessions
        group_instance_id isolation_level kafka_client metrics_enabled receive_message_max_bytes
        sasl_kerberos_name socks5_proxy transaction_timeout_ms transactional_id
    """,
    "3.0": """
        bootstrap_timeout_ms client_dns_lookup client_rack proxy_url
    """,
}

FIRST_IN: dict[str, str] = {name: release for release, names in _OPTIONS.items() for name in names.split()}
"""By option; one that is not among them is ours."""
