"""procrastinate, which fetches its jobs one by one. Every job stays in its table, because all contestants keep history."""

import asyncio
import contextlib
import logging

import procrastinate

import contest

CHUNK = 1000

# A log line for each job would cost more than the job.
logging.getLogger("procrastinate").setLevel(logging.ERROR)


def application(connections):
    return procrastinate.App(connector=procrastinate.PsycopgConnector(min_size=connections, max_size=connections))


def worker(app, settings, wait):
    return app.run_worker_async(
        queues=["bench"], concurrency=settings.concurrency, wait=wait, delete_jobs="never", install_signal_handlers=False)


class Peer:
    async def install(self, settings):
        app = application(1)
        async with app.open_async():
            await app.schema_manager.apply_schema_async()

    @contextlib.asynccontextmanager
    async def task(self, connections):
        app = application(connections)

        @app.task(queue="bench", name="noop")
        async def noop():
            noop.ran += 1

        noop.ran = 0
        async with app.open_async():
            yield app, noop

    async def single(self, settings):
        async with self.task(1) as (_, noop):
            async def enqueue():
                for _ in range(settings.count):
                    await noop.defer_async()

            await contest.timed(settings.count, enqueue())

    async def bulk(self, settings):
        async with self.task(1) as (_, noop):
            async def enqueue():
                for begin in range(0, settings.count, CHUNK):
                    await noop.batch_defer_async(*[{} for _ in range(min(CHUNK, settings.count - begin))])

            await contest.timed(settings.count, enqueue())

    @contextlib.asynccontextmanager
    async def drainer(self, settings):
        async with self.task(settings.connections) as (app, noop):
            async def run():
                await worker(app, settings, wait=False)
                return noop.ran

            yield run

    async def worker(self, settings):
        arrivals = contest.Arrivals(settings.count)
        app = application(settings.connections)

        @app.task(queue="bench", name="timed")
        async def handle(text):
            arrivals.take(text)

        async with app.open_async():
            running = asyncio.create_task(worker(app, settings, wait=True))
            await arrivals.done.wait()
            contest.reply({"latencies": arrivals.latencies})
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running

    async def producer(self, settings):
        app = application(1)

        @app.task(queue="bench", name="timed")
        async def handle(text):
            pass

        async with app.open_async():
            async def enqueue(text):
                await handle.defer_async(text=text)

            if settings.count:
                await contest.produce(settings.count, enqueue)
            else:
                await enqueue("-1 0")


contest.main(Peer())
