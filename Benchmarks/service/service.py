#!/usr/bin/env python3
"""The peer: a service that receives moments and makes their outputs with ffmpeg, of aiohttp, procrastinate and PostgreSQL.

A process `serve` is its API; each process `work` is a slot, which runs a job at a time. Sources and outputs are files, and on the
disk before a row mentions them."""

import argparse
import asyncio
import json
import os
import pathlib
import shutil
import subprocess
import time
import uuid

import procrastinate
import psycopg
import psycopg_pool
import uvloop
from aiohttp import web

from commands import Commands

SCHEMA = """
    CREATE TABLE moments (
      id uuid PRIMARY KEY, author text NOT NULL, foreground text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(),
      status text NOT NULL DEFAULT 'processing', reason text);
    CREATE TABLE outputs (
      moment uuid NOT NULL REFERENCES moments ON DELETE CASCADE, role text NOT NULL, url text NOT NULL, bytes bigint NOT NULL,
      PRIMARY KEY (moment, role));"""


class Rejected(Exception):
    """The reason why clips are not a moment."""


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


def synchronize(*paths):
    """Waits until files and folders are on the disk."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


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


class Slot:
    """What a job does."""

    def __init__(self, options):
        self._options, self._sources, self._media = options, options.data / "sources", options.data / "media"
        self._definition = json.loads(options.definition.read_text())
        self._commands = Commands(self._definition, options.threads)
        self.pool = psycopg_pool.AsyncConnectionPool(options.database, min_size=1, max_size=2, open=False)

    async def compose(self, moment):
        front, back = (self._sources / moment / f"{name}.mp4" for name in ("front", "back"))
        async with self.pool.connection() as connection:
            cursor = await connection.execute("SELECT foreground FROM moments WHERE id = %s", [moment])
            [foreground] = await cursor.fetchone()
        try:
            self._judge(*await asyncio.gather(self._probe(front), self._probe(back)))
        except Rejected as rejection:
            return await self._publish(moment, [], "rejected", str(rejection))
        folder = self._media / moment
        folder.mkdir(exist_ok=True)
        synchronize(self._media)
        steps = self._commands.steps(self._options.variant, front, back, foreground, folder)
        for index, (command, outputs) in enumerate(steps):
            await self._run(command)
            await asyncio.to_thread(synchronize, *outputs.values(), folder)
            await self._publish(moment, outputs.items(), "ready" if index == len(steps) - 1 else "processing")

    async def _publish(self, moment, outputs, status, reason=None):
        async with self.pool.connection() as connection:
            for role, path in outputs:
                await connection.execute(
                    "INSERT INTO outputs VALUES (%s, %s, %s, %s) ON CONFLICT (moment, role) DO UPDATE SET bytes = EXCLUDED.bytes",
                    [moment, role, f"/media/{moment}/{path.name}", path.stat().st_size])
            if status != "processing":
                await connection.execute("UPDATE moments SET status = %s, reason = %s WHERE id = %s", [status, reason, moment])
            await connection.execute("SELECT pg_notify('moments', %s)", [moment])

    async def _probe(self, path):
        return json.loads(await self._run(["ffprobe", "-v", "error", "-show_format", "-show_streams", "-of", "json", path], Rejected))

    def _judge(self, *probes):
        """Checks what ffprobe reads from the headers."""
        limits, seconds = self._definition["limits"], [float(probe["format"]["duration"]) for probe in probes]
        shortest, longest = limits["seconds"]
        if not all(shortest <= value <= longest for value in seconds) or abs(seconds[0] - seconds[1]) > limits["difference_seconds"]:
            raise Rejected("duration")
        for probe in probes:
            videos = [stream for stream in probe["streams"] if stream["codec_type"] == "video"]
            if not videos or videos[0]["codec_name"] not in limits["video_codecs"]:
                raise Rejected("codec")
            if videos[0]["width"] * videos[0]["height"] > limits["pixels"]:
                raise Rejected("size")

    async def _run(self, command, error=RuntimeError):
        process = await asyncio.create_subprocess_exec(*map(str, command), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        output, failure = await process.communicate()
        if process.returncode:
            raise error(failure.decode(errors="replace")[-500:])
        return output


async def main(options):
    queue = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=options.database))
    slot = Slot(options)

    @queue.task(name="compose", retry=procrastinate.RetryStrategy(max_attempts=5, wait=5))
    async def compose(moment):
        await slot.compose(moment)

    if options.mode == "create":
        for name in ("sources", "media"):
            (options.data / name).mkdir(parents=True)
        async with queue.open_async(), slot.pool, slot.pool.connection() as connection:
            await queue.schema_manager.apply_schema_async()
            await connection.execute(SCHEMA)
    elif options.mode == "work":
        async with queue.open_async(), slot.pool:
            await queue.run_worker_async(concurrency=1)
    else:
        runner = web.AppRunner(API(options, queue, compose).application(), access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", options.port).start()
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mode", choices=["create", "serve", "work"])
    parser.add_argument("--data", type=pathlib.Path, required=True, help="the folder of the media")
    parser.add_argument("--database", required=True, help="the URL of a database of PostgreSQL")
    parser.add_argument("--definition", type=pathlib.Path, required=True, help="what the outputs are")
    parser.add_argument("--variant", choices=["together", "separate"], default="together", help="one command, or one for each output")
    parser.add_argument("--threads", type=int, help="threads of each decoder and encoder")
    parser.add_argument("--port", type=int, default=8080)
    uvloop.run(main(parser.parse_args()))
