#!/bin/sh
# Tests the API against its OpenAPI document with schemathesis, all operations as a back-end with its key and then as a user
# with a token: run.sh PATH-OF-take5 PATH-OF-schemathesis
set -eu

take5=$1
schemathesis=$2
here=$(dirname "$0")
# The maximum number of cases for each operation in the fuzzing phase; there are further phases.
examples=${EXAMPLES:-130}
seed=${SEED:-20261120}
# Of each of the two clients.
min_cases=${MIN_CASES:-4000}

# An attempt at a password counts for its address, which the proxy says.
set -- --key-requests 10000000 --author-submissions 10000000 --accounts on --trusted-proxy 127.0.0.1
. "$here/service.sh"

# Data for reads: a post with its job, media and a comment, and one image of each kind.
request() { curl --silent --fail --header "Authorization: Bearer $TAKE5_API_KEY" --header 'Prefer: wait=50' "$@"; }
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
reaction=$(request --form image=@"$folder/photo.jpg" --form author=grace "$url/v1/posts/$post_id/reactions")
reaction_id=$(echo "$reaction" | sed 's/.*"id":"\([0-9a-f-]*\)".*/\1/')
put() { request --header 'Content-Type: image/jpeg' --data-binary @"$folder/photo.jpg" "$@"; }
image=$(put --request PUT "$url/v1/users/ada/profile-image")
image_id=$(echo "$image" | sed 's/.*"url":"\/v1\/images\/\([0-9a-f-]*\)".*/\1/')
put --output /dev/null --request PUT "$url/v1/itineraries/spring/thumbnail"
photo=$(put "$url/v1/places/gate/photos")
photo_id=$(echo "$photo" | sed 's/.*"id":"\([0-9a-f-]*\)".*/\1/')
# Users and what they have to each other. Of two friends each asks the other one.
json() { request --header 'Content-Type: application/json' "$@"; }
json --output /dev/null --request PUT --data '{"user_name":"ada","name":"Ada Lovelace"}' "$url/v1/users/ada"
for path in ada/friends/grace grace/friends/ada ada/blocks/eve "ada/likes/$post_id" "ada/bookmarks/$post_id" \
  ada/favourites/gate; do
  request --output /dev/null --request PUT "$url/v1/users/$path"
done
minted=$(json --data '{}' "$url/v1/users/ada/tokens")
token=$(echo "$minted" | sed 's/.*"token":"\([^"]*\)".*/\1/')
token_id=$(json --data '{}' "$url/v1/users/ada/tokens" | sed 's/.*"id":"\([0-9a-f-]*\)".*/\1/')
upload_id=$(request --header 'Tus-Resumable: 1.0.0' --header 'Upload-Length: 1000' --header 'Take5-User: ada' --request POST \
  --dump-header - --output /dev/null "$url/v1/uploads" | tr -d '\r' | sed -n 's/^Location: .*\///p')
collection=$(json --data '{"author":"ada","kind":"itinerary","name":"Berlin","items":[{"place":"gate"}]}' "$url/v1/collections")
collection_id=$(echo "$collection" | sed 's/.*"id":"\([0-9a-f-]*\)","items".*/\1/')
json --output /dev/null --request PUT --data '{"role":"editor"}' "$url/v1/collections/$collection_id/members/grace"
report_id=$(json --data "{\"author\":\"grace\",\"post\":\"$post_id\",\"reason\":\"spam\"}" "$url/v1/reports" |
  sed 's/.*"id":"\([0-9a-f-]*\)".*/\1/')
case_id=$(request "$url/v1/moderation/cases" | sed 's/.*"id":"\([0-9a-f-]*\)".*/\1/')
for name in "$collection_id" "$report_id" "$case_id" "$upload_id" "$post_id" "$job_id" "$media_id" "$image_id" "$comment_id" "$reaction_id" "$photo_id" "$token_id"; do
  [ ${#name} = 36 ] || { echo "the seed data could not be submitted: $post $image $reaction $photo"; exit 1; }
done

TAKE5_URL=$url
TAKE5_PHOTO=$folder/photo.jpg
# By the segment of the path before each id.
TAKE5_SEEDS=$(cat <<JSON
{"posts": "$post_id", "comments": "$comment_id", "reactions": "$reaction_id", "jobs": "$job_id", "images": "$image_id",
 "media": "$media_id", "users": "ada", "itineraries": "spring", "places": "gate", "photos": "$photo_id",
 "friends": "grace", "blocks": "eve", "likes": "$post_id", "bookmarks": "$post_id", "favourites": "gate",
 "tokens": "$token_id", "uploads": "$upload_id", "collections": "$collection_id", "members": "grace",
 "reports": "$report_id", "cases": "$case_id"}
JSON
)
export TAKE5_URL TAKE5_PHOTO TAKE5_SEEDS SCHEMATHESIS_HOOKS="$here/hooks.py"

# check NAME CREDENTIAL USER: all checks, which is the default; named here, they would be made also where the configuration says not to.
check() {
  status=0
  TAKE5_USER=$3 TAKE5_TOKEN=$2 "$schemathesis" --config-file "$here/schemathesis.toml" run "${DOCUMENT:-$url/openapi.json}" --url "$url" \
    --max-examples "$examples" --seed "$seed" --header "Authorization: Bearer $2" --no-color \
    --request-timeout 90 ${OPTIONS:-} >"$folder/report.txt" 2>&1 || status=$?
  cat "$folder/report.txt"
  [ $status = 0 ] || exit $status
  cases=$(sed -n 's/^ *\([0-9]*\) generated.*/\1/p' "$folder/report.txt")
  echo "$cases cases $1, all checks passed"
  [ "$cases" -ge $min_cases ] || { echo "expected at least $min_cases cases"; exit 1; }
}
check 'as a back-end' "$TAKE5_API_KEY" ''
check 'as a user' "$token" ada
