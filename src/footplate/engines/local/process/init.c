/* footplate-init: begins one task and watches over it until its end.
 *
 * It knows no policy. `steps.py` writes what is to be done into descriptor 3, as words that end in a zero: for
 * each step its name, the number of its arguments, the arguments. They are done in their order; the last one,
 * `run`, starts the command. From then on this is what `init.sh` is elsewhere: the first process of the task's
 * PID namespace, or the subreaper of what the command leaves, inside of the task's limits and without a right
 * that the task has not.
 *
 * Until a task is claimed, whoever started this process is told of a failure through descriptor 4; then it is
 * the task's own failure, with a line in its log and an exit code. The variables of the task are words of the
 * order, never this program's own environment: it may be root's still, and the C library obeys some.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Changes whenever steps do: `native.py` refuses another one. */
#define VERSION "3"

enum { ORDER_FD = 3, NEWS_FD = 4, LAST_INHERITED_FD = 63, MOST_GROUPS = 16, MOST_TEXT = 4000 };
enum { CANNOT_EXECUTE = 126, NOT_FOUND = 127, BY_SIGNAL = 128, RETRIES_OF_RECORD = 600 };

static const int TRAPPED[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGPIPE};
#define N_TRAPPED (sizeof TRAPPED / sizeof *TRAPPED)

static struct { int place, entry; } groups[MOST_GROUPS];
static int n_groups;
static char name[64];
static long pid;
static unsigned long long ticks;
static char **counters;
static char **simple;
static int exit_fd = -1, ends_fd = -1;
static const char *step = "order", *about = "";
static volatile sig_atomic_t is_stopping;

static int write_all(int fd, const char *text, size_t size, size_t *done) {
    while (*done < size) {
        ssize_t n = write(fd, text + *done, size - *done);
        if (n < 0 && errno != EINTR) return -1;
        if (n > 0) *done += (size_t)n;
    }
    return 0;
}

static int write_text(int fd, const char *text) {
    size_t done = 0;
    return write_all(fd, text, strlen(text), &done);
}

static void tell(const char *news) {
    /* A spawner that has died meanwhile must not keep a claimed task from running. */
    (void)write_text(NEWS_FD, news);
    close(NEWS_FD);
}

static void remove_groups(void) {
    for (int i = 0; i < n_groups; i++) unlinkat(groups[i].place, name, AT_REMOVEDIR);
}

/* Ends this process because the current step failed, as `errno` says. */
static _Noreturn void fail(void) {
    char text[512], news[600], *to = news;
    snprintf(text, sizeof text, "%s %s: %s", step, about, strerror(errno));
    if (exit_fd >= 0) {
        dprintf(STDERR_FILENO, "footplate: the task cannot be started: %s\n", text);
        dprintf(exit_fd, "%d\n", CANNOT_EXECUTE);
        _exit(0);
    }
    remove_groups();
    to = stpcpy(to, "{\"error\": \"");
    for (const char *c = text; *c; c++) *to++ = *c < ' ' || *c == '"' || *c == '\\' ? '?' : *c;
    strcpy(to, "\"}\n");
    tell(news);
    _exit(0);
}

static void check(long result) {
    if (result < 0) fail();
}

static long number(const char *word) {
    char *end;
    errno = 0;
    long value = strtol(word, &end, 0);
    if (!errno && (*end || end == word)) errno = EINVAL;
    if (errno) fail();
    return value;
}

static void join_path(char *path, size_t size, const char *folder, const char *file) {
    if ((size_t)snprintf(path, size, "%s/%s", folder, file) < size) return;
    errno = ENAMETOOLONG;
    fail();
}

static void begin_session(char **args) {
    (void)args;
    check(setsid());
}

static void set_oom_score(char **args) {
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    (void)write_text(fd, args[0]);
    close(fd);
}

