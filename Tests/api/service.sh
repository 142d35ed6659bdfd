# Starts a service for a test of the API. This file is sourced: $take5 is the program, the positional parameters are
# further options. It sets $folder, $url and TAKE5_API_KEY; the service ends with the shell.

# Directly in /tmp: as root, PostgreSQL runs as another user, which must be able to enter the folder.
folder=$(mktemp -d /tmp/take5-api.XXXXXX)
chmod 755 "$folder"
export TAKE5_API_KEY=test-api-key
mkfifo "$folder/url"
"$take5" serve --slots 1 --listen 127.0.0.1:0 --data "$folder/data" "$@" >"$folder/url" 2>"$folder/service.log" &
service=$!
trap 'kill $service 2>/dev/null || true; wait $service 2>/dev/null || true; rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
read -r url <"$folder/url" || { cat "$folder/service.log"; exit 1; }
