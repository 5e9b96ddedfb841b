#!/bin/sh
# replay.sh - every file of tests/fuzz/corpus/NAME through fuzz_NAME; one TAP line a target.
set -u
count=0
failed=0
for corpus in "$SRCDIR"/tests/fuzz/corpus/*/; do
	name=$(basename "$corpus")
	count=$((count + 1))
	if output=$("$BUILDDIR/fuzz_$name" "$corpus"* 2>&1); then
		echo "ok $count - the corpus of $name passes"
	else
		printf '%s\n' "$output" | sed 's/^/# /'
		echo "not ok $count - the corpus of $name passes"
		failed=1
	fi
done
echo "1..$count"
[ "$count" -gt 0 ] && [ "$failed" -eq 0 ]
