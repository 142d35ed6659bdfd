#!/bin/sh
# Generates clients from the API's OpenAPI document and runs programs that use them against the service:
# clients.sh PATH-OF-take5 FOLDER-OF-THE-GENERATORS FOLDER-FOR-THE-CLIENTS
set -eu

take5=$1
generators=$(realpath "$2")
clients=$3
here=$(dirname "$0")
samples=$here/../../samples
set -- --accounts on --webhook-permit 127.0.0.1
. "$here/service.sh"

# What the service has sent to users lies in files.
mkfifo "$folder/port"
python3 "$here/mail.py" "$folder/mail" >"$folder/port" &
mail=$!
trap 'kill $service $mail 2>/dev/null || true; wait $service 2>/dev/null || true; rm -rf "$folder"' EXIT
read -r port <"$folder/port"
curl --silent --fail --output /dev/null --header "Authorization: Bearer $TAKE5_API_KEY" --header 'Content-Type: application/json' \
  --data "{\"url\":\"http://127.0.0.1:$port/\",\"kinds\":[\"account_verification_requested\"]}" "$url/v1/webhooks"

rm -rf "$clients"
mkdir -p "$clients"
curl --silent --fail --output "$clients/openapi.json" "$url/openapi.json"
"$take5" still "$samples/front.mp4" -o "$folder/photo.jpg" >/dev/null
export TAKE5_URL=$url TAKE5_PHOTO=$folder/photo.jpg TAKE5_SAMPLES=$samples TAKE5_MAIL=$folder/mail

has() { grep --quiet "$1" "$clients/openapi.json"; }

# The generator warns about media types that it does not support, such as an image as a body. What it leaves out, no program can use.
PATH=$generators:$PATH openapi-python-client generate --path "$clients/openapi.json" --meta none \
  --output-path "$clients/python/take5_client" >"$clients/python.log" 2>&1 || { cat "$clients/python.log"; exit 1; }
! grep 'will not be generated' "$clients/python.log"
for program in client phone; do PYTHONPATH=$clients/python "$generators/python" "$here/$program.py"; done
echo "openapi-python-client: all checks passed"

# Of an operation with several bodies openapi-generator makes the first, a form. Without the forms it makes JSON, whose files are uploads.
python3 -c '
import json, sys
document = json.load(open(sys.argv[1]))
operations = [operation for path in document["paths"].values() for operation in path.values() if "requestBody" in operation]
for content in [operation["requestBody"]["content"] for operation in operations]:
    if len(content) > 1:
        content.pop("multipart/form-data", None)
json.dump(document, open(sys.argv[2], "w"))' "$clients/openapi.json" "$clients/json.json"
"$generators/openapi-generator-cli" generate --generator-name typescript-fetch --input-spec "$clients/json.json" \
  --output "$clients/typescript/client" >"$clients/typescript.log" 2>&1 || { cat "$clients/typescript.log"; exit 1; }
cp "$here/TypeScriptClient"/* "$clients/typescript"
tsc --project "$clients/typescript"
if has '"Inclusion"'; then export TAKE5_INCLUDES=1; fi
node "$clients/typescript/program/phone.js"
echo "openapi-generator, TypeScript: all checks passed"

# A property named `container` would shadow a variable in the code that openapi-generator generates.
"$generators/openapi-generator-cli" generate --generator-name swift6 --input-spec "$clients/openapi.json" \
  --output "$clients/swift" --name-mappings container=family \
  --additional-properties library=urlsession,responseAs=AsyncAwait,projectName=Take5Client >"$clients/swift.log" 2>&1 ||
  { cat "$clients/swift.log"; exit 1; }
set --
if has '"verifyEmail"'; then set -- "$@" -Xswiftc -DVERIFIES; fi
if has '"Inclusion"'; then set -- "$@" -Xswiftc -DINCLUDES; fi
TAKE5_CLIENT=$(realpath "$clients/swift") "${SWIFT:-swift}" run --package-path "$here/SwiftClient" "$@" \
  --scratch-path "$clients/swift-build" >"$clients/swift-build.log" 2>&1 || { cat "$clients/swift-build.log"; exit 1; }
echo "openapi-generator, Swift: all checks passed"
