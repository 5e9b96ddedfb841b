#!/usr/bin/env python3
"""What scripts/lib.sh and scripts/test-results promise, with stand-ins for dpkg-query and apt-get. Speaks TAP."""
import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
LIST = "build one\nbuild two\ncheck three\n# build none\n"


class Bench:
    """A tree of its own with a list of packages, and a folder of stand-ins before everything else in PATH."""

    def __init__(self, folder):
        self.folder = folder
        self.tools = os.path.join(folder, "tools")
        os.makedirs(os.path.join(folder, "scripts"))
        os.makedirs(self.tools)
        self.write("scripts/packages", LIST)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)

    def tool(self, name, body):
        self.write("tools/" + name, "#!/bin/sh\n" + body)
        os.chmod(os.path.join(self.tools, name), 0o755)

    def installed(self, *names):
        self.tool("dpkg-query", "".join(
            '[ "$3" = %s ] && { printf installed; exit 0; }\n' % name for name in names) + "exit 1\n")

    def sh(self, text):
        """Runs text after lib.sh: (exit status, what it said)."""
        run = subprocess.run(
            ["sh", "-c", 'top=$1; . "$2"; ' + text, "sh", self.folder, os.path.join(TOP, "scripts", "lib.sh")],
            env=dict(os.environ, PATH=self.tools + ":" + os.environ["PATH"], LOG=os.path.join(self.folder, "log")),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return run.returncode, run.stdout

    def log(self):
        path = os.path.join(self.folder, "log")
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as stream:
            return stream.read()


def only_the_groups_asked_for_are_looked_at(bench):
    bench.installed()
    assert bench.sh("missing_packages build") == (0, "one\ntwo\n")
    assert bench.sh("missing_packages build check") == (0, "one\ntwo\nthree\n")


def what_is_installed_is_left_alone(bench):
    bench.installed("one", "two")
    bench.tool("apt-get", 'echo "$*" >>"$LOG"\n')
    status, said = bench.sh("install_packages build")
    assert status == 0 and said == "all 2 packages are installed\n", said
    assert bench.log() == ""


def what_is_missing_is_installed_without_a_question(bench):
    bench.installed("one")
    bench.tool("sudo", 'exec "$@"\n')
    bench.tool("apt-get", 'echo "$DEBIAN_FRONTEND $*" >>"$LOG"\n')
    status, said = bench.sh("install_packages build check")
    assert status == 0 and said == "installing: two three \ninstalled 2 packages\n", said
    update, install = bench.log().splitlines()
    assert update.startswith("noninteractive ") and update.endswith(" update"), update
    assert " -y " in install and install.endswith("install --no-install-recommends two three"), install


def an_installation_that_fails_says_why(bench):
    bench.installed()
    bench.tool("sudo", 'exec "$@"\n')
    bench.tool("apt-get", "echo no room left; exit 100\n")
    status, said = bench.sh("install_packages build")
    assert status == 100 and "no room left" in said, said


def a_build_folder_of_somebody_else_is_left_alone(bench):
    bench.write("theirs/config.status", "")
    os.chmod(os.path.join(bench.folder, "theirs/config.status"), 0o755)
    status, said = bench.sh('configure_in "$top/theirs" --with-x')
    assert status == 0 and said.startswith("already configured"), said


def other_options_make_the_build_folder_anew(bench):
    bench.write("configure", '#!/bin/sh\necho "$*" >>"$LOG"\n: >config.status\nchmod +x config.status\n')
    os.chmod(os.path.join(bench.folder, "configure"), 0o755)
    for option in ("--with-x", "--with-x", "--with-y"):
        status, said = bench.sh('configure_in "$top/ours" ' + option)
        assert status == 0, said
    assert bench.log() == "--quiet --with-x\n--quiet --with-y\n", bench.log()


def results(bench, *builds):
    run = subprocess.run([sys.executable, "-B", os.path.join(TOP, "scripts", "test-results"), *builds],
                         cwd=bench.folder, stdout=subprocess.PIPE, text=True, check=True)
    return run.stdout


def results_are_counted_one_by_one(bench):
    bench.write("a/x.trs", ":test-result: PASS 1 - first\n:test-result: FAIL 2 - second\n:test-result: SKIP 3 - third\n")
    bench.write("a/deep/y.trs", ":test-result: ERROR\n:global-test-result: PASS\n")
    assert results(bench, "a") == "1 2 1\n", results(bench, "a")


def a_test_of_two_builds_counts_once_and_its_failure_wins(bench):
    bench.write("a/x.trs", ":test-result: PASS 1 - first\n:test-result: PASS 2 - second\n")
    bench.write("b/x.trs", ":test-result: PASS 1 - first\n:test-result: FAIL 2 - second\n")
    bench.write("b/y.trs", ":test-result: PASS\n")
    assert results(bench, "a", "b") == "2 1 0\n", results(bench, "a", "b")


CASES = (
    only_the_groups_asked_for_are_looked_at,
    what_is_installed_is_left_alone,
    what_is_missing_is_installed_without_a_question,
    an_installation_that_fails_says_why,
    a_build_folder_of_somebody_else_is_left_alone,
    other_options_make_the_build_folder_anew,
    results_are_counted_one_by_one,
    a_test_of_two_builds_counts_once_and_its_failure_wins,
)


def main():
    print("1..%d" % len(CASES))
    failed = 0
    for number, case in enumerate(CASES, 1):
        fault = None
        with tempfile.TemporaryDirectory() as folder:
            try:
                case(Bench(folder))
            except (AssertionError, ValueError, subprocess.CalledProcessError) as error:
                fault = "%s: %s" % (type(error).__name__, str(error).replace("\n", " / "))
        failed += fault is not None
        print("%s %d - %s" % ("not ok" if fault else "ok", number, case.__name__))
        if fault:
            print("# " + fault)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