static void adopt_orphans(char **args) {
    (void)args;
    check(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
}

/* Learns the number and the start of this process, as those see them who started it. */
static void identify(char **args) {
    (void)args;
    char line[1024];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    check(fd);
    ssize_t size = read(fd, line, sizeof line - 1);
    check(size);
    close(fd);
    line[size] = 0;
    const char *rest = strrchr(line, ')');
    pid = strtol(line, NULL, 10);
    errno = EPROTO;
    /* The start is word 22; the name of the program, in parentheses, is word 2. */
    for (int i = 0; rest && i < 20; i++) rest = strchr(rest + 1, ' ');
    if (!rest || pid <= 0 || sscanf(rest, " %llu", &ticks) != 1) fail();
    snprintf(name, sizeof name, "%ld-%llu", pid, ticks);
}

/* group PLACE_FD ENTRY [FILE TEXT]...: makes a group named after this process, and opens its entry. */
static void make_group(char **args) {
    char path[256];
    int place = (int)number(args[0]);
    errno = E2BIG;
    if (n_groups == MOST_GROUPS) fail();
    check(mkdirat(place, name, 0755));
    groups[n_groups].place = place;
    groups[n_groups++].entry = -1;
    for (char **setting = args + 2; setting[0] && setting[1]; setting += 2) {
        about = setting[0];
        join_path(path, sizeof path, name, setting[0]);
        int fd = openat(place, path, O_WRONLY | O_CLOEXEC);
        check(fd);
        check(write_text(fd, setting[1]));
        close(fd);
    }
    join_path(path, sizeof path, name, args[1]);
    check(groups[n_groups - 1].entry = openat(place, path, O_WRONLY | O_CLOEXEC));
}

static void enter_groups(char **args) {
    (void)args;
    for (int i = 0; i < n_groups; i++) check(write_text(groups[i].entry, "0"));
}

/* mount SOURCE TARGET KIND FLAGS OPTIONS */
static void mount_one(char **args) {
    about = args[1];
    check(mount(args[0], args[1], *args[2] ? args[2] : NULL, (unsigned long)number(args[3]),
                *args[4] ? args[4] : NULL));
}

/* show PLACE TOP: shows the task its own group where its tree is mounted. */
static void show_group(char **args) {
    char path[4096];
    about = args[1];
    join_path(path, sizeof path, args[0], name);
    check(mount(path, args[1], NULL, MS_BIND, NULL));
}

static void leave_namespaces(char **args) { check(unshare((int)number(args[0]))); }

/* Opens a plain file of the records; an earlier run may have put something else there. */
static int open_record(int records, const char *file, int flags) {
    struct stat status;
    int fd = openat(records, file, flags | O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
    about = file;
    check(fd);
    check(fstat(fd, &status));
    errno = EINVAL;
    if (!S_ISREG(status.st_mode)) fail();
    check(fcntl(fd, F_SETFL, flags & O_APPEND));
    return fd;
}

/* Puts a record into its place, unless there is one already: tells whether it was put.
 *
 * It is written without a name first, where the file system allows that: on ext4 every file that is removed
 * slows the making of others for minutes. */
static int publish(int records, const char *file, const char *text, struct stat *status) {
    char draft[64] = "";
    int fd = openat(records, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
    if (fd < 0) {
        snprintf(draft, sizeof draft, "%s.%ld", file, pid);
        fd = open_record(records, draft, O_TRUNC);
    }
    about = file;
    check(write_text(fd, text));
    check(fstat(fd, status));
    int is_put = linkat(*draft ? records : fd, draft, records, file, *draft ? 0 : AT_EMPTY_PATH) == 0, why = errno;
    close(fd);
    if (*draft) unlinkat(records, draft, 0);
    errno = why;
    if (!is_put && errno != EEXIST) fail();
    return is_put;
}

/* claim RECORDS_FD BOOT_ID: takes the task for this process, or ends it when somebody was here before. */
static void claim(char **args) {
    char text[256], news[256];
    struct stat status;
    int records = (int)number(args[0]);
    snprintf(text, sizeof text, "%ld %llu %s\n", pid, ticks, args[1]);
    if (!publish(records, "pid", text, &status)) {
        remove_groups();
        tell("{\"exists\": true}\n");
        _exit(0);
    }
    exit_fd = open_record(records, "exit", O_APPEND);
    /* A page that the task is the first to use would keep its memory group for as long as it is cached. */
    (void)write_text(exit_fd, "\n");
    snprintf(news, sizeof news, "{\"pid\": %ld, \"start_ticks\": %llu, \"at\": %lld.%09ld}\n", pid, ticks,
             (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    tell(news);
}

/* record FD: takes over from whoever has claimed the task. */
static void take_record(char **args) { exit_fd = (int)number(args[0]); }

/* ends FD: says there that the task is over, sooner than the kernel does: it takes down the namespaces first. */
static void take_ends(char **args) { ends_fd = (int)number(args[0]); }

static void note_counters(char **args) { counters = args; }

static void limit_data(char **args) {
    rlim_t bytes = (rlim_t)number(args[0]);
    check(setrlimit(RLIMIT_DATA, &(struct rlimit){bytes, bytes}));
}

/* Lets the task lock memory, by which network cards read it. */
static void unlock_memory(char **args) {
    (void)args;
    struct rlimit limit;
    if (setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}) == 0) return;
    check(getrlimit(RLIMIT_MEMLOCK, &limit));
    limit.rlim_cur = limit.rlim_max;
    check(setrlimit(RLIMIT_MEMLOCK, &limit));
}

static void join_user_namespace(char **args) { check(setns((int)number(args[0]), CLONE_NEWUSER)); }

static void set_groups(char **args) {
    size_t n = 0;
    while (args[n]) n++;
    gid_t *ids = calloc(n + 1, sizeof *ids);
    if (!ids) fail();
    for (size_t i = 0; i < n; i++) ids[i] = (gid_t)number(args[i]);
    check(setgroups(n, ids));
}

static void set_gid(char **args) {
    gid_t id = (gid_t)number(args[0]);
    check(setresgid(id, id, id));
}

static void set_uid(char **args) {
    uid_t id = (uid_t)number(args[0]);
    check(setresuid(id, id, id));
}

/* bound MASK: gives up for good, for all programs that are executed from here on, what is not in the mask. */
static void bound_powers(char **args) {
    unsigned long kept = (unsigned long)number(args[0]);
    for (int i = 0; i < 64; i++) {
        if (kept >> i & 1 || prctl(PR_CAPBSET_DROP, i, 0, 0, 0) == 0) continue;
        /* Beyond the last one that the kernel knows there are none. */
        if (errno == EINVAL) return;
        fail();
    }
}

/* powers MASK: gives up for this process itself what is not in the mask: no `exec` does it. */
static void drop_powers(char **args) {
    unsigned long kept = (unsigned long)number(args[0]);
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    check(syscall(SYS_capget, &header, data));
    for (int i = 0; i < 2; i++) {
        data[i].permitted &= (__u32)(kept >> 32 * i);
        data[i].effective = data[i].permitted;
        data[i].inheritable = 0;
    }
    check(syscall(SYS_capset, &header, data));
    check(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0));
}

/* filter FD: has the kernel refuse what a BPF program refuses. */
static void set_filter(char **args) {
    int fd = (int)number(args[0]);
    struct stat status;
    check(fstat(fd, &status));
    struct sock_filter *lines = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (lines == MAP_FAILED) fail();
    struct sock_fprog program = {(unsigned short)((size_t)status.st_size / sizeof *lines), lines};
    check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0));
}

