#!/usr/bin/env bash
# Fuzzes each target for some seconds, two at a time: fuzz.sh FOLDER SECONDS [TARGET…], where FOLDER is the scratch path of the
# build. Inputs with new coverage are added to FOLDER/corpus. Fails if there is a finding, and prints how to replay it.
set -euo pipefail

folder=$(realpath "$1") seconds=$2
shift 2
source=$(dirname "$(realpath "$0")")
program=$folder/release/take5-fuzz

# A trap of Swift is reported by the sanitizer, with the frames of C.
export SWIFT_BACKTRACE=enable=no
export LSAN_OPTIONS=suppressions=$source/../Sanitizers/lsan.txt:print_suppressions=0
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1

fuzz() {
  local target=$1 corpus=$folder/corpus/$1 log=$folder/logs/$1.log dictionary=$source/dictionaries/$1.dict
  [ -d "$source/seeds/$target" ] || { echo "$target has no seeds in $source/seeds/$target"; return 1; }
  mkdir -p "$corpus" "$folder/logs" "$folder/findings"
  [ -e "$dictionary" ] && dictionary=-dict=$dictionary || dictionary=
  # An input that takes ten seconds, or memory that a child does not have, is a finding too.
  "$program" "--target=$target" $dictionary -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="$folder/findings/$target-" "$corpus" "$source/seeds/$target" \
    >"$log" 2>&1 </dev/null && status=0 || status=$?
  awk -v target="$target" '
    / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") coverage = $(i + 1); else if ($i == "corp:") corpus = $(i + 1) }
    /stat::number_of_executed_units/ { executions = $2 }
    END { printf "%-12s %10d executions, coverage %5d, corpus %s\n", target, executions, coverage, corpus }' "$log"
  [ $status = 0 ] && return
  grep -m 1 -E 'ERROR|SUMMARY|runtime error|Fatal error' "$log" || tail -5 "$log"
  sed -nE 's|.*Test unit written to (.*)|  replay: '"$program --target=$target"' \1|p' "$log"
  return 1
}
export -f fuzz
export folder seconds source program

targets=("$@")
[ $# -gt 0 ] || mapfile -t targets < <("$program" --list)
printf '%s\n' "${targets[@]}" | xargs -P 2 -I TARGET bash -c 'fuzz TARGET'
