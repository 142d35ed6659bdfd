#!/bin/sh
# Tests the API against its OpenAPI document with schemathesis: run.sh PATH-OF-take5 PATH-OF-schemathesis
set -eu

take5=$1
schemathesis=$2
here=$(dirname "$0")
# The maximum number of cases for each operation in the fuzzing phase; there are further phases.
examples=${EXAMPLES:-130}
seed=${SEED:-20261120}
min_cases=5000

set -- --key-requests 10000000 --author-submissions 10000000
. "$here/service.sh"

# Data for reads: a post with its job, media and a comment, and one image of each kind.
request() { curl --silent --fail --header "Authorization: Bearer $TAKE5_API_KEY" --header 'Prefer: wait=60' "$@"; }
"$take5" still "$here/../../samples/front.mp4" -o "$folder/photo.jpg"
post=$(request --form front=@"$here/../../samples/front.mp4" --form back=@"$here/../../samples/back.mp4" \
  --form kind=take5 --form author=ada --form caption=Dusk --form latitude=52.5 --form longitude=13.4 \
  "$url/v1/posts")
post_id=$(echo "$post" | sed 's/.*,"id":"\([0-9a-f-]*\)","job".*/\1/')
job_id=$(echo "$post" | sed 's/.*"url":"\/v1\/jobs\/\([0-9a-f-]*\)".*/\1/')
media_id=$(echo "$post" | sed 's/.*"poster":{[^}]*"url":"\/v1\/media\/\([0-9a-f-]*\).*/\1/')
comment=$(request --header 'Content-Type: application/json' --data '{"author":"grace","text":"What a light!"}' \
  "$url/v1/posts/$post_id/comments")
comment_id=$(echo "$comment" | sed 's/.*"id":"\([0-9a-f-]*\)".*/\1/')
request --output /dev/null --form image=@"$folder/photo.jpg" --form author=grace "$url/v1/posts/$post_id/reactions"
put() { request --header 'Content-Type: image/jpeg' --data-binary @"$folder/photo.jpg" "$@"; }
image=$(put --request PUT "$url/v1/users/ada/profile-image")
image_id=$(echo "$image" | sed 's/.*"url":"\/v1\/images\/\([0-9a-f-]*\)".*/\1/')
put --output /dev/null --request PUT "$url/v1/itineraries/spring/thumbnail"
put --output /dev/null "$url/v1/places/gate/photos"
for name in "$post_id" "$job_id" "$media_id" "$image_id" "$comment_id"; do
  [ ${#name} = 36 ] || { echo "the seed data could not be submitted: $post $image"; exit 1; }
done

TAKE5_PHOTO=$folder/photo.jpg
TAKE5_SEEDS=$(cat <<JSON
{"/v1/posts/{id}#id": "$post_id", "/v1/posts/{id}/comments#id": "$post_id", "/v1/posts/{id}/reactions#id": "$post_id",
 "/v1/posts/{id}/comments/{comment}#id": "$post_id", "/v1/posts/{id}/comments/{comment}#comment": "$comment_id",
 "/v1/jobs/{id}#id": "$job_id", "/v1/images/{id}#id": "$image_id", "/v1/media/{asset}#asset": "$media_id",
 "/v1/users/{id}/profile-image#id": "ada", "/v1/users/{id}/calendar#id": "ada",
 "/v1/itineraries/{id}/thumbnail#id": "spring", "/v1/places/{id}/photos#id": "gate"}
JSON
)
export TAKE5_PHOTO TAKE5_SEEDS SCHEMATHESIS_HOOKS="$here/hooks.py"

# Random users would hide the posts of the chains of requests, and an acting user makes `author` optional, which no schema
# can express: CallersTests sends each operation as each client.
curl --silent --fail --output "$folder/openapi.json" "${DOCUMENT:-$url/openapi.json}"
acting='{"[$]ref": "#/components/parameters/ActingUser"}'
sed -e "s|, *$acting||" -e "\\|^ *$acting,\$|d" "$folder/openapi.json" >"$folder/operations.json"
if grep --quiet "$acting" "$folder/operations.json"; then echo "the document still has the acting user"; exit 1; fi

status=0
"$schemathesis" --config-file "$here/schemathesis.toml" run "$folder/operations.json" --url "$url" --checks all \
  --max-examples "$examples" --seed "$seed" --header "Authorization: Bearer $TAKE5_API_KEY" --no-color \
  --request-timeout 90 ${OPTIONS:-} >"$folder/report.txt" 2>&1 || status=$?
cat "$folder/report.txt"
[ $status = 0 ] || exit $status
cases=$(sed -n 's/^ *\([0-9]*\) generated.*/\1/p' "$folder/report.txt")
echo "$cases cases, all checks passed"
[ "$cases" -ge $min_cases ] || { echo "expected at least $min_cases cases"; exit 1; }
