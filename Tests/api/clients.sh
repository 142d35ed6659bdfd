#!/bin/sh
# Generates clients from the API's OpenAPI document and runs programs that use them against the service:
# clients.sh PATH-OF-take5 FOLDER-OF-THE-GENERATORS FOLDER-FOR-THE-CLIENTS
set -eu

take5=$1
generators=$(realpath "$2")
clients=$3
here=$(dirname "$0")
samples=$here/../../samples
set --
. "$here/service.sh"

rm -rf "$clients"
mkdir -p "$clients"
curl --silent --fail --output "$clients/openapi.json" "$url/openapi.json"
"$take5" still "$samples/front.mp4" -o "$folder/photo.jpg" >/dev/null
export TAKE5_URL=$url TAKE5_PHOTO=$folder/photo.jpg TAKE5_SAMPLES=$samples

# The generator warns about media types that it does not support, such as an image as a body.
PATH=$generators:$PATH openapi-python-client generate --path "$clients/openapi.json" --meta none \
  --output-path "$clients/python/take5_client" >"$clients/python.log" 2>&1 || { cat "$clients/python.log"; exit 1; }
PYTHONPATH=$clients/python "$generators/python" "$here/client.py"
echo "openapi-python-client: all checks passed"

# A property named `container` would shadow a variable in the code that openapi-generator generates.
"$generators/openapi-generator-cli" generate --generator-name swift6 --input-spec "$clients/openapi.json" \
  --output "$clients/swift" --name-mappings container=family \
  --additional-properties library=urlsession,responseAs=AsyncAwait,projectName=Take5Client >"$clients/swift.log" 2>&1 ||
  { cat "$clients/swift.log"; exit 1; }
TAKE5_CLIENT=$(realpath "$clients/swift") "${SWIFT:-swift}" run --package-path "$here/SwiftClient" \
  --scratch-path "$clients/swift-build" >"$clients/swift-build.log" 2>&1 || { cat "$clients/swift-build.log"; exit 1; }
echo "openapi-generator, Swift: all checks passed"