static void set_environment(char **args) { environ = args; }

/* words WORD...: the command as words, where a shell would only execute them; it is asked if that fails. */
static void note_words(char **args) { simple = args; }

/* Looks for a program where a shell would. */
static int find_program(char *path, size_t size, const char *program) {
    const char *folders = getenv("PATH"), *end;
    if (strchr(program, '/')) return (size_t)snprintf(path, size, "%s", program) < size;
    for (const char *from = folders; from; from = *end ? end + 1 : NULL) {
        end = strchrnul(from, ':');
        /* A shell takes an empty one for the current folder: let it. */
        if (end == from) return 0;
        if ((size_t)snprintf(path, size, "%.*s/%s", (int)(end - from), from, program) >= size) return 0;
        if (access(path, X_OK) == 0) return 1;
    }
    return 0;
}

static void note_signal(int signal) {
    if (signal == SIGTERM) is_stopping = 1;
}

static void set_signals(void (*action)(int)) {
    struct sigaction how = {.sa_handler = action};
    for (size_t i = 0; i < N_TRAPPED; i++) check(sigaction(TRAPPED[i], &how, NULL));
}

/* Starts the command; returns its number, or less than zero and why in `errno`. */
static pid_t start(char **words) {
    static volatile int why;
    static char path[4096];
    int has_terminal = isatty(STDIN_FILENO);
    int is_simple = simple && find_program(path, sizeof path, simple[0]);
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    /* Until the command has the default dispositions back, no signal may run a handler of ours in it. */
    sigprocmask(SIG_SETMASK, &all, NULL);
    pid_t command = vfork();
    if (command == 0) {
        /* A command that signals its own group means itself; one with a terminal belongs to the terminal's. */
        if (!has_terminal) setpgid(0, 0);
        set_signals(SIG_DFL);
        sigprocmask(SIG_SETMASK, &none, NULL);
        if (is_simple) execv(path, simple);
        execvp(words[0], words);
        why = errno;
        _exit(CANNOT_EXECUTE);
    }
    if (command < 0) why = errno;
    sigprocmask(SIG_SETMASK, &none, NULL);
    errno = why;
    return why ? -1 : command;
}

