#!/bin/sh
# setup.sh ROOT: the program of the image, and its folder.
set -eu
root=$1
install -m 755 "$(dirname "$0")/store.sh" "$root/usr/local/bin/store"
install -d -o 871 -g 871 -m 700 "$root/srv/store"
rm -rf "$root/lib/systemd" "$root/etc/systemd"
# What an installation notes of its own day, and bytecode, which has the times of its sources.
find "$root/usr" -name __pycache__ -type d -exec rm -rf {} +
rm -rf "$root"/var/log/* "$root"/var/lib/apt/lists/*_* "$root"/var/cache/* "$root"/tmp/* "$root"/run/*
rm -rf "$root"/etc/*- "$root"/var/lib/dpkg/*-old "$root"/etc/apt/sources.list* "$root/etc/apt/preferences.d/lock" "$root/etc/hostname" "$root/etc/resolv.conf"
