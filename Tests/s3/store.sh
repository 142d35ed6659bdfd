#!/bin/sh
# Starts OpenStack Swift with its s3api on loopback, in a new folder, runs a command with the store in its environment, and stops it.
#
#   store.sh COMMAND…
#
# The command gets TAKE5_TEST_S3, the URL of a new bucket for --blobs, and the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
# TAKE5_TEST_S3_ADDRESS is the address at which the store listens, for a store on a machine of its own.
# The Debian packages swift-proxy, swift-account, swift-container, swift-object, memcached and curl are needed (make test-s3 installs them).
set -eu
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/take5-s3.XXXXXX")
pids=
stop() {
  for pid in $pids; do kill "$pid" 2>/dev/null || true; done
  for pid in $pids; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' INT TERM
mkdir -p "$dir/etc" "$dir/srv/d1" "$dir/log"
port=${TAKE5_TEST_S3_PORT:-18890}
address=${TAKE5_TEST_S3_ADDRESS:-127.0.0.1}
user=$(id -un)

cat >"$dir/etc/swift.conf" <<CONF
[swift-hash]
swift_hash_path_prefix = take5
swift_hash_path_suffix = take5
CONF
number=1
for kind in account container object; do
  swift-ring-builder "$dir/etc/$kind.builder" create 6 1 1 >/dev/null
  swift-ring-builder "$dir/etc/$kind.builder" add "r1z1-127.0.0.1:$((port + number))/d1" 1 >/dev/null
  swift-ring-builder "$dir/etc/$kind.builder" rebalance >/dev/null
  cat >"$dir/etc/$kind-server.conf" <<CONF
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $((port + number))
workers = 1
user = $user
swift_dir = $dir/etc
devices = $dir/srv
mount_check = false
log_level = WARNING
[pipeline:main]
pipeline = $kind-server
[app:$kind-server]
use = egg:swift#$kind
fallocate_reserve = 0
CONF
  number=$((number + 1))
done
cat >"$dir/etc/proxy-server.conf" <<CONF
[DEFAULT]
bind_ip = $address
bind_port = $port
workers = 2
user = $user
swift_dir = $dir/etc
log_level = WARNING
[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache listing_formats bulk s3api tempauth slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:$((port + 9))
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:bulk]
use = egg:swift#bulk
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
min_segment_size = 1
s3_acl = false
[filter:tempauth]
use = egg:swift#tempauth
user_take5_tester = tested .admin
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
CONF
memcached -l 127.0.0.1 -p $((port + 9)) -u "$user" -m 64 >"$dir/log/memcached" 2>&1 &
pids=$!
for kind in account container object proxy; do
  "swift-$kind-server" "$dir/etc/$kind-server.conf" >"$dir/log/$kind" 2>&1 &
  pids="$pids $!"
done
for server in "$address:$port" "127.0.0.1:$((port + 1))" "127.0.0.1:$((port + 2))" "127.0.0.1:$((port + 3))"; do
  try=0
  # Any response shows that a server listens.
  until curl --silent --output /dev/null "http://$server/healthcheck"; do
    try=$((try + 1))
    [ "$try" -lt 100 ] || { echo "OpenStack Swift does not start:" >&2; cat "$dir"/log/* >&2; exit 1; }
    sleep 0.2
  done
done
export AWS_ACCESS_KEY_ID=take5:tester AWS_SECRET_ACCESS_KEY=tested
bucket="take5-$(date +%s)"
token=$(curl --silent --fail --header "X-Storage-User: $AWS_ACCESS_KEY_ID" --header "X-Storage-Pass: $AWS_SECRET_ACCESS_KEY" \
  --dump-header - --output /dev/null "http://$address:$port/auth/v1.0" | sed -n 's/^[Xx]-[Aa]uth-[Tt]oken: \([^[:space:]]*\).*/\1/p')
curl --silent --show-error --fail-with-body --header "X-Auth-Token: $token" --request PUT \
  "http://$address:$port/v1/AUTH_take5/$bucket" >&2
export TAKE5_TEST_S3="s3://$bucket/store?endpoint=http://$address:$port"
"$@"
