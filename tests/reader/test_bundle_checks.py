#!/usr/bin/env python3
"""Either of the two checks refuses alone, with its own code; without both the bundle leaks, so the tests can fail (case O12)."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tests", "lib"), HERE]
from bundle_maker import bundle, concept, write  # noqa: E402
from tap import equal, run, test  # noqa: E402

BUILD = os.environ.get("BUILDDIR", os.path.join(ROOT, "build"))
LOOT = concept("Loot", "CANARY-OF-ANOTHER-FOLDER")
HONEST = concept("Honest", "inside")
# Named or not by the index, each leads out of the bundle by a link: in its last part, or above it.
NAMED = ("leak", "passing/loot")
UNNAMED = ("quiet", "silent/loot")


def probe(program, name):
    """What one of the four programs gives out for an id of the bundle: (exit code, text)."""
    with tempfile.TemporaryDirectory(prefix="admitd-checks-") as path:
        write(path + "/out/loot.md", LOOT)
        at = bundle(path + "/b", {"honest": HONEST, "unnamed": HONEST}, ["honest.md", "inner.md"] + [one + ".md" for one in NAMED])
        os.symlink("honest.md", at + "/inner.md")
        for one in ("leak", "quiet"):
            os.symlink("../out/loot.md", at + "/" + one + ".md")
        for one in ("passing", "silent"):
            os.symlink(path + "/out", at + "/" + one)
        done = subprocess.run([os.path.join(BUILD, program), at, name], stdout=subprocess.PIPE, text=True, timeout=60, check=False)
        return done.returncode, done.stdout


def refuses(program, names, code):
    for name in names:
        equal(probe(program, name), (1, code + "\n"), "%s %s" % (program, name))


def serves_honest_ones(program):
    for name in ("honest", "inner"):
        equal(probe(program, name), (0, HONEST), "%s %s" % (program, name))


@test
def with_both_checks_the_index_answers_first_and_then_the_path():
    serves_honest_ones("bundle_probe")
    refuses("bundle_probe", NAMED, "concept_outside")
    refuses("bundle_probe", UNNAMED, "concept_unknown")
    refuses("bundle_probe", ["unnamed"], "concept_unknown")


@test
def without_the_check_of_the_index_the_path_refuses_alone():
    serves_honest_ones("bundle_probe_unnamed")
    refuses("bundle_probe_unnamed", NAMED + UNNAMED, "concept_outside")
    equal(probe("bundle_probe_unnamed", "unnamed"), (0, HONEST), "the check was not taken out")


@test
def without_the_check_of_the_path_the_index_refuses_alone():
    serves_honest_ones("bundle_probe_outside")
    refuses("bundle_probe_outside", NAMED + UNNAMED, "concept_unknown")


@test
def without_both_the_loot_is_given_out():
    serves_honest_ones("bundle_probe_unchecked")
    for name in NAMED + UNNAMED:
        equal(probe("bundle_probe_unchecked", name), (0, LOOT), name)


@test
def an_id_that_climbs_is_refused_by_its_text_even_without_both():
    refuses("bundle_probe_unchecked", ("../out/loot", "/etc/passwd", "a/../../out/loot", "./honest"), "concept_outside")


if __name__ == "__main__":
    run()
