# Starts a service for a test of the API; to be sourced, with its options behind, where $take5 is the program. It sets
# $folder and $url, and the key; the service ends with the shell.

# Directly under /tmp: as root, PostgreSQL runs as another user, who has to reach it.
folder=$(mktemp -d /tmp/take5-api.XXXXXX)
chmod 755 "$folder"
export TAKE5_API_KEY=test-api-key
mkfifo "$folder/url"
"$take5" serve --workers 1 --listen 127.0.0.1:0 --data "$folder/data" "$@" >"$folder/url" 2>"$folder/service.log" &
service=$!
trap 'kill $service 2>/dev/null || true; wait $service 2>/dev/null || true; rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
read -r url <"$folder/url" || { cat "$folder/service.log"; exit 1; }
