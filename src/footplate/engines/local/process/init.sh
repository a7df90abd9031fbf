# Runs one task: init.sh COUNTERS WORD...
# starts the words as a command, outlives it, ends all that it left behind and writes its exit code to descriptor
# 9, with what the files named in COUNTERS say and the CPU time. It is the first process of the task's PID
# namespace; where there is none, it is the subreaper of what the command leaves. It is held to the limits of the task and has no right that the task has
# not. The variables that FOOTPLATE_LATE names have that word before their names until the command starts. This
# shell's own variables have names that a job's cannot have: the command would see them.
FOOTPLATE_SHIM_counters=$1
shift
# What this shell itself would say does not belong in the task's log.
exec 8>&2 2>/dev/null
# Trapped, not ignored: the command gets the default dispositions back.
trap FOOTPLATE_SHIM_stopping=1 TERM
trap : HUP INT QUIT ALRM USR1 USR2 PIPE
(
    for FOOTPLATE_SHIM_name in $FOOTPLATE_LATE; do
        eval "$FOOTPLATE_SHIM_name=\$FOOTPLATE_LATE_$FOOTPLATE_SHIM_name"
        export "$FOOTPLATE_SHIM_name"
        unset "FOOTPLATE_LATE_$FOOTPLATE_SHIM_name"
    done
    unset FOOTPLATE_LATE
    # A command that signals its own group means itself; one with a terminal belongs to the terminal's.
    if [ ! -t 0 ] && [ -x /usr/bin/setsid ]; then set -- /usr/bin/setsid "$@"; fi
    exec "$@" 2>&8 8>&- 9>&-
)
FOOTPLATE_SHIM_code=$?
PATH=/usr/bin:/bin
while read -r FOOTPLATE_SHIM_left </proc/$$/task/$$/children || [ "$FOOTPLATE_SHIM_left" ]; do
    # During a polite stop the rest may use its grace: whoever stops the task ends it by force.
    [ "$FOOTPLATE_SHIM_stopping" ] || kill -KILL $FOOTPLATE_SHIM_left
    # A child in the foreground is also what makes this shell reap the dead.
    sleep 0.02
done
for FOOTPLATE_SHIM_counter in $FOOTPLATE_SHIM_counters; do
    while read -r FOOTPLATE_SHIM_line; do
        FOOTPLATE_SHIM_counted="$FOOTPLATE_SHIM_counted
${FOOTPLATE_SHIM_counter##*/} $FOOTPLATE_SHIM_line"
    done <$FOOTPLATE_SHIM_counter
done
# A disk that is full now may have room again later.
FOOTPLATE_SHIM_tries=0
until { echo "$FOOTPLATE_SHIM_code$FOOTPLATE_SHIM_counted" && times; } >&9 || [ $FOOTPLATE_SHIM_tries = 600 ]; do
    FOOTPLATE_SHIM_tries=$((FOOTPLATE_SHIM_tries + 1))
    sleep 1
done
