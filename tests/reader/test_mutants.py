#!/usr/bin/env python3
"""Each check of the reader is there for a test: taken out, one must fail. Every mutant is the real source without one check, compiled as the
build compiles it and linked with the tests' own objects; the test has to pass with the source as it is and to fail with the mutant. Needs the
tests to be built. Speaks TAP."""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "lib"))
from tap import TESTS, check, run  # noqa: E402

BUILD = os.environ.get("BUILDDIR", os.path.join(ROOT, "build"))

WAITING = 60  # seconds until a test that waits for a FIFO is given up

# What is taken out, of which file, how, and the test program that sees it.
MUTANTS = (
    ("the kernel keeps a path beneath the root", "contained_steps.c", ".resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS |", ".resolve = RESOLVE_NO_MAGICLINKS |", "test_contained"),
    ("no link is followed where none may be", "contained_steps.c", "? RESOLVE_NO_SYMLINKS : 0", "? 0 : 0", "test_contained"),
    ("a link at the end is the link itself", "contained_steps.c", "? 0 : O_NOFOLLOW", "? 0 : 0", "test_contained"),
    ("the walk without openat2 refuses links", "contained_steps.c", "if (S_ISLNK(status.st_mode))", "if (false)", "test_contained"),
    ("the walk without openat2 doesn't follow them", "contained_steps.c", "O_PATH | O_NOFOLLOW | O_CLOEXEC);", "O_PATH | O_CLOEXEC);",
     "test_contained"),
    ("ENOSYS, E2BIG and EPERM mean that openat2 is missing", "contained_steps.c", "|| error == -EPERM", "", "test_contained"),
    ("no component is ..", "contained_target.c", "if (has_parent(target))", "if (false)", "test_contained"),
    ("no target holds a NUL", "contained_target.c", "if (memchr(target.bytes, '\\0', target.len) != NULL)", "if (false)", "test_contained"),
    ("no target is empty", "contained_target.c", "if (target.len == 0)", "if (false)", "test_contained"),
    ("an absolute target begins with all of the root", "contained_target.c", "|| target.bytes[len] == '/'", "|| true", "test_contained"),
    ("an absolute target is the root's", "contained_target.c", "target.bytes[0] == '/' && !begins", "false && !begins", "test_contained"),
    ("a link isn't opened where none may be", "contained.c", "ret->kind == CONTAINED_LINK) {", "false) {", "test_contained"),
    ("an entry that is a link isn't followed", "contained.c", "openat(directory_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)",
     "openat(directory_fd, name, O_PATH | O_CLOEXEC)", "test_contained"),
    ("only regular files are read", "contained.c", "if (node->kind != CONTAINED_FILE)", "if (false)", "test_contained"),
    ("a root of another process reads nothing", "contained.c",
     "if (root->process != getpid())\n\t\treturn CONTAINED_FAILED;", "", "test_contained"),
    ("an entry that was a file and is a link isn't followed", "contained.c", "O_RDONLY | O_NOFOLLOW | O_NONBLOCK", "O_RDONLY | O_NONBLOCK",
     "test_contained"),
    ("an entry that was a file and is a FIFO isn't waited for", "contained.c", "O_RDONLY | O_NOFOLLOW | O_NONBLOCK", "O_RDONLY | O_NOFOLLOW",
     "test_contained"),
    ("an entry that was a file is judged before it is read", "contained.c", "ret->is_readable = ret->kind == CONTAINED_FILE;",
     "ret->is_readable = true;", "test_contained"),
    ("a target that was a file is reached by no link", "contained_steps.c", "= RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH", "= RESOLVE_BENEATH",
     "test_contained"),
    ("a target that was a file and is a FIFO isn't waited for", "contained_steps.c", "O_RDONLY | O_NONBLOCK | O_NOCTTY", "O_RDONLY | O_NOCTTY",
     "test_contained"),
    ("a target that was a file is judged before it is read", "contained.c", "if (r != 0 || ret->is_readable)", "if (true)", "test_contained"),
    ("reading ends at the limit", "contained.c", "pread(fd, bytes + len, size - len,", "pread(fd, bytes + len, size - len + 3,", "test_contained"),
    ("reading doesn't believe a size", "contained.c", "pread(fd, bytes + len, size - len,", "pread(fd, bytes + len, (expected < size ? expected : size) - len,", "test_contained"),
    ("a descriptor is closed when a walk fails", "contained_steps.c", "if (r != 0 && next >= 0)", "if (false)", "test_contained"),
    ("control characters of names are escaped", "name.c", "text_is_control(code_point)", "false", "test_walk"),
    ("a walk ends at its bound", "walk.c", "if (walk->entries >= walk->max_entries)", "if (false)", "test_walk"),
    ("a walk ends at its depth", "walk.c", "if (depth > walk->max_depth) {", "if (false) {", "test_walk"),
    ("entries are sorted", "walk_names.c", "if (names->count > 1)", "if (false)", "test_walk"),
    ("arguments are a closed object", "arguments.c", "if (given == json_object_size(object))", "if (true)", "test_tools"),
    ("numbers stay in their range", "arguments.c", "number > reading->rule->most", "false", "test_tools"),
    ("a search refuses targets that lead outside", "search.c", "return tools_refuse_target(refusal, paths->items[i], r);", "continue;",
     "test_tools"),
    ("a search looks where a link leads", "search.c", "|| credential_file_is(real)", "", "test_tools"),
    ("an inventory reads no folder through a link", "inventory_folder.c", "CONTAINED_FOLLOW_NONE", "CONTAINED_FOLLOW_ALL", "test_tools"),
    ("an inventory takes no folder for another", "inventory_folder.c", "if (!str_equal(path, folder->path))",
     "if (folder->path.bytes == NULL)", "test_tools"),
    ("an inventory looks where a link leads", "inventory.c", "*ret = r == 0 && credential_file_is(real);", "*ret = false;", "test_tools"),
    ("a packet leaves out what a .gitignore excludes", "packet_judge.c", "else if (is_gitignored(packet, path, depth, is_directory))",
     "else if (false)", "test_packet"),
    ("a packet leaves out files with credentials", "packet_judge.c", "else if (credential_file_is(path))", "else if (false)", "test_packet"),
    ("a packet leaves out names that look secret", "packet_judge.c", "else if (secret_name_is(name) || redact_finds_secret(name))",
     "else if (false)", "test_packet"),
    ("a packet leaves out ignored folders", "packet_judge.c", "(is_directory && is_ignored_folder(name))", "false", "test_packet"),
    ("a .gitignore that can't be followed excludes everything", "packet_judge.c", "\texclude_all(list, kept);\n\treturn 0;", "\treturn 0;",
     "test_packet"),
    ("a packet's contents are redacted", "packet_file.c", "return redact_body(file->bytes, &packet->redacted, &file->report);",
     "buf_add_str(&packet->redacted, file->bytes);\n\treturn 0;", "test_packet"),
    ("a packet leaves out binaries", "packet_file.c", "return len > 0 && memchr(packet->bytes, '\\0', len) != NULL;", "return 0;",
     "test_packet"),
    ("a packet ends at its bytes", "packet_file.c", "(int64_t)len > packet->request->limits.bytes - packet->facts->bytes", "false",
     "test_packet"),
    ("a packet ends at its files", "packet_file.c", "packet->facts->included == limits->files", "false", "test_packet"),
)