static int wait_for(pid_t command) {
    int status = 0;
    pid_t ended;
    do ended = wait(&status);
    while (ended != command && (ended > 0 || errno == EINTR));
    return WIFSIGNALED(status) ? BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static int kill_children(void) {
    char text[4096];
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    /* A space follows each number; one that was cut off has none, and comes next time. */
    for (char *from = text, *space; from < text + size; from = space + 1) {
        if (!(space = memchr(from, ' ', (size_t)(text + size - from)))) break;
        *space = 0;
        kill((pid_t)strtol(from, NULL, 10), SIGKILL);
    }
    return 0;
}

/* Ends what the command has left. During a polite stop it may use its grace: whoever stops it uses force. */
static void end_rest(void) {
    do {
        if (!is_stopping && kill_children() < 0) return;
    } while (wait(NULL) >= 0 || errno == EINTR);
}

static size_t append_counter(char *text, size_t size, const char *path) {
    char lines[MOST_TEXT], *rest = lines;
    const char *file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    size_t used = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t n = read(fd, lines, sizeof lines - 1);
    close(fd);
    lines[n < 0 ? 0 : n] = 0;
    for (char *line; (line = strsep(&rest, "\n")) && (*line || rest) && used < size;)
        used += (size_t)snprintf(text + used, size - used, "%s %s\n", file, line);
    return used < size ? used : size;
}

static size_t append_times(char *text, size_t size, int who) {
    struct rusage used;
    getrusage(who, &used);
    struct timeval in[2] = {used.ru_utime, used.ru_stime};
    return (size_t)snprintf(text, size, "%ldm%ld.%06lds %ldm%ld.%06lds\n", in[0].tv_sec / 60, in[0].tv_sec % 60,
                            in[0].tv_usec, in[1].tv_sec / 60, in[1].tv_sec % 60, in[1].tv_usec);
}

static void record_end(int code) {
    char text[MOST_TEXT + 256];
    size_t size = (size_t)snprintf(text, sizeof text, "%d\n", code), done = 0;
    for (char **path = counters; path && *path && size < MOST_TEXT; path++)
        size += append_counter(text + size, MOST_TEXT - size, *path);
    size += append_times(text + size, sizeof text - size, RUSAGE_SELF);
    size += append_times(text + size, sizeof text - size, RUSAGE_CHILDREN);
    /* A disk that is full now may have room again later. */
    for (int tries = 0; write_all(exit_fd, text, size, &done) < 0; sleep(1))
        if (++tries > RETRIES_OF_RECORD) return;
    /* Short enough to be written whole or not at all; whoever does not hear it asks the kernel. */
    size = (size_t)snprintf(text, sizeof text, "%s\n", name);
    if (ends_fd >= 0 && write(ends_fd, text, size) < 0) return;
}

static void run(char **words) {
    for (int fd = STDERR_FILENO + 1; fd <= LAST_INHERITED_FD; fd++)
        if (fd != exit_fd && fd != ends_fd) close(fd);
    about = words[0];
    set_signals(note_signal);
    pid_t command = start(words);
    if (command < 0) {
        int code = errno == ENOENT ? NOT_FOUND : CANNOT_EXECUTE;
        dprintf(STDERR_FILENO, "footplate: cannot execute %s: %s\n", words[0], strerror(errno));
        end_rest();
        record_end(code);
        _exit(0);
    }
    int code = wait_for(command);
    end_rest();
    record_end(code);
    _exit(0);
}

static const struct { const char *name; int least; void (*act)(char **args); } STEPS[] = {
    {"session", 0, begin_session}, {"oom_score", 1, set_oom_score}, {"adopt", 0, adopt_orphans},
    {"identify", 0, identify}, {"group", 2, make_group}, {"enter", 0, enter_groups},
    {"mount", 5, mount_one}, {"show", 2, show_group}, {"unshare", 1, leave_namespaces},
    {"claim", 2, claim}, {"record", 1, take_record}, {"ends", 1, take_ends}, {"counters", 0, note_counters},
    {"limit_data", 1, limit_data}, {"unlock_memory", 0, unlock_memory}, {"user", 1, join_user_namespace},
    {"groups", 0, set_groups}, {"gid", 1, set_gid}, {"bound", 1, bound_powers}, {"uid", 1, set_uid},
    {"powers", 1, drop_powers}, {"filter", 1, set_filter}, {"environment", 0, set_environment},
    {"words", 1, note_words}, {"run", 1, run},
};

static char *order, *order_end;

static void read_order(void) {
    struct stat status;
    check(fstat(ORDER_FD, &status));
    size_t size = (size_t)status.st_size;
    order = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, ORDER_FD, 0) : MAP_FAILED;
    errno = EPROTO;
    if (order == MAP_FAILED || order[size - 1]) fail();
    order_end = order + size;
}

