"""pgqueuer, installed as durable, with the settings of its own `pgq autovac`."""

import asyncio
import contextlib

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.queries import Queries
from pgqueuer.types import QueueExecutionMode

import contest

CHUNK = 1000


@contextlib.asynccontextmanager
async def queries():
    connection = await asyncpg.connect()
    try:
        yield Queries(AsyncpgDriver(connection))
    finally:
        await connection.close()


class Peer:
    async def install(self, settings):
        async with queries() as queue:
            await queue.install()
            await queue.optimize_autovacuum()

    async def single(self, settings):
        async def enqueue(queue):
            for _ in range(settings.count):
                await queue.enqueue("noop", b"")

        async with queries() as queue:
            await contest.timed(settings.count, enqueue(queue))

    async def bulk(self, settings):
        async def enqueue(queue):
            for begin in range(0, settings.count, CHUNK):
                size = min(CHUNK, settings.count - begin)
                await queue.enqueue(["noop"] * size, [b""] * size, [0] * size)

        async with queries() as queue:
            await contest.timed(settings.count, enqueue(queue))

    @contextlib.asynccontextmanager
    async def drainer(self, settings):
        connection = await asyncpg.connect()
        queue = PgQueuer(AsyncpgDriver(connection))
        ran = 0

        @queue.entrypoint("noop")
        async def noop(job):
            nonlocal ran
            ran += 1

        async def run():
            await queue.run(batch_size=settings.batch, mode=QueueExecutionMode.drain)
            return ran

        yield run
        await connection.close()

    async def worker(self, settings):
        arrivals = contest.Arrivals(settings.count)
        connection = await asyncpg.connect()
        queue = PgQueuer(AsyncpgDriver(connection))

        @queue.entrypoint("timed")
        async def handle(job):
            arrivals.take(job.payload.decode())

        running = asyncio.create_task(queue.run(batch_size=settings.batch))
        await arrivals.done.wait()
        contest.reply({"latencies": arrivals.latencies})
        queue.shutdown.set()
        await running
        await connection.close()

    async def producer(self, settings):
        async with queries() as queue:
            async def enqueue(text):
                await queue.enqueue("timed", text.encode())

            if settings.count:
                await contest.produce(settings.count, enqueue)
            else:
                await enqueue("-1 0")


contest.main(Peer())
