#!/bin/sh
# Serves OpenStack Swift with its S3 interface on port 8080 until SIGTERM: one copy of each object, below /srv/store.
# AWS_ACCESS_KEY_ID, of the form ACCOUNT:USER, and AWS_SECRET_ACCESS_KEY are the keys of its one user, BUCKET is made if it is missing.
set -eu
etc=/tmp/swift data=/srv/store
account=${AWS_ACCESS_KEY_ID%%:*}
name=${AWS_ACCESS_KEY_ID#*:}
rm -rf "$etc" /tmp/ready
mkdir -p "$etc" "$data/d1"

cat >"$etc/swift.conf" <<CONF
[swift-hash]
swift_hash_path_prefix = take5
swift_hash_path_suffix = take5
CONF
port=6200
for kind in object container account; do
  swift-ring-builder "$etc/$kind.builder" create 6 1 1 >/dev/null
  swift-ring-builder "$etc/$kind.builder" add "r1z1-127.0.0.1:$port/d1" 1 >/dev/null
  swift-ring-builder "$etc/$kind.builder" rebalance >/dev/null
  cat >"$etc/$kind-server.conf" <<CONF
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $port
workers = 1
user = $(id -un)
swift_dir = $etc
devices = $data
mount_check = false
log_level = WARNING
[pipeline:main]
pipeline = $kind-server
[app:$kind-server]
use = egg:swift#$kind
fallocate_reserve = 0
CONF
  port=$((port + 1))
done
cat >"$etc/proxy-server.conf" <<CONF
[DEFAULT]
bind_ip = 0.0.0.0
bind_port = 8080
workers = 2
user = $(id -un)
swift_dir = $etc
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
memcache_servers = 127.0.0.1:11211
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
user_${account}_$name = $AWS_SECRET_ACCESS_KEY .admin
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
CONF
chmod 600 "$etc/proxy-server.conf"

memcached -l 127.0.0.1 -p 11211 -m 64 &
for kind in account container object proxy; do "swift-$kind-server" "$etc/$kind-server.conf" & done
trap 'trap - TERM; kill 0; wait' TERM INT
token=
until [ -n "$token" ]; do
  sleep 0.2
  token=$(curl --silent --header "X-Storage-User: $AWS_ACCESS_KEY_ID" --header "X-Storage-Pass: $AWS_SECRET_ACCESS_KEY" \
    --dump-header - --output /dev/null http://127.0.0.1:8080/auth/v1.0 | sed -n 's/^[Xx]-[Aa]uth-[Tt]oken: \([^[:space:]]*\).*/\1/p')
done
until curl --silent --show-error --fail --header "X-Auth-Token: $token" --request PUT "http://127.0.0.1:8080/v1/AUTH_$account/$BUCKET"; do sleep 1; done
echo "the bucket $BUCKET is there"
# The health check looks for it.
touch /tmp/ready
wait
