#!/usr/bin/env python3
"""What is built keeps to its rooms' limits and to its manual pages (docs/architecture.md). tests/policy and tests/cli show
the rest of it for libadmit and for admitctl's page. Speaks TAP.
"""
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
BUILD = os.environ.get("BUILDDIR", ".")


class Skip(Exception):
    pass


def built(name):
    """The file itself, not what libtool may have put in front of it."""
    for path in (os.path.join(BUILD, ".libs", name), os.path.join(BUILD, name)):
        if os.path.exists(path):
            return path
    raise Skip(name + " is not built")


def text_of(*name):
    path = os.path.join(TOP, *name)
    if not os.path.exists(path):
        raise Skip(os.path.join(*name) + " is not written")
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def needed(name):
    rows = subprocess.run(("readelf", "-d", built(name)), stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", rows)


def links(program, wanted, refused):
    libraries = needed(program)
    assert any(library.startswith(wanted) for library in libraries), libraries
    assert not [library for library in libraries if library.startswith(refused)], libraries


def admitctl_links_no_store_and_no_server():
    links("admitctl", "libcurl", ("libmicrohttpd",))


def admitd_links_no_http_client():
    links("admitd", "libsqlite3", ("libcurl",))


def every_option_of_admitd_is_in_its_manual_and_no_other():
    page = text_of("docs", "man", "admitd.8").replace("\\-", "-")
    run = subprocess.run((built("admitd"), "--help"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True)
    agree(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page), re.findall(r"(?<![\w-])--[a-z][a-z-]+", run.stdout))


def every_function_of_libadmit_is_in_its_manual_and_no_other():
    header = re.sub(r"/\*.*?\*/", "", text_of("policy", "admit.h"), flags=re.S)
    synopsis = text_of("docs", "man", "admit.3").split(".SH DESCRIPTION", 1)[0]
    agree(re.findall(r"\b(admit_\w+)\(", synopsis), re.findall(r"\b(admit_\w+)\(", header))


def agree(found, wanted):
    assert wanted, "nothing to look for"
    assert set(found) == set(wanted), "only in one of them: " + ", ".join(sorted(set(found) ^ set(wanted)))


CASES = (
    admitctl_links_no_store_and_no_server,
    admitd_links_no_http_client,
    every_option_of_admitd_is_in_its_manual_and_no_other,
    every_function_of_libadmit_is_in_its_manual_and_no_other,
)


def main():
    print("1..%d" % len(CASES))
    failed = 0
    for number, case in enumerate(CASES, 1):
        try:
            case()
            print("ok %d - %s" % (number, case.__name__))
        except Skip as why:
            print("ok %d - %s # SKIP %s" % (number, case.__name__, why))
        except (AssertionError, OSError, subprocess.CalledProcessError) as error:
            failed += 1
            print("not ok %d - %s\n# %s" % (number, case.__name__, str(error).replace("\n", " / ")))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
