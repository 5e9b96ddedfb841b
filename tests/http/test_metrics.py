#!/usr/bin/env python3
"""Figures: /metrics against a small strict parser of Prometheus' text format, /v1/stats, /v1/search. Speaks TAP."""
import math
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from daemon import broken, check, equal, free, is_problem, reads, rfc3339, run_scenes, scene  # noqa: E402

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*\Z")
SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)\Z')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|\Z)')


def parse_labels(text):
    labels, at = {}, 0
    while at < len(text):
        found = LABEL.match(text, at)
        check(found and found.group(1) not in labels, "labels %r" % text)
        labels[found.group(1)] = found.group(2)
        at = found.end()
    return labels


def family_of(name, kind):
    for suffix in {"histogram": ("_bucket", "_sum", "_count"), "summary": ("_sum", "_count")}.get(kind, ()):
        if name.endswith(suffix):
            return name[:-len(suffix)]
    return name


def parse(text):
    """{family: (type, {(sample, labels): value})}; each family stands together, with help and type before it."""
    families, current, helped = {}, None, None
    check(text.endswith("\n"), "no line feed at the end")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            helped = line.split(" ", 3)[2]
            check(NAME.match(helped) and helped not in families and line.split(" ", 3)[3], line)
        elif line.startswith("# TYPE "):
            _, _, current, kind = line.split(" ")
            check(current == helped and kind in ("counter", "gauge", "histogram", "summary"), line)
            families[current] = (kind, {})
        else:
            found = SAMPLE.match(line)
            check(found, "line %r" % line)
            name, labels, value = found.groups()
            kind, samples = families[current]
            equal(family_of(name, kind), current, line)
            key = (name, tuple(sorted(parse_labels(labels or "").items())))
            check(key not in samples, "twice: " + line)
            samples[key] = float(value)
            check(not math.isnan(samples[key]) and samples[key] >= 0, line)
    return families


