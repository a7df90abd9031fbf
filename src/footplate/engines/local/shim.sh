# Runs one task: shim.sh FOLDER WORD... starts the words as a command, outlives it, ends all that it
# left behind (this process is their subreaper) and writes the exit code to FOLDER/exit.
folder=$1
shift
# What this shell itself would say does not belong in the task's log.
exec 3>&2 2>/dev/null
# Trapped, not ignored: the command gets the default dispositions back.
trap stopping=1 TERM
trap : HUP INT QUIT ALRM USR1 USR2 PIPE
(exec "$@" 2>&3 3>&-)
code=$?
PATH=/usr/bin:/bin
while read -r left </proc/$$/task/$$/children || [ "$left" ]; do
    # During a polite stop the rest may use its grace: whoever stops the task ends it by force.
    [ "$stopping" ] || kill -KILL $left
    # A child in the foreground is also what makes this shell reap the dead.
    sleep 0.02
done
echo $code >"$folder/exit"
