#!/usr/bin/env python3
"""The peer: a service that receives moments and makes their outputs with ffmpeg, of aiohttp, procrastinate and PostgreSQL.

A process `serve` is its API; each process `work` is a slot, which runs a job at a time. Sources and outputs are files, and on the
disk before a row mentions them."""

import argparse
import asyncio
import json
import pathlib
import subprocess

import procrastinate
import psycopg_pool
import uvloop
from aiohttp import web

from api import API, synchronize
from commands import Commands

ATTEMPTS = 3
SCHEMA = """
    CREATE TABLE moments (
      id uuid PRIMARY KEY, author text NOT NULL, foreground text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(),
      status text NOT NULL DEFAULT 'processing', reason text);
    CREATE INDEX ON moments (id) WHERE status = 'processing';
    CREATE TABLE outputs (
      moment uuid NOT NULL REFERENCES moments ON DELETE CASCADE, role text NOT NULL, url text NOT NULL, bytes bigint NOT NULL,
      PRIMARY KEY (moment, role));"""


class Rejected(Exception):
    """The reason why clips are not a moment."""


class Slot:
    """What makes the outputs of a moment."""

    def __init__(self, options):
        self._options, self._sources, self._media = options, options.data / "sources", options.data / "media"
        self._definition = json.loads(options.definition.read_text())
        # A thread for each moment is best when all slots have one, all that ffmpeg chooses when a moment is alone.
        self._crowded, self._alone = Commands(self._definition, 1), Commands(self._definition)
        self.pool = psycopg_pool.AsyncConnectionPool(options.database, min_size=1, max_size=2, open=False)

    async def compose(self, moment):
        front, back = (self._sources / moment / f"{name}.mp4" for name in ("front", "back"))
        async with self.pool.connection() as connection:
            cursor = await connection.execute(
                """SELECT foreground, EXISTS (SELECT FROM moments WHERE status = 'processing' AND id <> %(id)s)
                   FROM moments WHERE id = %(id)s""", {"id": moment})
            foreground, is_crowded = await cursor.fetchone()
        try:
            self._judge(*await asyncio.gather(self._probe(front), self._probe(back)))
        except Rejected as rejection:
            return await self.publish(moment, [], "rejected", str(rejection))
        folder = self._media / moment
        folder.mkdir(exist_ok=True)
        synchronize(self._media)
        commands = self._crowded if is_crowded else self._alone
        steps = commands.steps(self._options.variant, front, back, foreground, folder)
        for index, (command, outputs) in enumerate(steps):
            await self._run(command)
            await asyncio.to_thread(synchronize, *outputs.values(), folder)
            await self.publish(moment, outputs.items(), "ready" if index == len(steps) - 1 else "processing")

    async def publish(self, moment, outputs, status, reason=None):
        """Stores new outputs and the status, of which those who wait are notified when both are committed."""
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

    @queue.task(name="compose", retry=procrastinate.RetryStrategy(max_attempts=ATTEMPTS - 1, wait=5), pass_context=True)
    async def compose(context, moment):
        try:
            await slot.compose(moment)
        except Exception as failure:
            if context.job.attempts == ATTEMPTS - 1:
                await slot.publish(moment, [], "failed", str(failure))
            raise

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
    parser.add_argument("--port", type=int, default=8080)
    uvloop.run(main(parser.parse_args()))
