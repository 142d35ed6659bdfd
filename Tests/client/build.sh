#!/bin/sh
# Builds Take5Client in a package that depends on it alone, without optimisation and with: build.sh SWIFT FOLDER
# A warning of its code is an error.
set -eu
here=$(dirname "$0")
for configuration in debug release; do
  "$1" build --package-path "$here/phone" --scratch-path "$2" -c "$configuration" --disable-index-store -Xswiftc -warnings-as-errors
done
