# bash completion for redlock(1). Works with and without the package bash-completion.

_redlock_words="run hold acquire extend release holder list status admit group up serve bench drill"
_redlock_changes="show create replace add remove rescue"
_redlock_drills="restart chaos partition clock run check"

_redlock_options_of() {
  local common="--nodes --password-file --tls-ca --tls-cert --tls-key --config --node-timeout --clock-drift --unsafe-members --json --help --version"
  case $1 in
    run) echo "$common --no-wait --wait --no-fence --ttl --max-hold --wait-all -E -L --label --quiet --verbose --signal --kill-after" ;;
    hold) echo "$common --no-wait --wait --no-fence --ttl --max-hold -E -L --label --quiet --verbose" ;;
    acquire) echo "$common --ttl --no-wait --wait --no-fence --label --quiet --verbose" ;;
    extend) echo "$common --value --ttl" ;;
    release) echo "$common --value" ;;
    status) echo "$common --watch --http --http-names" ;;
    "group rescue") echo "$common --gone --floor" ;;
    admit) echo "$common --new-group --floor" ;;
    up) echo "$common --count --port --dir --node-binary --door-port --no-door" ;;
    serve)
      echo "$common --listen --listen-tls --http --http-tls --http-names --acquire-time --reply-time" \
        "--max-ttl --require-quorum --tls-cert-file --tls-key-file --tls-key-file-pass" \
        "--tls-ca-cert-file --tls-ca-cert-dir --tls-auth-clients" \
        "--tls-auth-clients-user --tls-protocols --tls-ciphers --tls-ciphersuites" \
        "--requirepass --requirepass-file --aclfile --protected-mode --maxclients --timeout --unixsocketperm --audit --audit-format --logfile --loglevel"
      ;;
    bench) echo "$common --for --in-flight --ttl --no-fence --html" ;;
    "drill restart") echo "$common --ttl --node-binary --kill-command --start-command" ;;
    "drill chaos" | "drill partition" | "drill clock" | "drill run")
      [ "$1" = "drill chaos" ] && common+=" --replace --doors --naive"
      echo "$common --ttl --node-binary --for --minutes --seed --clients --locks --out"
      ;;
    "drill check") echo "$common --html" ;;
    *) echo "$common" ;;
  esac
}

# The word of redlock before the cursor, if there is one: what is no option and no option's value.
# A drill has two.
_redlock_word() {
  local i word
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      --nodes | --password-file | --tls-ca | --tls-cert | --tls-key | --config | --node-timeout | \
        --clock-drift) ((++i)) ;;
      -*) ;;
      *)
        word+=${word:+ }${COMP_WORDS[i]}
        [[ $word == drill || $word == group ]] || break
        ;;
    esac
  done
  echo "$word"
}

# Where the command of `redlock run NAME -- COMMAND` begins; nothing before a --.
_redlock_command_at() {
  local i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      echo $((i + 1))
      return
    fi
  done
}

_redlock_complete_command() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif ((COMP_CWORD == $1)); then
    mapfile -t COMPREPLY < <(compgen -c -- "$2")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$2")
  fi
}

_redlock() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local word command_at options
  COMPREPLY=()
  word=$(_redlock_word)
  if [[ $word == run ]]; then
    command_at=$(_redlock_command_at)
    if [[ -n $command_at ]]; then
      _redlock_complete_command "$command_at" "$current"
      return
    fi
  fi
  case $previous in
    --config | --password-file | --requirepass-file | --node-binary | --html | --logfile | --tls-ca | --tls-cert | \
      --tls-key | --tls-cert-file | --tls-key-file | --tls-ca-cert-file)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
      ;;
    --dir | --out | --tls-ca-cert-dir)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$current")
      return
      ;;
    --protected-mode | --http-tls)
      mapfile -t COMPREPLY < <(compgen -W "yes no" -- "$current")
      return
      ;;
    --tls-auth-clients)
      mapfile -t COMPREPLY < <(compgen -W "yes optional no" -- "$current")
      return
      ;;
    --tls-auth-clients-user)
      mapfile -t COMPREPLY < <(compgen -W "off CN" -- "$current")
      return
      ;;
    --tls-protocols)
      mapfile -t COMPREPLY < <(compgen -W "TLSv1.2 TLSv1.3" -- "$current")
      return
      ;;
    --audit)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -W "no log" -- "$current"; compgen -f -- "$current")
      return
      ;;
    --audit-format)
      mapfile -t COMPREPLY < <(compgen -W "text json" -- "$current")
      return
      ;;
    --loglevel)
      mapfile -t COMPREPLY < <(compgen -W "debug verbose notice warning" -- "$current")
      return
      ;;
    --signal)
      mapfile -t COMPREPLY < <(compgen -W "TERM INT HUP QUIT KILL USR1 USR2 ABRT" -- "$current")
      return
      ;;
    --nodes | --node-timeout | --clock-drift | -w | --wait | --ttl | --max-hold | -E | -L | \
      --kill-after | --value | --label | --floor | --count | --port | --kill-command | --start-command | \
      --for | --in-flight | --minutes | --seed | --clients | --locks | --listen | --acquire-time | \
      --listen-tls | --tls-key-file-pass | --tls-ciphers | --tls-ciphersuites | \
      --reply-time | --max-ttl | --requirepass | --maxclients | --timeout | --unixsocketperm)
      return
      ;;
  esac
  if [[ $current == -* ]]; then
    options=$(_redlock_options_of "$word")
    [[ $word != run ]] || options+=" --"
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif [[ -z $word ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$_redlock_words" -- "$current")
  elif [[ $word == drill ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$_redlock_drills" -- "$current")
  elif [[ $word == group ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$_redlock_changes" -- "$current")
  elif [[ $word == "drill check" ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}

complete -F _redlock redlock
