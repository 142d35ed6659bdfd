"""Clients of uploads that others wrote: the service is killed in the middle, and they go on by themselves."""

import asyncio
import io

import aiotus
import tusclient.client

from service import AUTHORIZATION, BYTES


def through_tuspy(service, url, bytes):
    """tuspy sends again by itself what failed."""
    client = tusclient.client.TusClient(f"{url}/v1/uploads", headers=AUTHORIZATION)
    uploader = client.uploader(file_stream=io.BytesIO(bytes), chunk_size=1 << 20, retries=60, retry_delay=1)
    with service.restarted_after(BYTES // 3):
        uploader.upload()
    return uploader.url


def through_aiotus(service, url, bytes):
    """aiotus asks for the offset and sends the rest by itself."""
    retries = aiotus.RetryConfiguration(retry_attempts=30, max_retry_period_seconds=2)
    upload = aiotus.upload(
        f"{url}/v1/uploads", io.BytesIO(bytes), metadata={}, headers=AUTHORIZATION, config=retries, chunksize=1 << 20)
    with service.restarted_after(BYTES // 3):
        return str(asyncio.run(upload))
