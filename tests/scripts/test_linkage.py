#!/usr/bin/env python3
"""What the built files need shows what their rooms may use (docs/architecture.md). Speaks TAP."""
import os
import subprocess
import sys

BUILD = os.environ.get("BUILDDIR", ".")
DECIDES_WITHOUT = ("libsqlite3", "libmicrohttpd", "libcurl", "libgnutls")
# Calls that open a file or a socket, or read a clock.
WORLD = {"open", "open64", "openat", "openat64", "fopen", "fopen64", "creat", "socket", "connect", "bind", "accept", "time",
         "clock_gettime", "gettimeofday", "getenv", "secure_getenv", "system", "popen", "execve", "fork"}


def built(name):
    """The file itself, not what libtool may have put in front of it."""
    inner = os.path.join(BUILD, ".libs", name)
    return inner if os.path.exists(inner) else os.path.join(BUILD, name)


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def needed(name):
    rows = output("readelf", "-d", built(name)).splitlines()
    return [row.split("[", 1)[1].split("]", 1)[0] for row in rows if "(NEEDED)" in row]


def libadmit_links_no_store_no_server_no_client():
    libraries = needed("libadmit.so")
    assert any(library.startswith("libjansson") for library in libraries), libraries
    assert not [library for library in libraries if library.startswith(DECIDES_WITHOUT)], libraries


def libadmit_calls_no_file_socket_or_clock():
    called = {row.split()[-1].split("@")[0] for row in output("nm", "-D", "--undefined-only", built("libadmit.so")).splitlines()}
    assert "memcpy" in called or "malloc" in called, "nm shows nothing"
    assert not called & WORLD, sorted(called & WORLD)


def libadmit_shows_only_its_interface():
    rows = output("nm", "-D", "--defined-only", built("libadmit.so")).splitlines()
    shown = {row.split()[-1].split("@")[0] for row in rows} - {"_init", "_fini", "_edata", "_end", "__bss_start"}
    assert shown and all(name.startswith("admit_") for name in shown if not name.startswith("__")), sorted(shown)


def admitd_links_no_http_client():
    libraries = needed("admitd")
    assert any(library.startswith("libsqlite3") for library in libraries), libraries
    assert not [library for library in libraries if library.startswith("libcurl")], libraries


def admitctl_links_no_store_and_no_server():
    libraries = needed("admitctl")
    assert any(library.startswith("libcurl") for library in libraries), libraries
    assert not [library for library in libraries if library.startswith(("libsqlite3", "libmicrohttpd"))], libraries


CASES = (
    libadmit_links_no_store_no_server_no_client,
    libadmit_calls_no_file_socket_or_clock,
    libadmit_shows_only_its_interface,
    admitd_links_no_http_client,
    admitctl_links_no_store_and_no_server,
)


def main():
    print("1..%d" % len(CASES))
    failed = 0
    for number, case in enumerate(CASES, 1):
        try:
            case()
            print("ok %d - %s" % (number, case.__name__))
        except (AssertionError, OSError, subprocess.CalledProcessError) as error:
            failed += 1
            print("not ok %d - %s\n# %s" % (number, case.__name__, error))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
