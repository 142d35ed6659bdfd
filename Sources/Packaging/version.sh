#!/bin/sh
# Prints the version of take5, which Package.swift holds; TAKE5_VERSION builds another one. 'version.sh next' prints the one after it,
# for a test of an upgrade.
set -eu
version=${TAKE5_VERSION:-$(sed -n 's/^let version = .*?? "\(.*\)"$/\1/p' "$(dirname "$0")/../../Package.swift" | grep .)}
[ "${1:-}" = next ] || { echo "$version"; exit; }
echo "${version%%-*}" | awk -F. '{ print $1 "." $2 + 1 ".0" }'
