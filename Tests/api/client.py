"""Uses the service through the client that openapi-python-client made."""

import datetime
import os
import pathlib

from take5_client import AuthenticatedClient
from take5_client.api.comments import read_comment, submit_comment
from take5_client.api.images import list_place_photos, list_reactions, submit_place_photo, submit_reaction
from take5_client.api.jobs import read_job
from take5_client.api.posts import change_post, read_post, submit_post
from take5_client.api.reading import list_posts, search_posts
from take5_client.models import (
    Camera, CommentDraft, ImageForm, Polygon, PolygonType, PostChange, PostDraft, PostForm, PostKind, PostSearch,
    PostStatus, ReactionForm, Visibility,
)
from take5_client.types import File

SAMPLES = pathlib.Path(os.environ["TAKE5_SAMPLES"])
PHOTO = pathlib.Path(os.environ["TAKE5_PHOTO"])
CLIENT = AuthenticatedClient(base_url=os.environ["TAKE5_URL"], token=os.environ["TAKE5_API_KEY"], timeout=90)
FILMED = datetime.datetime(2026, 11, 20, 18, 30, tzinfo=datetime.timezone.utc)


def file(path, media_type):
    """Returns a file as a part of a form."""
    return File(payload=path.open("rb"), file_name=path.name, mime_type=media_type)


def photo():
    """Returns the photo as a part of a form."""
    return file(PHOTO, "image/jpeg")


def submitted(form):
    """Submits a post, waits until its media are ready, and returns it as read."""
    response = submit_post.sync(client=CLIENT, body=form, prefer="wait=50")
    post = read_post.sync(response.id, client=CLIENT, wait=50)
    assert post.status == PostStatus.READY, post
    return post


def test_moment():
    """A moment with every optional field, its job, and searches that find it."""
    post = submitted(PostForm(
        kind=PostKind.TAKE5, author="ada", title="Lake", caption="Dämmerung", visibility=Visibility.FRIENDS,
        foreground=Camera.BACK, captured_at=FILMED, latitude=52.5163, longitude=-13.3777, place="lake",
        place_name="See", place_latitude=52.5, place_longitude=-13.25,
        front=file(SAMPLES / "front.mp4", "video/mp4"), back=file(SAMPLES / "back.mp4", "video/mp4")))
    assert (post.kind, post.author, post.title, post.caption) == (PostKind.TAKE5, "ada", "Lake", "Dämmerung"), post
    assert (post.visibility, post.foreground, post.captured_at) == (Visibility.FRIENDS, Camera.BACK, FILMED), post
    assert (post.location.latitude, post.location.longitude) == (52.5163, -13.3777), post
    assert (post.place.id, post.place.name, post.place.coordinate.longitude) == ("lake", "See", -13.25), post
    assert post.assets["composed"].type_ == "video/mp4", post
    job = read_job.sync(post.job.id, client=CLIENT)
    assert job.progress == 1 and job.verdict.verdict == "accepted", job
    near = list_posts.sync(client=CLIENT, box=[-13.5, 52.4, -13.3, 52.6], visibility=[Visibility.FRIENDS])
    assert [item.id for item in near.items] == [post.id], near
    ring = [[-13.5, 52.4], [-13.3, 52.4], [-13.3, 52.6], [-13.5, 52.6], [-13.5, 52.4]]
    area = Polygon(type_=PolygonType.POLYGON, coordinates=[ring])
    found = search_posts.sync(client=CLIENT, body=PostSearch(polygon=area, visibility=[Visibility.FRIENDS]))
    assert [item.id for item in found.items] == [post.id], found
    return post


def test_photos():
    """Two photos in the submitted order."""
    post = submitted(PostForm(kind=PostKind.PHOTO, author="ada", caption="A walk", photo=[photo(), photo()]))
    assert len(post.photos) == 2 and post.photos[1]["photo.small"].width, post


def test_markers():
    """Markers with an image, with a video, with text in a form, and with text in JSON."""
    image = submitted(PostForm(kind=PostKind.MARKER, author="ada", image=photo()))
    assert image.photos[0]["photo.medium"].url, image
    video = submitted(PostForm(kind=PostKind.MARKER, author="ada", video=file(SAMPLES / "back.mp4", "video/mp4")))
    assert video.assets["clip"].duration > 0, video
    text = submitted(PostForm(kind=PostKind.MARKER, author="ada", title="Here"))
    assert text.title == "Here" and text.job is None, text
    json = submitted(PostDraft(kind=PostKind.MARKER, author="ada", title="There"))
    assert json.title == "There" and json.job is None, json


def test_interactions(post):
    """A reaction, a comment, a change of the post and a photo of a place."""
    image = submit_reaction.sync(post.id, client=CLIENT, body=ReactionForm(image=photo(), author="bob"), prefer="wait=50")
    assert [item.id for item in list_reactions.sync(post.id, client=CLIENT, author="bob").items] == [image.id]
    comment = submit_comment.sync(post.id, client=CLIENT, body=CommentDraft(author="bob", text="What a light!"))
    assert read_comment.sync(post.id, comment.id, client=CLIENT).text == "What a light!"
    changed = change_post.sync(post.id, client=CLIENT, body=PostChange(caption="Dusk"))
    assert changed.caption == "Dusk" and changed.counts.comments == 1 and changed.counts.reactions == 1, changed
    submit_place_photo.sync("lake", client=CLIENT, body=ImageForm(image=photo(), author="bob"), prefer="wait=50")
    assert len(list_place_photos.sync("lake", client=CLIENT, author="bob").items) == 1
    assert not list_place_photos.sync("lake", client=CLIENT, author="ada").items


POST = test_moment()
test_photos()
test_markers()
test_interactions(POST)
