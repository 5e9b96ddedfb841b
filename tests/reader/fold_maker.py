#!/usr/bin/env python3
"""Prints reader/fold_table.c: which characters words are made of and what they are compared as, asked of SQLite's unicode61 one code point after
another. Only for when that changes; tests/reader/test_rank.c holds the table against SQLite on every build."""
import sqlite3

BATCH = 20000
POINTS = [point for point in range(0x80, 0x110000) if not 0xD800 <= point < 0xE000]


def tokens():
    """For each code point the words of `x?y ?`, where ? is the character."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'unicode61')")
    database.execute("CREATE VIRTUAL TABLE words USING fts5vocab(texts, 'instance')")
    for begin in range(0, len(POINTS), BATCH):
        batch = POINTS[begin:begin + BATCH]
        database.execute("DELETE FROM texts")
        database.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", [(p, f"x{chr(p)}y {chr(p)}") for p in batch])
        found = {}
        for word, point, offset in database.execute("SELECT term, doc, offset FROM words"):
            found.setdefault(point, []).append((offset, word))
        for point in batch:
            yield point, [word for _, word in sorted(found[point])]


def read():
    """Characters of words with what they become, and marks, which belong to a word and become nothing."""
    folds, marks = {}, []
    for point, words in tokens():
        if words[:2] == ["x", "y"]:
            assert len(words) == 2, point
        elif words == ["xy"]:
            marks.append(point)
        else:
            inside = words[0][1:-1]
            assert len(inside) == 1 and words[1:] == [inside], point
            folds[point] = ord(inside)
    return folds, marks


def edges(points):
    """Where a run of them begins, where it ends, and so on."""
    found = []
    for point in points:
        if found and found[-1] == point:
            found[-1] = point + 1
        else:
            found += [point, point + 1]
    return found[:-1] if found[-1] == 0x110000 else found  # what no character has belongs to the last run


def runs(folds):
    """(first, count, step, to, moves): `count` characters, each `step` behind the other; the first becomes `to`, and so do the others, or
    they move by the same distance."""
    left = sorted((point, to) for point, to in folds.items() if point != to)
    while left:
        best = (0, 0, 0, 0, 0)
        for step in (1, 2):
            for moves in (0, 1):
                first, to = left[0]
                count = 1
                while count < len(left) and left[count] == (first + count * step, to + count * step * moves):
                    count += 1
                best = max(best, (count, -step, moves, first, to))
        count, step, moves, first, to = best
        yield f"{{0x{first:X}, {count}, {-step}, 0x{to:X}, {'true' if moves else 'false'}}}"
        left = left[count:]


def main():
    folds, marks = read()
    print("/* Made by tests/reader/fold_maker.py. */")
    print('#include "reader/fold_table.h"\n')
    for name, points in (("edges", edges(sorted(folds))), ("marks", marks)):
        print(f"const uint32_t fold_{name}[] = {{{', '.join(f'0x{point:X}' for point in points)}}};")
        print(f"const size_t fold_{name[:-1]}_count = sizeof(fold_{name}) / sizeof(fold_{name}[0]);\n")
    print(f"const struct fold_run fold_runs[] = {{{', '.join(runs(folds))}}};")
    print("const size_t fold_run_count = sizeof(fold_runs) / sizeof(fold_runs[0]);")


main()
