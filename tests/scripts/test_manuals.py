#!/usr/bin/env python3
"""The manual pages and --help tell the same: every command and option of the one stands in the other. Speaks TAP."""
import os
import re
import subprocess
import sys

MANUALS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))), "docs", "man")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def manual(name):
    """The page without its marks, as one text."""
    with open(os.path.join(MANUALS, name), encoding="utf-8") as stream:
        text = stream.read()
    text = text.replace("\\-", "-").replace('"', "")
    return re.sub(r"^\.(?:BR|BI|RB|RI|IR|IB|B|I|SS|SH)[ \t]+", "", text, flags=re.M).replace(" , ", ", ")


def help_of(program, *arguments):
    run = subprocess.run([os.environ[program], *arguments, "--help"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, check=False)
    assert run.returncode == 0, "--help ends with status %d" % run.returncode
    return run.stdout


def commands():
    """The names in the list of admitctl --help; each line is two blanks or a star, a name, its summary."""
    lines = help_of("ADMITCTL").split("Commands\n", 1)[1].split("\n\n", 1)[0].splitlines()
    return [re.match(r"[* ] ([a-z]+(?: [a-z]+)?)(?: |$)", line).group(1) for line in lines]


def manual_commands():
    section = manual("admitctl.1").split("COMMANDS\n", 1)[1].split("OPTIONS\n", 1)[0]
    heads = re.findall(r"^\.TP\n(.+)$", section, re.M)
    return [name.strip() for head in heads for name in head.split(",")]


def every_command_is_in_the_manual_and_no_other():
    found, wanted = sorted(manual_commands()), sorted(commands())
    assert found == wanted, "only in one of them: %s" % ", ".join(sorted(set(found) ^ set(wanted)))


def every_general_option_of_admitctl_is_in_the_manual_and_no_other():
    compare_options("ADMITCTL", "admitctl.1", set(OPTION.findall("--reason")))


def every_option_of_admitd_is_in_the_manual_and_no_other():
    compare_options("ADMITD", "admitd.8", set())


def compare_options(program, page, of_examples):
    wanted = set(re.findall(r"^ +(?:-\w, )?(--[a-z][a-z-]+)", help_of(program), re.M))
    found = set(OPTION.findall(manual(page))) - of_examples
    assert wanted, "--help lists no option"
    assert found == wanted, "only in one of them: %s" % ", ".join(sorted(found ^ wanted))


def every_function_of_the_header_is_in_the_manual_and_no_other():
    header = os.path.join(os.path.dirname(os.path.dirname(MANUALS)), "policy", "admit.h")
    with open(header, encoding="utf-8") as stream:
        code = re.sub(r"/\*.*?\*/", "", stream.read(), flags=re.S)
    wanted = set(re.findall(r"\b(admit_\w+)\(", code))
    found = set(re.findall(r"\b(admit_\w+)\(", manual("admit.3").split("DESCRIPTION\n", 1)[0]))
    assert wanted and found == wanted, "only in one of them: %s" % ", ".join(sorted(found ^ wanted))


CASES = (
    every_command_is_in_the_manual_and_no_other,
    every_general_option_of_admitctl_is_in_the_manual_and_no_other,
    every_option_of_admitd_is_in_the_manual_and_no_other,
    every_function_of_the_header_is_in_the_manual_and_no_other,
)


def main():
    print("1..%d" % len(CASES))
    failed = 0
    for number, case in enumerate(CASES, 1):
        try:
            case()
            print("ok %d - %s" % (number, case.__name__))
        except (AssertionError, OSError, IndexError) as error:
            failed += 1
            print("not ok %d - %s\n# %s" % (number, case.__name__, str(error).replace("\n", " / ")))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
