#!/usr/bin/env bash
# run.sh address|thread SANITIZED PLAIN ARGUMENT…: runs tests of the build folder SANITIZED, as `swift test` does, with the
# media programs of the build folder PLAIN. ARGUMENTs are those of `swift test`, such as --filter and --skip.
set -euo pipefail
sanitizer=$1 sanitized=$2/release plain=$3/release folder=$2/run
shift 3
lists=$(cd "$(dirname "$0")" && pwd)

# A test finds the programs that it starts in the folder of its own program. The sandbox of a media process limits the
# address space, of which a sanitizer reserves terabytes, and permits none of a sanitizer's own system calls. The mutator
# measures the memory that it holds, without what a sanitizer holds.
rm -rf "$folder" && mkdir -p "$folder"
for program in "$sanitized"/{take5PackageTests.xctest,take5,PostgresOwner} "$plain"/{take5-media,hostile-media,mutate}; do
  # A build of some targets has only the programs that their tests start.
  if [ -e "$program" ]; then ln "$program" "$folder"; fi
done

# A failed allocation of a size in a hostile header is a result, as without a sanitizer.
common=allocator_may_return_null=1
case $sanitizer in
  address)
    export ASAN_OPTIONS="$common:detect_leaks=1:detect_stack_use_after_return=1"
    export LSAN_OPTIONS="suppressions=$lists/lsan.txt:print_suppressions=0"
    export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1"
    ;;
  thread) export TSAN_OPTIONS="$common:second_deadlock_stack=1:suppressions=$lists/tsan.txt" ;;
esac
# Swift's own handler of crashes copies the stack with a function that AddressSanitizer checks.
export SWIFT_BACKTRACE=enable=no
status=0
"$folder"/take5PackageTests.xctest --testing-library swift-testing "$@" || status=$?
# EX_UNAVAILABLE: the build has no such tests.
[ "$status" = 69 ] || exit "$status"
