# Runs one task: shim.sh FOLDER GROUPS COUNTERS WORD...
# starts the words as a command, outlives it, ends all that it left behind (this process is their subreaper)
# and writes the exit code to FOLDER/exit, with what the files named in COUNTERS say and its CPU time. GROUPS
# are descriptors: writing to them enters the task's control groups, in which this shell itself is not, so that
# it survives what they forbid. The variables that FOOTPLATE_LATE names have that word before their names until
# the command starts.
folder=$1 groups=$2 counters=$3
shift 3
# What this shell itself would say does not belong in the task's log.
exec 3>&2 2>/dev/null
# Trapped, not ignored: the command gets the default dispositions back.
trap stopping=1 TERM
trap : HUP INT QUIT ALRM USR1 USR2 PIPE
(
    for group in $groups; do
        echo 0 >&$group && continue
        echo "footplate: the task cannot be held to its limits: it cannot enter its control groups" >&3
        exit 126
    done
    # A name that no variable of the job can have: the command would see it changed.
    for FOOTPLATE_NAME in $FOOTPLATE_LATE; do
        eval "$FOOTPLATE_NAME=\$FOOTPLATE_LATE_$FOOTPLATE_NAME"
        export "$FOOTPLATE_NAME"
        unset "FOOTPLATE_LATE_$FOOTPLATE_NAME"
    done
    unset FOOTPLATE_LATE
    exec "$@" 2>&3 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
)
code=$?
PATH=/usr/bin:/bin
while read -r left </proc/$$/task/$$/children || [ "$left" ]; do
    # During a polite stop the rest may use its grace: whoever stops the task ends it by force.
    [ "$stopping" ] || kill -KILL $left
    # A child in the foreground is also what makes this shell reap the dead.
    sleep 0.02
done
for counter in $counters; do
    while read -r line; do
        counted="$counted
${counter##*/} $line"
    done <$counter
done
# A disk that is full now may have room again later; a record that the task has spoilt stays so.
tries=0
until {
    echo "$code$counted" && times
} >"$folder/exit" || [ ! -d "$folder" ] || [ -L "$folder/exit" ] || [ -d "$folder/exit" ] || [ $tries = 600 ]; do
    tries=$((tries + 1))
    sleep 1
done
