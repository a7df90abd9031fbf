# The first process of a task's container: sh -c THIS footplate FOLDER LOG KEEP COMMAND
# claims the task, runs the command with its output in the log, ends what the command left behind, and
# writes how it ended to FOLDER. All it needs of the image is a shell, whose own variables have names that a
# job's cannot have: the command would see them.
FOOTPLATE_SHIM_folder=$1 FOOTPLATE_SHIM_log=$2 FOOTPLATE_SHIM_keep=$3
# Whoever makes this file first decides: this process, that the task runs; a stop, that it never will.
{ set -C && true >"$FOOTPLATE_SHIM_folder/begun"; } 2>/dev/null || exit 125
set +C
exec </dev/null >>"$FOOTPLATE_SHIM_log" 2>&1 || exit 125
# A pipeline fails with any of its commands, where the image has a shell that knows how.
if FOOTPLATE_SHIM_shell=$(command -v bash); then
    set -- "$FOOTPLATE_SHIM_shell" -e -o pipefail -c "$4"
elif (set -o pipefail) 2>/dev/null; then
    set -- /bin/sh -e -o pipefail -c "$4"
else
    set -- /bin/sh -e -c "$4"
fi
# In a session of its own, a command that kills its own group does not reach this shell.
FOOTPLATE_SHIM_setsid=$(command -v setsid) && set -- "$FOOTPLATE_SHIM_setsid" "$@"
# What this shell itself would say does not belong in the task's log.
exec 3>&2 2>/dev/null
# Trapped, not ignored: the command gets the default dispositions back.
trap FOOTPLATE_SHIM_stopping=1 TERM
trap : HUP INT QUIT ALRM USR1 USR2 PIPE
# This shell is within the task's memory: it takes now what it may need when that has run out, and lets the
# kernel take anything else first.
FOOTPLATE_SHIM_ballast=0123456789abcdef
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do
    FOOTPLATE_SHIM_ballast=$FOOTPLATE_SHIM_ballast$FOOTPLATE_SHIM_ballast
done
FOOTPLATE_SHIM_yield_to_shell='echo 100 >/proc/self/oom_score_adj'
(
    eval "$FOOTPLATE_SHIM_yield_to_shell"
    exec "$@" 2>&3 3>&-
)
FOOTPLATE_SHIM_code=$?
unset FOOTPLATE_SHIM_ballast
PATH=/usr/bin:/bin:$PATH
if [ ! "$FOOTPLATE_SHIM_stopping" ]; then
    kill -KILL -1
    # What is left in shared memory counts as used, and could leave no room to record the end.
    for FOOTPLATE_SHIM_file in /dev/shm/*; do
        [ -f "$FOOTPLATE_SHIM_file" ] && true >"$FOOTPLATE_SHIM_file"
    done
fi
while read -r FOOTPLATE_SHIM_left </proc/1/task/1/children || [ "$FOOTPLATE_SHIM_left" ]; do
    # During a polite stop the rest may use its grace: whoever stops the task ends it by force.
    [ "$FOOTPLATE_SHIM_stopping" ] || kill -KILL -1
    # A child in the foreground is also what makes this shell reap the dead.
    (
        eval "$FOOTPLATE_SHIM_yield_to_shell"
        exec sleep 0.02
    ) || sleep 1
done
# What the container's control groups counted goes with the exit code, in the same lines for both versions.
# Groups without a limit may be those of the whole machine, where an engine without root has no others.
FOOTPLATE_SHIM_counted=
cd /sys/fs/cgroup
read -r FOOTPLATE_SHIM_limit <memory.max || read -r FOOTPLATE_SHIM_limit <memory/memory.limit_in_bytes
[ "$FOOTPLATE_SHIM_limit" != max ] && [ ${#FOOTPLATE_SHIM_limit} -lt 19 ] && for FOOTPLATE_SHIM_file in memory.max memory.peak memory.events cpu.stat \
    memory/memory.limit_in_bytes memory/memory.max_usage_in_bytes memory/memory.oom_control \
    cpuacct/cpuacct.usage cpu,cpuacct/cpuacct.usage; do
    while read -r FOOTPLATE_SHIM_words; do
        case $FOOTPLATE_SHIM_words in
        oom_kill\ * | usage_usec\ * | [0-9]*)
            FOOTPLATE_SHIM_counted="$FOOTPLATE_SHIM_counted
${FOOTPLATE_SHIM_file##*/} $FOOTPLATE_SHIM_words"
            ;;
        esac
    done <$FOOTPLATE_SHIM_file
done
# A disk that is full now may have room again later; a record that the task has spoilt stays so.
FOOTPLATE_SHIM_tries=0
until echo "$FOOTPLATE_SHIM_code$FOOTPLATE_SHIM_counted" >"$FOOTPLATE_SHIM_folder/exit" || [ ! -d "$FOOTPLATE_SHIM_folder" ] || [ -L "$FOOTPLATE_SHIM_folder/exit" ] || [ -d "$FOOTPLATE_SHIM_folder/exit" ] || [ $FOOTPLATE_SHIM_tries = 600 ]; do
    FOOTPLATE_SHIM_tries=$((FOOTPLATE_SHIM_tries + 1))
    sleep 1
done
# A kept environment stays until it is stopped, which reaches the sleeping child too.
[ "$FOOTPLATE_SHIM_keep" ] && [ $FOOTPLATE_SHIM_code != 0 ] && until [ "$FOOTPLATE_SHIM_stopping" ]; do
    sleep 3600
done
