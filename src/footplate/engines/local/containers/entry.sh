# The first process of a task's container: sh -c THIS footplate FOLDER LOG KEEP COMMAND
# claims the task, runs the command with its output in the log, ends what the command left behind, and
# writes how it ended to FOLDER. All it needs of the image is a shell.
folder=$1 log=$2 keep=$3
# Whoever makes this file first decides: this process, that the task runs; a stop, that it never will.
{ set -C && true >"$folder/begun"; } 2>/dev/null || exit 125
set +C
exec </dev/null >>"$log" 2>&1 || exit 125
shell=$(command -v bash) || shell=/bin/sh
set -- "$shell" -e -c "$4"
# In a session of its own, a command that kills its own group does not reach this shell.
setsid=$(command -v setsid) && set -- "$setsid" "$@"
# What this shell itself would say does not belong in the task's log.
exec 3>&2 2>/dev/null
# Trapped, not ignored: the command gets the default dispositions back.
trap stopping=1 TERM
trap : HUP INT QUIT ALRM USR1 USR2 PIPE
# This shell is within the task's memory: it takes now what it may need when that has run out, and lets the
# kernel take anything else first.
ballast=0123456789abcdef
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do
    ballast=$ballast$ballast
done
yield_to_shell='echo 100 >/proc/self/oom_score_adj'
(
    eval "$yield_to_shell"
    exec "$@" 2>&3 3>&-
)
code=$?
unset ballast
PATH=/usr/bin:/bin:$PATH
if [ ! "$stopping" ]; then
    kill -KILL -1
    # What is left in shared memory counts as used, and could leave no room to record the end.
    for file in /dev/shm/*; do
        [ -f "$file" ] && true >"$file"
    done
fi
while read -r left </proc/1/task/1/children || [ "$left" ]; do
    # During a polite stop the rest may use its grace: whoever stops the task ends it by force.
    [ "$stopping" ] || kill -KILL -1
    # A child in the foreground is also what makes this shell reap the dead.
    (
        eval "$yield_to_shell"
        exec sleep 0.02
    ) || sleep 1
done
# What the container's control groups counted goes with the exit code, in the same lines for both versions.
# Groups without a limit may be those of the whole machine, where an engine without root has no others.
counted=
cd /sys/fs/cgroup
read -r limit <memory.max || read -r limit <memory/memory.limit_in_bytes
[ "$limit" != max ] && [ ${#limit} -lt 19 ] && for file in memory.max memory.peak memory.events cpu.stat \
    memory/memory.limit_in_bytes memory/memory.max_usage_in_bytes memory/memory.oom_control \
    cpuacct/cpuacct.usage cpu,cpuacct/cpuacct.usage; do
    while read -r words; do
        case $words in
        oom_kill\ * | usage_usec\ * | [0-9]*)
            counted="$counted
${file##*/} $words"
            ;;
        esac
    done <$file
done
# A disk that is full now may have room again later; a record that the task has spoilt stays so.
tries=0
until echo "$code$counted" >"$folder/exit" || [ ! -d "$folder" ] || [ -L "$folder/exit" ] || [ -d "$folder/exit" ] || [ $tries = 600 ]; do
    tries=$((tries + 1))
    sleep 1
done
# A kept environment stays until it is stopped, which reaches the sleeping child too.
[ "$keep" ] && [ $code != 0 ] && until [ "$stopping" ]; do
    sleep 3600
done
