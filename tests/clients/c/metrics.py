"""What prometheus-redis-exporter exports of a Redis and not of a lock node, and why; and what it
exports of both that says something else of a node. redis_exporter.py checks all of it."""

_PREFIX = "redis_"

_ABSENT = {
    "a node has no replicas": """
        master_repl_offset second_repl_offset mem_clients_slaves repl_backlog_first_byte_offset
        repl_backlog_history_bytes repl_backlog_is_active replication_backlog_bytes
        replica_partial_resync_accepted replica_partial_resync_denied replica_resyncs_full
        slave_expires_tracked_keys mem_not_counted_for_eviction_bytes unexpected_error_replies""",
    "a node writes no RDB file": """
        rdb_changes_since_last_save rdb_current_bgsave_duration_sec rdb_last_bgsave_duration_sec
        rdb_last_bgsave_status rdb_last_cow_size_bytes rdb_last_save_timestamp_seconds""",
    "a node writes no append-only file": """
        aof_current_rewrite_duration_sec aof_last_bgrewrite_status aof_last_cow_size_bytes
        aof_last_rewrite_duration_sec aof_last_write_status aof_rewrite_in_progress
        aof_rewrite_scheduled""",
    "a node never forks": """
        latest_fork_seconds module_fork_in_progress module_fork_last_cow_size
        cpu_sys_children_seconds_total cpu_user_children_seconds_total""",
    "a node is no part of a Redis cluster": "cluster_connections",
    "a node takes the C library's allocator: mem_fragmentation_ratio is there": """
        allocator_active_bytes allocator_allocated_bytes allocator_frag_bytes allocator_frag_ratio
        allocator_resident_bytes allocator_rss_bytes allocator_rss_ratio active_defrag_running
        defrag_hits defrag_key_hits defrag_key_misses defrag_misses""",
    "a node does not serve CLIENT TRACKING": """
        tracking_clients tracking_total_items tracking_total_keys tracking_total_prefixes""",
    "a node is one thread": """
        config_io_threads io_threads_active io_threaded_reads_processed
        io_threaded_writes_processed""",
    "a node knows how long commands take by bounds that double, too coarse for percentiles: "
    "LATENCY HISTOGRAM tells them": """
        latency_percentiles_usec latency_percentiles_usec_count latency_percentiles_usec_sum""",
    "a node does not look at its heap when it starts": "memory_used_startup_bytes",
    "it is a part of memory_used_lua_bytes": "memory_used_scripts_bytes",
    "Redis samples its clients; of a node, CLIENT LIST tells each one's buffers":
        "client_recent_max_input_buffer_bytes client_recent_max_output_buffer_bytes",
    "Redis's own bookkeeping: blocked_clients counts those that wait": "clients_in_timeout_table",
    "Redis samples keys to find those that ran out; a node gives each lock back at its time "
    "(INFO: reclaim_lag_us)": "expired_stale_percentage expired_time_cap_reached_total",
    "a node frees what it deletes at once": "lazyfree_pending_objects",
    "a node has no RESTORE and no MIGRATE":
        "dump_payload_sanitizations migrate_cached_sockets_total",
    "a node counts commands and bytes, not its system calls":
        "total_reads_processed total_writes_processed",
}

# Always 0, and why.
ZERO = {
    "aof_enabled": "there is no append-only file",
    "rdb_bgsave_in_progress": "there is no RDB file",
    "loading_dump_file": "a node that recovers still answers: INFO's `state` tells",
    "cluster_enabled": "a node is no part of a Redis cluster",
    "connected_slaves": "a node has no replicas",
    "evicted_keys_total": "a lock is never evicted",
    "db_avg_ttl_seconds": "a node does not sample its keys",
}

_OTHERWISE = {
    "commands_duration_seconds_total": "of commands whose time grows with their input: scripts, "
    "EXEC, SCAN and the like; for all others, as SET and GET, no clock is read and it stays 0; of "
    "scripts of lock libraries, which run without Lua, one in sixteen is timed and counts for all",
    "memory_used_dataset_bytes": "the locks with their index",
    **ZERO,
}

ABSENT = {_PREFIX + name: why for why, names in _ABSENT.items() for name in names.split()}

TABLES = {
    "exporter, absent": (
        ("Metrics", "Why a node has none"),
        *((", ".join(f"`{name}`" for name in names.split()), why)
          for why, names in _ABSENT.items())),
    "exporter, otherwise": (
        ("Metric", "What it tells of a node"),
        *((f"`{name}`", f"always 0: {text}" if name in ZERO else text)
          for name, text in _OTHERWISE.items())),
}
