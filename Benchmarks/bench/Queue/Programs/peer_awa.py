"""awa with its queue storage, which rotates append-only segments."""

import asyncio
import contextlib
import dataclasses
import os
import urllib.parse

import asyncpg
import awa
import awa.bridge

import contest

CHUNK = 5000
# Completed jobs can be read until the ring of 16 segments has rotated: 16 s by default, too short for a history.
ROTATION_MS = 3_600_000
COMPLETED = """
    SELECT (SELECT coalesce(sum(completed_count), 0) FROM awa.receipt_completion_batches)::bigint
         + (SELECT count(*) FROM awa.done_entries WHERE state = 'completed')
         + (SELECT coalesce(sum(pruned_completed_count), 0) FROM awa.queue_terminal_rollups)::bigint"""


@dataclasses.dataclass
class Noop:
    pass


@dataclasses.dataclass
class Timed:
    text: str


def client():
    quoted = {name: urllib.parse.quote(os.environ[f"PG{name}"], safe="") for name in ("HOST", "USER", "DATABASE")}
    return awa.AsyncClient("postgres://{USER}@localhost/{DATABASE}?host={HOST}".format(**quoted))


async def start(queue, settings):
    await queue.start([("bench", settings.concurrency)], queue_storage_queue_rotate_interval_ms=ROTATION_MS)


class Peer:
    async def install(self, settings):
        async with client() as queue:
            await queue.migrate()
            await queue.install_queue_storage()

    async def single(self, settings):
        # The bridge to asyncpg is faster than awa's own client.
        async def enqueue(connection):
            for _ in range(settings.count):
                await awa.bridge.insert_job(connection, Noop(), queue="bench")

        connection = await asyncpg.connect()
        await contest.timed(settings.count, enqueue(connection))
        await connection.close()

    async def bulk(self, settings):
        async def enqueue(queue):
            for begin in range(0, settings.count, CHUNK):
                size = min(CHUNK, settings.count - begin)
                await queue.enqueue_many_copy([Noop() for _ in range(size)], queue="bench")

        async with client() as queue:
            await contest.timed(settings.count, enqueue(queue))

    @contextlib.asynccontextmanager
    async def drainer(self, settings):
        connection = await asyncpg.connect()
        waiting = settings.count
        before = await connection.fetchval(COMPLETED)
        ran = 0
        all_ran = asyncio.Event()
        async with client() as queue:
            @queue.task(Noop, queue="bench")
            async def noop(job):
                nonlocal ran
                ran += 1
                if ran >= waiting:
                    all_ran.set()

            async def run():
                await start(queue, settings)
                await all_ran.wait()
                # awa has no mode that ends when the queue is empty; completions are committed a little later.
                while await connection.fetchval(COMPLETED) - before < waiting:
                    await asyncio.sleep(0.005)
                return ran

            yield run
            await queue.shutdown()
        await connection.close()

    async def worker(self, settings):
        arrivals = contest.Arrivals(settings.count)
        async with client() as queue:
            @queue.task(Timed, queue="bench")
            async def handle(job):
                arrivals.take(job.args.text)

            await start(queue, settings)
            await arrivals.done.wait()
            contest.reply({"latencies": arrivals.latencies})
            await queue.shutdown()

    async def producer(self, settings):
        connection = await asyncpg.connect()

        async def enqueue(text):
            await awa.bridge.insert_job(connection, Timed(text), queue="bench")

        if settings.count:
            await contest.produce(settings.count, enqueue)
        else:
            await enqueue("-1 0")
        await connection.close()


contest.main(Peer())
