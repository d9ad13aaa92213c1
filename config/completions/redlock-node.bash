# bash completion for redlock-node(1). Works with and without the package bash-completion.

_redlock_node() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local settings="port bind unixsocket unixsocketperm tcp-backlog timeout tcp-keepalive maxclients
    client-output-buffer-limit maxmemory-clients metrics-port tls-port tls-cert-file tls-key-file
    tls-key-file-pass tls-ca-cert-file tls-ca-cert-dir tls-auth-clients tls-auth-clients-user tls-protocols
    tls-ciphers tls-ciphersuites tls-prefer-server-ciphers tls-session-caching metrics-tls
    protected-mode requirepass requirepass-file aclfile acllog-max-len max-ttl require-ttl hold-strict clock-drift maxmemory
    maxmemory-policy value-size-limit dir node-id restart-delay restart-reply fence-block wake-next-after
    busy-reply-threshold eval script-time-limit
    script-memory-limit script-size-limit notify-keyspace-events enable-debug-command slowlog-log-slower-than
    slowlog-max-len latency-monitor-threshold latency-tracking audit audit-format supervised loglevel logfile pidfile
    databases save appendonly cluster-enabled replica-read-only daemonize"
  local words=
  COMPREPLY=()
  case $previous in
    --dir | --tls-ca-cert-dir)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$current")
      return
      ;;
    --logfile | --pidfile | --unixsocket | --requirepass-file | --aclfile | --tls-cert-file | \
      --tls-key-file | --tls-ca-cert-file)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
      ;;
    --audit)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -W "no log" -- "$current"; compgen -f -- "$current")
      return
      ;;
    --protected-mode | --require-ttl | --hold-strict | --latency-tracking | --tls-prefer-server-ciphers | \
      --tls-session-caching | --metrics-tls) words="yes no" ;;
    --tls-auth-clients) words="yes optional no" ;;
    --tls-auth-clients-user) words="off CN" ;;
    --tls-protocols) words="TLSv1.2 TLSv1.3" ;;
    --appendonly | --cluster-enabled | --daemonize) words=no ;;
    --replica-read-only) words=yes ;;
    --maxmemory-policy) words=noeviction ;;
    --restart-delay) words="auto off" ;;
    --restart-reply) words="error held" ;;
    --enable-debug-command) words="no local yes" ;;
    --audit-format) words="text json" ;;
    --supervised) words="no systemd auto" ;;
    --loglevel) words="debug verbose notice warning" ;;
    --bootstrap | -*) ;;
    *)
      # The settings file comes first, before all flags.
      if ((COMP_CWORD == 1)) && [[ $current != -* ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return
      fi
      ;;
  esac
  if [[ $current == -* ]]; then
    # The names without their dashes are matched, and get them back.
    mapfile -t COMPREPLY < <(
      compgen -P -- -W "$settings bootstrap help version" -- "${current#"${current%%[!-]*}"}")
  elif [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  fi
}

complete -F _redlock_node redlock-node
