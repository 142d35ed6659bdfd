"""The API of the peer: what clients send and read."""

import asyncio
import os
import shutil
import time
import uuid

import psycopg
import psycopg_pool
from aiohttp import web


def synchronize(*paths):
    """Waits until files and folders are on the disk."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class Waiters:
    """Requests that wait for a change of a moment, of which PostgreSQL notifies the one connection that listens."""

    def __init__(self):
        self._events = {}

    async def listen(self, url):
        connection = await psycopg.AsyncConnection.connect(url, autocommit=True)
        await connection.execute("LISTEN moments")
        async for notification in connection.notifies():
            for event in self._events.get(notification.payload, ()):
                event.set()

    def add(self, moment):
        event = asyncio.Event()
        self._events.setdefault(moment, set()).add(event)
        return event

    def remove(self, moment, event):
        self._events[moment].discard(event)
        if not self._events[moment]:
            del self._events[moment]


class API:
    """What clients request."""

    MOST_BYTES = 64 << 20
    CHUNK = 1 << 18

    def __init__(self, options, queue, compose):
        self._folder, self._media, self._url = options.data / "sources", options.data / "media", options.database
        self._queue, self._compose, self._waiters = queue, compose, Waiters()
        self._pool = psycopg_pool.AsyncConnectionPool(options.database, min_size=4, max_size=16, open=False)

    def application(self):
        application = web.Application(client_max_size=3 * self.MOST_BYTES)
        application.add_routes([
            web.post("/moments", self.create), web.get("/moments/{moment}", self.show), web.static("/media", self._media)])
        application.cleanup_ctx.append(self._run)
        return application

    async def _run(self, application):
        async with self._pool, self._queue.open_async():
            listener = asyncio.create_task(self._waiters.listen(self._url))
            yield
            listener.cancel()

    async def create(self, request):
        """Stores both clips and the moment, whose job is enqueued in the same transaction."""
        moment, fields = str(uuid.uuid4()), {}
        folder = self._folder / moment
        folder.mkdir()
        try:
            async for part in await request.multipart():
                if part.name in ("front", "back"):
                    await self._receive(part, folder / f"{part.name}.mp4")
                    fields[part.name] = None
                else:
                    fields[part.name] = await part.text()
            if not {"front", "back", "author"} <= fields.keys() or fields.get("foreground", "front") not in ("front", "back"):
                raise web.HTTPUnprocessableEntity(text="a moment has an author, a front and a back")
            await asyncio.to_thread(synchronize, folder, self._folder)
            async with self._pool.connection() as connection:
                await connection.execute(
                    "INSERT INTO moments (id, author, foreground) VALUES (%s, %s, %s)",
                    [moment, fields["author"], fields.get("foreground", "front")])
                await self._compose.configure(connection=connection).defer_async(moment=moment)
        except BaseException:
            shutil.rmtree(folder)
            raise
        return web.json_response({"id": moment, "status": "processing"}, status=202)

    async def _receive(self, part, path):
        received = 0
        with path.open("xb") as file:
            while chunk := await part.read_chunk(self.CHUNK):
                received += len(chunk)
                if received > self.MOST_BYTES:
                    raise web.HTTPRequestEntityTooLarge(self.MOST_BYTES, received)
                file.write(chunk)
            file.flush()
            await asyncio.to_thread(os.fsync, file.fileno())

    async def show(self, request):
        """Returns a moment: with `wait` once it is ready or rejected, and with `for=output` once it has one output."""
        moment, is_short = request.match_info["moment"], request.query.get("for") == "output"
        end = time.monotonic() + min(float(request.query.get("wait", 0)), 50)
        event = self._waiters.add(moment)
        try:
            while True:
                event.clear()
                record = await self._record(moment)
                if record["status"] != "processing" or (is_short and record["outputs"]) or time.monotonic() >= end:
                    return web.json_response(record)
                try:
                    await asyncio.wait_for(event.wait(), end - time.monotonic())
                except TimeoutError:
                    pass
        finally:
            self._waiters.remove(moment, event)

    async def _record(self, moment):
        async with self._pool.connection() as connection:
            cursor = await connection.execute(
                """SELECT m.status, m.reason, coalesce(jsonb_object_agg(o.role, jsonb_build_object('url', o.url, 'bytes', o.bytes))
                     FILTER (WHERE o.role IS NOT NULL), '{}')
                   FROM moments m LEFT JOIN outputs o ON o.moment = m.id WHERE m.id = %s GROUP BY m.id""", [moment])
            row = await cursor.fetchone()
        if not row:
            raise web.HTTPNotFound()
        return {"id": moment} | dict(zip(("status", "reason", "outputs"), row))
