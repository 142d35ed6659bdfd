"""Is a phone without a back-end, through the client that openapi-python-client made: from its registration to its sign-out."""

import importlib.util
import os
import pathlib
import time

from take5_client import AuthenticatedClient, Client
from take5_client.api.images import submit_profile_image
from take5_client.api.posts import read_post, submit_post
from take5_client.api.reading import list_posts
from take5_client.api.relations import add_like, list_likes
from take5_client.api.tokens import register, request_verification, revoke_current_token
from take5_client.api.uploads import append_to_upload, create_upload, read_upload
from take5_client.models import Camera, PostDraft, PostKind, PostStatus, Registration, UploadReference
from take5_client.types import File

URL = os.environ["TAKE5_URL"]
SAMPLES = pathlib.Path(os.environ["TAKE5_SAMPLES"])
# Each file is named like a user, and has the last code that the user was sent.
MAIL = pathlib.Path(os.environ["TAKE5_MAIL"])


def has(operation):
    """Whether the document has an operation of accounts."""
    return importlib.util.find_spec("take5_client.api.tokens." + operation) is not None


def code(user):
    """Returns the code in a user's mail, once it is there."""
    while not (MAIL / user).exists():
        time.sleep(0.1)
    return (MAIL / user).read_text()


def registered():
    """Registers a user with a verified address; returns the user's id and client."""
    minted = register.sync(client=Client(base_url=URL), body=Registration(
        user_name="fay", password="correct horse", name="Fay", email="fay@example.org"))
    client = AuthenticatedClient(base_url=URL, token=minted.token, timeout=90)
    assert request_verification.sync_detailed(client=client).status_code == 202
    written = code(minted.user)
    if has("verify_email"):
        from take5_client.api.tokens import verify_email
        from take5_client.models import VerificationCode
        assert verify_email.sync_detailed(client=client, body=VerificationCode(code=written)).status_code == 204
    return minted.user, client


def created(client, path):
    """Creates an upload for a file; returns its id."""
    response = create_upload.sync_detailed(client=client, tus_resumable="1.0.0", upload_length=str(path.stat().st_size))
    assert response.status_code == 201, response
    return response.headers["Location"].rsplit("/", 1)[-1]


def send(client, upload, path):
    """Sends a file in two parts, the second from where the first has ended."""
    content = path.read_bytes()
    half = len(content) // 2
    for part in [slice(0, half), slice(half, None)]:
        offset = str(read_upload.sync(upload, client=client).offset)
        response = append_to_upload.sync_detailed(
            upload, client=client, body=File(payload=content[part]), tus_resumable="1.0.0", upload_offset=offset)
        assert response.status_code == 204, response


def filmed(client):
    """Submits a moment before its clips, sends them, and waits until it is ready."""
    paths = [SAMPLES / "front.mp4", SAMPLES / "back.mp4"]
    uploads = [created(client, path) for path in paths]
    front, back = [UploadReference(upload=upload) for upload in uploads]
    post = submit_post.sync(client=client, body=PostDraft(
        kind=PostKind.TAKE5, caption="Dusk", foreground=Camera.BACK, front=front, back=back))
    assert post.status == PostStatus.PROCESSING and not post.job, post
    for upload, path in zip(uploads, paths):
        send(client, upload, path)
    ready = read_post.sync(post.id, client=client, wait=50)
    assert ready.status == PostStatus.READY and ready.assets["composed"].url, ready
    return ready


def listed(client, user):
    """Lists the user's posts, with their authors if the document has that."""
    try:
        from take5_client.models import Inclusion
    except ImportError:
        return list_posts.sync(client=client, author=[user]).items
    page = list_posts.sync(client=client, author=[user], include=[Inclusion.AUTHOR, Inclusion.MINE])
    assert page.included.users[user].name == "Fay", page
    return page.items


USER, PHONE = registered()
with open(os.environ["TAKE5_PHOTO"], "rb") as PHOTO:
    IMAGE = submit_profile_image.sync(USER, client=PHONE, body=File(payload=PHOTO), prefer="wait=50")
assert IMAGE.assets["avatar"].url, IMAGE
POST = filmed(PHONE)
assert [item.id for item in listed(PHONE, USER)] == [POST.id]
add_like.sync(USER, str(POST.id), client=PHONE)
assert [item.target for item in list_likes.sync(USER, client=PHONE).items] == [str(POST.id)]
assert read_post.sync(POST.id, client=PHONE).counts.likes == 1
assert revoke_current_token.sync_detailed(client=PHONE).status_code == 204
assert read_post.sync_detailed(POST.id, client=PHONE).status_code == 401
