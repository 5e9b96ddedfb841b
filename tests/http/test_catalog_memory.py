#!/usr/bin/env python3
"""Catalogs that were replaced don't stay in memory, and who was judged by one meanwhile isn't cut off (1.3, 3.2 "Memory"). Speaks TAP."""
import copy
import os
import sys
import threading

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
# What is freed must not wait for long in a sanitizer's quarantine, which would look like growth.
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=4"
from catalogs import catalog  # noqa: E402
from daemon import check, equal, reads, run_scenes, scene  # noqa: E402

REPLACED = 5000 if os.environ.get("ADMITD_SLOW") == "1" else 2000
WARM = REPLACED // 4
READERS = 3
WORDS = 1500    # capabilities of an invented server: they make a catalog that weighs something
GROWTH_MIB = 24


def numbered(document, number):
    """Another catalog, the heavier one by its own server."""
    made = copy.deepcopy(document)
    entry = copy.deepcopy(made["mcps"]["github"])
    entry["displayName"] = "Number %d" % number
    entry["aliases"] = {}
    entry["safeReadSupplement"] = []
    entry["runtime"]["capabilities"] = ["heavy.word%d.read" % word for word in range(WORDS)]
    made["mcps"]["heavy"] = entry
    return made


def resident_mib(daemon):
    with open("/proc/%d/status" % daemon.process.pid, encoding="ascii") as file:
        return next(int(line.split()[1]) // 1024 for line in file if line.startswith("VmRSS:"))


@scene
def thousands_of_replaced_catalogs_leave_the_memory_as_it_was(daemon):
    document, _ = catalog(daemon)
    world = daemon.world()
    world.submit(reads("a"))
    two = [daemon.admin.put("/v1/catalog", numbered(document, number)).must(200)["digest"] for number in range(2)]
    check(two[0] != two[1], two)
    weight = len(daemon.admin.get("/v1/catalog").must(200).raw) // 1024
    before = 0
    for number in range(REPLACED):
        daemon.admin.put("/v1/catalog", numbered(document, number)).must(200)
        if number % 10 == 0:
            equal(world.preview()["packages"][0]["packageId"], world.pid("a"))
        if number == WARM:
            before = resident_mib(daemon)
    after = resident_mib(daemon)
    print("# %d catalogs of %d KiB: %d MiB resident after %d of them, %d MiB at the end" % (REPLACED, weight, before, WARM, after))
    check(after - before < GROWTH_MIB, "%d MiB grew to %d MiB" % (before, after))
    daemon.admin.put("/v1/catalog", document).must(200)


@scene
def who_reads_while_it_is_replaced_is_answered_by_one_catalog_or_the_other(daemon):
    document, _ = catalog(daemon)
    world = daemon.world()
    world.submit(reads("a"))
    task, pid = world.task_id(), world.pid("a")
    digests = {daemon.admin.put("/v1/catalog", numbered(document, number)).must(200)["digest"] for number in range(2)}
    ends, faults, answered = threading.Event(), [], []

    def read():
        try:
            while not ends.is_set():
                check(daemon.nobody.get("/v1/version").must(200)["catalogDigest"] in digests, "another digest")
                answered.append(daemon.planner.post("/v1/tasks/%s/preview" % task).must(200))
                daemon.planner.get("/v1/packages/" + pid).must(200)
                daemon.operator.get("/v1/recovery").must(200)
                daemon.planner.get("/v1/capabilities/filesystem.project.read").must(200)
                daemon.planner.get("/v1/catalog").must(200)
        except Exception as fault:  # shown by the test
            faults.append(fault)

    readers = [threading.Thread(target=read) for _ in range(READERS)]
    for reader in readers:
        reader.start()
    for number in range(60):
        daemon.admin.put("/v1/catalog", numbered(document, number % 2)).must(200)
    ends.set()
    for reader in readers:
        reader.join()
    equal(faults, [])
    check(answered, "nobody was answered")
    daemon.admin.put("/v1/catalog", document).must(200)


if __name__ == "__main__":
    run_scenes()
