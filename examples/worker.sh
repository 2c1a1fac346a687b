#!/usr/bin/env bash
# A worker in plain shell: curl and jq.
#
#   NOVUM_URL=… NOVUM_TOKEN=… examples/worker.sh reports jq '.payload | length'
#
# The command gets each task as JSON on its standard input; what it prints is the result
# (JSON, else text). It fails with its last words on standard error. SIGTERM gives the
# task at hand back.
set -u
queue=$1 lease_seconds=30 stopped="" command=""
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'stopped=yes; [ -z "$command" ] || kill "$command"' TERM INT

# post PATH [HEADER] <BODY: tries again after cuts, 429 (Retry-After) and 5xx, which is
# safe: a claim carries its key, and a receipt does everything once. The token doesn't
# appear in the list of processes.
post() {
    curl -sS --max-time 30 --retry 8 --retry-all-errors --retry-max-time 60 \
        -K <(printf 'header = "Authorization: Bearer %s"\n' "$NOVUM_TOKEN") \
        -H "Content-Type: application/json" ${2:+-H "$2"} \
        --data-binary @- "${NOVUM_URL%/}/v1$1"
}

# Heartbeats, until the command has ended; it ends when the task is lost or called off.
keep() {
    while sleep $((lease_seconds / 3)); do
        renewed=$(post "/tasks/$id:heartbeat" <<<"$proof") || continue
        jq -e '.expires_at and (.cancel_requested | not)' <<<"$renewed" >/dev/null || {
            kill "$1"
            return
        }
    done
}

finish() { # VERB JSON: says how it ended
    post "/tasks/$id:$1" <<<"$2" | jq -r '.task | "\(.key) \(.state)"' 2>/dev/null
}

while [ -z "$stopped" ]; do
    claim=$(jq -n --arg queue "$queue" --argjson s "$lease_seconds" \
        '{queue: $queue, lease_seconds: $s}' |
        post "/tasks:claim" "Idempotency-Key: $(od -An -N16 -tx1 /dev/urandom | tr -d ' ')") ||
        { sleep 2; continue; }
    if ! jq -e '.task' <<<"$claim" >/dev/null 2>&1; then
        jq -e 'has("task")' <<<"$claim" >/dev/null || { echo "$claim" >&2; sleep 2; }
        sleep "$(jq '[.retry_after_seconds // 1, 2] | min' <<<"$claim" 2>/dev/null || echo 1)"
        continue
    fi
    id=$(jq -r '.task.id' <<<"$claim")
    proof=$(jq '{lease_token}' <<<"$claim")
    jq '.task' <<<"$claim" | "$@" >"$work/out" 2>"$work/err" &
    command=$!
    # The signal may have come before there was a command.
    [ -z "$stopped" ] || kill "$command"
    keep "$command" &
    heart=$!
    # A signal ends the first wait early.
    wait "$command"; code=$?
    while kill -0 "$command" 2>/dev/null; do wait "$command"; code=$?; done
    command=""
    kill "$heart" 2>/dev/null
    if [ -n "$stopped" ]; then
        finish give-back "$(jq '.note = "The worker was stopped."' <<<"$proof")"
    elif [ "$code" -eq 0 ]; then
        result=$(jq -c . "$work/out" 2>/dev/null) || result=$(jq -Rs . "$work/out")
        finish complete "$(jq --argjson result "${result:-null}" '.result = $result' <<<"$proof")"
    else
        finish fail "$(jq --arg e "$(tail -c 2000 "$work/err")" '.error = $e | .retry = true' <<<"$proof")"
    fi
done
