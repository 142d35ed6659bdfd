#!/usr/bin/env bash
# run.sh [NAME…]: builds and runs the tests, or those of some targets (StoreTests) and suites (ForgettingTests): a line for each suite as
# it ends, and at the end what failed. The whole output is in .build/tests.log. `make test` calls it with BUILD, the
# command of the build.
set -euo pipefail
cd "$(dirname "$0")/.."

# The targets to build, and what to run of them. Without a name: all but PlayersTests, which needs programs that `make test` does not
# install, and ChaosTests, whose storms take two cores for minutes.
targets=() filters=()
for name in "$@"; do
  if [ -d "Tests/$name" ]; then
    targets+=("$name") filters+=(--filter "^$name\\.")
    continue
  fi
  # A suite: the targets that declare it.
  mapfile -t declaring < <(grep -lrE "^(struct|final class|actor|enum) $name\\b" Tests/*Tests --include='*.swift' | cut -d/ -f2 | sort -u)
  [ ${#declaring[@]} -gt 0 ] || { echo "run.sh: no target and no suite has the name $name" >&2; exit 64; }
  for target in "${declaring[@]}"; do targets+=("$target") filters+=(--filter "^$target\\.$name/"); done
done
[ $# -gt 0 ] || mapfile -t targets < <(cd Tests && printf '%s\n' *Tests | grep -vE '^(Players|Chaos)Tests$')

env TAKE5_TARGETS="${targets[*]}" $BUILD --build-tests
built=$SECONDS

# run WIDTH ARGUMENT…: runs tests in a process of their own, WIDTH at a time. watch.py makes it end, and prints its status.
run() {
  local width=$1
  shift
  NO_COLOR=1 SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=$width Tests/watch.py .build/tests.log \
    .build/tests/release/take5PackageTests.xctest --testing-library swift-testing "$@" || echo "== status $?, of watch.py"
}

# Tests that wait for servers and timers have a process of their own: tests that compute hold the threads that serve them. Tests of
# whole services start several processes each.
waiting='^(Postgres|EmbeddedPostgres|HTTPServer|HTTPClient|Queue|Blobs|Store|Integrity|Rooms)Tests\.'
services='^EndToEndTests\.'
: >.build/tests.log
{
  if [ $# -gt 0 ]; then
    run 8 "${filters[@]}"
  else
    run 8 --skip "$waiting" --skip "$services"
    run 32 --filter "$waiting"
    run 8 --filter "$services"
  fi
} | Tests/report.pl "$built"