def made(name):
    """A variable of the build's Makefile, expanded."""
    env = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    done = subprocess.run(["make", "-s", "--no-print-directory", "--eval", "said-%%: ; @echo '$(%s)'" % name, "said-x"], cwd=BUILD, env=env,
                          stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().split()


def objects_of(program):
    names = [program, "tree"]
    return [os.path.join(BUILD, "tests", "reader", "%s-%s.o" % (program, name)) for name in names]


class Bench:
    """A folder for mutants, and how the build compiles and links."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="admitd-mutants.")
        self.compile = made("COMPILE") + ["-w"] + made("JANSSON_CFLAGS") + made("SODIUM_CFLAGS")
        self.link = made("CCLD") + made("AM_CFLAGS") + made("CFLAGS") + made("AM_LDFLAGS")
        self.libraries = [os.path.join(BUILD, ".libs", name) for name in ("libreader.a", "libpolicy.a")]
        self.libraries += made("CMOCKA_LIBS") + made("SECCOMP_LIBS") + made("JANSSON_LIBS") + made("SODIUM_LIBS") + made("PCRE2_LIBS") + made("PTHREAD_CFLAGS")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def runs_well(self, name, text, program):
        """Whether the test passes with this text in place of a source of the reader."""
        source, target = (os.path.join(self.folder.name, file) for file in (name, program))
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        for command in (self.compile + ["-I", BUILD, "-c", source, "-o", source[:-2] + ".o"],
                        self.link + [source[:-2] + ".o", *objects_of(program), *self.libraries, "-o", target]):
            done = subprocess.run(command, cwd=BUILD, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            check(done.returncode == 0, "%s\n%s" % (" ".join(command), done.stdout.decode(errors="replace")[-2000:]))
        try:
            done = subprocess.run([target], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=WAITING,
                                  check=False)
        except subprocess.TimeoutExpired:
            return False  # a check that keeps a call from waiting was taken out
        return done.returncode == 0


def source_of(name):
    with open(os.path.join(ROOT, "reader", name), encoding="utf-8") as file:
        return file.read()


def add(sentence, function):
    function.__name__ = re.sub(r"\W+", "_", sentence)
    TESTS.append(function)


for file_name, program_name in sorted({(mutant[1], mutant[4]) for mutant in MUTANTS}):
    def passes(bench, file_name=file_name, program_name=program_name):
        check(bench.runs_well(file_name, source_of(file_name), program_name), "%s fails without any mutation" % program_name)
    add("%s passes with %s as it is" % (program_name, file_name), passes)

for mutant in MUTANTS:
    def is_seen(bench, mutant=mutant):
        _, name, old, new, program = mutant
        text = source_of(name)
        check(text.count(old) == 1, "%r stands %d times in %s" % (old, text.count(old), name))
        check(not bench.runs_well(name, text.replace(old, new), program), "%s passes without it" % program)
    add("%s, or %s fails" % (mutant[0], mutant[4]), is_seen)

if __name__ == "__main__":
    run(Bench)
