"""tap.py - tests that are sentences, printed as TAP.

    from tap import test, check, equal, run

    @test
    def a_head_request_has_no_body(server):
        equal(..., ...)

    if __name__ == "__main__":
        run(make_fixture)      # a context manager; what it yields is the tests' argument

Each function is one line of TAP; its name is the sentence. The first check of a test that fails ends that test, with where
and what as a diagnostic. The exit status is 0 only if all passed.
"""
import sys
import traceback

TESTS = []


def test(function):
    """Registers a test; the tests run in the order of the file."""
    TESTS.append(function)
    return function


class Failed(AssertionError):
    """A check that did not hold."""


def check(condition, text):
    """Fails the test with `text` unless `condition` holds."""
    if not condition:
        raise Failed(text)


def equal(found, wanted, what=""):
    """Fails the test unless both are equal."""
    if found != wanted:
        raise Failed("%s%r, wanted %r" % (what + ": " if what else "", found, wanted))


def diagnostic(text):
    """Lines that TAP readers show but do not judge."""
    for line in str(text).splitlines():
        print("# " + line)


def run_one(number, function, arguments):
    """True if the test passed; prints its line."""
    sentence = function.__name__.replace("_", " ")
    try:
        function(*arguments)
    except Exception as fault:  # a test may fail in any way
        print("not ok %d - %s" % (number, sentence))
        frames = traceback.extract_tb(fault.__traceback__)
        place = [frame for frame in frames if frame.name == function.__name__] or frames
        diagnostic("line %d: %s: %s" % (place[-1].lineno, type(fault).__name__, fault))
        return False
    print("ok %d - %s" % (number, sentence))
    return True


def run(fixture=None):
    """Runs all tests, inside the context that `fixture()` makes if there is one, and ends the process."""
    failed = 0
    print("1..%d" % len(TESTS))
    if fixture is None:
        failed = sum(not run_one(number, function, ()) for number, function in enumerate(TESTS, 1))
    else:
        with fixture() as argument:
            failed = sum(not run_one(number, function, (argument,)) for number, function in enumerate(TESTS, 1))
    sys.stdout.flush()
    sys.exit(1 if failed else 0)
