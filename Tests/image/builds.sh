#!/bin/bash
# builds.sh IMAGES NEXT OUTPUT: builds the image in the folder IMAGES again, by its lock, and compares the bytes; OUTPUT/next gets the image
# of the programs in the folder NEXT, which have the next version.
set -euo pipefail
cd "$(dirname "$0")/../.."
images=$1
next_programs=$2
output=$3
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
build() { Sources/Packaging/image/build.py Sources/Packaging/image/take5 "$@"; }
version=$(Sources/Packaging/version.sh)
archive=$(ls "$images"/take5_"$version"-1_*.tar)
package=$(ls .build/package/take5_"$version"-1_*.deb)
rm -rf "$output"
mkdir -p "$output"

echo "== the same inputs give the same bytes"
build "$output/again" "$package" --lock "${archive%.tar}.packages"
cmp "$archive" "$output/again/$(basename "$archive")"

echo "== a lock that Debian cannot meet is refused"
sed 's/^curl .*/curl 0.0-1/' "${archive%.tar}.packages" >"$output/lock"
! build "$output/other" "$package" --lock "$output/lock" 2>"$output/refused" || fail "the lock is ignored"
grep 'curl: 0.0-1 in the lock' "$output/refused" || fail "the refusal does not name the package"

echo "== the image of the next version"
next=$(Sources/Packaging/version.sh next)
TAKE5_VERSION=$next Sources/Packaging/deb.sh "$next_programs" "$output"
build "$output/next" "$output"/take5_"$next"-1_*.deb
# An upgrade fetches what is of take5 alone.
layer() { tar --extract --to-stdout --file "$1" manifest.json | jq -r '.[0].Layers[0]'; }
[ "$(layer "$archive")" = "$(layer "$(ls "$output"/next/*.tar)")" ] || fail "the layer of Debian's packages differs"