static char *next_word(void) {
    char *word = order;
    errno = EPROTO;
    if (word >= order_end) fail();
    order += strlen(word) + 1;
    return word;
}

static void do_step(void) {
    const char *wanted = next_word();
    long n = number(next_word());
    about = "";
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        if (strcmp(STEPS[i].name, wanted)) continue;
        step = wanted;
        char **args = n < 0 || n > order_end - order ? NULL : calloc((size_t)n + 1, sizeof *args);
        errno = EPROTO;
        if (!args || n < STEPS[i].least) fail();
        for (long j = 0; j < n; j++) args[j] = next_word();
        STEPS[i].act(args);
        return;
    }
    errno = ENOSYS;
    fail();
}

/* `posix_spawn` leaves the C library's own signals ignored, and the library itself does not touch them here. */
static void restore_hidden_signals(void) {
    const char nothing[64] = {0};
    for (int hidden = 32; hidden < SIGRTMIN; hidden++) check(syscall(SYS_rt_sigaction, hidden, nothing, NULL, 8));
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "--version")) return puts(VERSION) < 0;
    restore_hidden_signals();
    /* The spawner ignores it, and the end of a command would not be seen. */
    signal(SIGCHLD, SIG_DFL);
    /* A failed write is told by its result. */
    signal(SIGPIPE, SIG_IGN);
    for (int fd = STDERR_FILENO + 1; fd <= LAST_INHERITED_FD; fd++) fcntl(fd, F_SETFD, FD_CLOEXEC);
    read_order();
    for (;;) do_step();
}
