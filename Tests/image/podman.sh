# shellcheck shell=bash
# A podman with a storage of its own, in the namespaces of run.sh, which reads this file. It is the same on every machine: without
# systemd, so nothing repeats health checks and no container has a cgroup, and without the right to raise limits.

# Commands of this shell that begin with podman use the storage in a folder.
start_podman() {
  storage=$1/storage
  mkdir -p "$storage"
  mount -t tmpfs tmpfs /run
  # crun refuses hierarchies of both versions.
  umount --recursive --lazy /sys/fs/cgroup
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  export CONTAINERS_STORAGE_CONF=$1/storage.conf CONTAINERS_CONF=$1/containers.conf
  printf '[storage]\ndriver = "overlay"\nrunroot = "%s/run"\ngraphroot = "%s/graph"\n' "$storage" "$storage" >"$CONTAINERS_STORAGE_CONF"
  cat >"$CONTAINERS_CONF" <<CONF
[containers]
cgroups = "disabled"
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
[secrets.opts]
path = "$storage/secrets"
[network]
network_backend = "netavark"
network_config_dir = "$storage/networks"
CONF
}

# Ends all containers, and unmounts what they had.
stop_podman() {
  podman rm --all --force --time 0 >/dev/null 2>&1 || true
  awk -v storage="$storage" 'index($2, storage) == 1 { print $2 }' /proc/mounts | sort -r | while read -r mount; do umount --lazy "$mount"; done
}