def scrape(daemon):
    answer = daemon.auditor.get("/metrics").must(200)
    equal(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8")
    return parse(answer.raw.decode())


def value(families, name, **labels):
    for kind, samples in families.values():
        if (name, tuple(sorted(labels.items()))) in samples:
            return samples[(name, tuple(sorted(labels.items())))]
    return 0


def change(daemon, do, name, **labels):
    before = value(scrape(daemon), name, **labels)
    do()
    return value(scrape(daemon), name, **labels) - before


@scene
def the_text_is_what_prometheus_reads(daemon):
    daemon.world().submit(reads("a"))
    families = scrape(daemon)
    for name, kind in (("admitd_http_requests_total", "counter"), ("admitd_http_request_duration_seconds", "histogram"),
                       ("admitd_decisions_total", "counter"), ("admitd_store_batch_size", "summary"), ("admitd_store_wal_alarm", "gauge"),
                       ("admitd_holds", "gauge"), ("admitd_runs_live", "gauge"), ("admitd_previews_lost_total", "counter"),
                       ("admitd_package_cache_hits_total", "counter"), ("admitd_build_info", "gauge")):
        equal(families[name][0], kind, name)
    for name, (kind, samples) in families.items():
        check(kind != "counter" or name.endswith("_total"), name)
    version = daemon.nobody.get("/v1/version").must(200)
    labels = dict(next(iter(families["admitd_build_info"][1]))[1])
    equal(labels, {"version": version["version"], "contract": str(version["contractVersion"]), "engine": str(version["engineRevision"]),
                   "catalog": version["catalogDigest"]})


@scene
def histograms_add_up(daemon):
    daemon.world().submit(reads("a"))
    families = scrape(daemon)
    _, samples = families["admitd_http_request_duration_seconds"]
    series = {}
    for (name, labels), count in samples.items():
        if name.endswith("_bucket"):
            labels = dict(labels)
            series.setdefault((labels["method"], labels["route"]), []).append((float(labels["le"]), count))
    check(("PUT", "/v1/tasks/{id}") in series, series.keys())
    for (method, route), buckets in series.items():
        buckets.sort()
        equal(buckets[-1][0], math.inf)
        counts = [count for _, count in buckets]
        equal(counts, sorted(counts), route)
        equal(counts[-1], value(families, "admitd_http_request_duration_seconds_count", method=method, route=route))
        total = sum(count for (name, labels), count in families["admitd_http_requests_total"][1].items()
                    if dict(labels)["route"] == route and dict(labels)["method"] == method)
        equal(total, counts[-1], route)


@scene
def requests_are_counted_by_route_and_status_and_no_client_makes_a_label(daemon):
    route = {"method": "GET", "route": "/v1/tasks/{id}"}
    equal(change(daemon, lambda: [daemon.admin.get("/v1/tasks/none%d" % n).must(404) for n in range(3)], "admitd_http_requests_total",
                 status="404", **route), 3)
    equal(change(daemon, lambda: daemon.nobody.get("/v1/tasks/x").must(401), "admitd_http_requests_total", status="401", **route), 1)
    before = len(scrape(daemon)["admitd_http_requests_total"][1])
    for number in range(20):
        daemon.admin.get("/v1/nowhere/%d" % number).must(404)
        daemon.admin.request("GET", "/v1/tasks/t%d?x=%d" % (number, number))
        daemon.admin.request("PATCH", "/v1/tasks/t%d" % number)
    after = scrape(daemon)["admitd_http_requests_total"][1]
    check(len(after) - before <= 3, "labels grew from %d to %d" % (before, len(after)))
    check(value(scrape(daemon), "admitd_http_requests_total", method="", route="none", status="404") >= 20, "unrouted requests")


@scene
def decisions_are_counted_by_surface_and_status(daemon):
    world = daemon.world()
    world.submit(reads("a"), free("b"))

    def counted(surface, status):
        return value(scrape(daemon), "admitd_decisions_total", surface=surface, status=status)

    before = {(surface, status): counted(surface, status) for surface in ("preview", "approval", "handoff")
              for status in ("blocked", "warning", "allowed")}
    world.approve(status=409)
    world.grant("a")
    world.approve()
    world.outcome(world.handoff("a"), "released")
    world.handoff("a", status=409)
    wanted = dict(before)
    for key in (("approval", "blocked"), ("approval", "warning"), ("approval", "allowed"), ("approval", "warning"),
                ("handoff", "allowed"), ("handoff", "blocked")):
        wanted[key] += 1
    daemon.wait_until(lambda: {key: counted(*key) for key in wanted} == wanted, "the counts")


@scene
def what_is_now_is_told_as_it_is(daemon):
    before = scrape(daemon)
    world = daemon.world()
    world.submit(reads("a"), broken("b"))
    world.submit(free("c"), name="other")
    world.approve("other")
    ready = value(scrape(daemon), "admitd_packages_ready")
    world.handoff("c", "other")
    after = scrape(daemon)
    for name, labels, grown in (("admitd_holds", {"kind": "needs_grant", "arm": "never_approved"}, 1),
                                ("admitd_holds", {"kind": "needs_plan_change", "arm": ""}, 1), ("admitd_runs_live", {}, 1),
                                ("admitd_recovery_items", {"kind": "package_held"}, 2),
                                ("admitd_recovery_items", {"kind": "plan_waits_for_approval"}, 1)):
        equal(value(after, name, **labels) - value(before, name, **labels), grown, name)
    equal(value(after, "admitd_packages_ready"), ready - 1)
    check(value(after, "admitd_store_commits_total") > value(before, "admitd_store_commits_total"), "commits")
    check(value(after, "admitd_store_batch_size_sum") >= value(after, "admitd_store_batch_size_count") > 0, "batches")
    check(value(after, "admitd_events_total") > value(before, "admitd_events_total"), "events")
    check(value(after, "admitd_store_wal_bytes") > 0 and value(after, "admitd_store_wal_alarm") == 0, "log")
    equal(value(after, "admitd_store_broken"), 0)


@scene
def nothing_of_a_plan_or_a_person_is_in_the_figures(daemon):
    world = daemon.world()
    world.submit(reads("a-telling-label"))
    text = daemon.auditor.get("/metrics").must(200).raw.decode()
    for word in (world.id + '"', "a-telling-label", "planner-service", world.root):
        check(word not in text, word)


@scene
def who_sees_one_project_has_the_figures_of_that_alone(daemon):
    world, other = daemon.world(), daemon.world()
    world.submit(reads("a"))
    other.submit(reads("a"), reads("b"), broken("c"))
    other.submit(free("d"), name="ready")
    other.approve("ready")
    other.handoff("d", "ready")
    scoped = daemon.client("scoped-auditor", "auditor", projects=[world.id])
    families = parse(scoped.get("/metrics").must(200).raw.decode())
    equal(families["admitd_holds"][1], {("admitd_holds", (("arm", "never_approved"), ("kind", "needs_grant"))): 1})
    equal((value(families, "admitd_runs_live"), value(families, "admitd_packages_ready")), (0, 0))
    equal(value(families, "admitd_recovery_items", kind="package_held"), 1)
    check("admitd_decisions_total" not in families and "admitd_events_total" not in families, "what others do")
    check(scrape(daemon)["admitd_holds"][1] != families["admitd_holds"][1], "an auditor of all projects")


# ---- counts for plots

@scene
def stats_count_decisions_in_buckets_and_holds_as_they_are(daemon):
    world = daemon.world()
    world.submit(reads("a"), broken("b"), free("c"))
    start = rfc3339(-3600)
    world.approve(status=409)
    query = "/v1/stats?project=%s&from=%s&bucket=60" % (world.id, start)

    def stats():
        return daemon.auditor.get(query).must(200).json

    found = stats()
    equal((found["from"], found["bucketSeconds"]), (start, 60))
    equal(sum(bucket.get("approval", {}).get("blocked", 0) for bucket in found["decisions"]), 2)
    equal(sum(bucket.get("approval", {}).get("warning", 0) for bucket in found["decisions"]), 1)
    equal(found["holds"], [{"kind": "needs_grant", "arm": "never_approved", "count": 1},
                           {"kind": "needs_plan_change", "arm": None, "count": 1}])
    equal(found["ages"], {"under15m": 2, "under1h": 0, "under4h": 0, "under1d": 0, "over1d": 0})
    for bucket in found["decisions"]:
        check(found["from"] <= bucket["at"] < found["to"], bucket)
    other = daemon.world()
    scoped = daemon.client("scoped", "auditor", projects=[other.id])
    equal(scoped.get("/v1/stats").must(200)["holds"], [])
    equal(scoped.get(query).must(200)["decisions"], [])
    for wrong in ("from=x", "to=2026", "from=%s&to=%s" % (rfc3339(0), rfc3339(-5)), "bucket=5", "bucket=60&from=" + rfc3339(-90 * 3600),
                  "what=1"):
        is_problem(daemon.auditor.get("/v1/stats?" + wrong), 400, "bad_request")


# ---- finding

@scene
def a_search_finds_by_the_beginning_of_an_id_and_by_what_people_call_it(daemon):
    world = daemon.world()
    world.submit(reads("Importer"), free("b"))
    world.grant("Importer")
    decision = world.approve()["packages"][0]["decisionId"]
    run = world.handoff("Importer")["run"]["id"]
    package = world.pid("Importer")
    grant = daemon.admin.get("/v1/grants?package=" + package).must(200)["items"][0]["id"]

    def find(text, client=daemon.admin):
        return [(item["kind"], item["id"]) for item in client.get("/v1/search?q=" + text).must(200)["items"]]

    for text, wanted in ((package[:12], ("package", package)), ("imPORT", ("package", package)), (run[:14], ("run", run)),
                         (grant[:14], ("grant", grant)), (decision[:20], ("decision", decision)), (world.id, ("project", world.id)),
                         (world.task_id(), ("task", world.task_id())), ("plan", ("task", world.task_id()))):
        check(wanted in find(text), "%s does not find %s: %s" % (text, wanted, find(text)))
    item = next(item for item in daemon.admin.get("/v1/search?q=importer&limit=1").must(200)["items"] if item["kind"] == "package")
    equal(item, {"kind": "package", "id": package, "label": "Importer", "project": world.id, "task": world.task_id(), "packageId": package})
    equal(find("no-such-thing"), [])
    equal(find("%25"), [])
    equal(find("run_%25"), [])
    other = daemon.client("scoped", "auditor", projects=[daemon.world().id])
    for text in (package, run, grant, decision, world.id, "Importer"):
        equal(find(text, other), [], text)
    for wrong in ("", "?q=", "?q=" + "x" * 101, "?q=a&limit=0", "?q=a&what=1"):
        is_problem(daemon.admin.get("/v1/search" + wrong), 400, "bad_request")


if __name__ == "__main__":
    run_scenes()
