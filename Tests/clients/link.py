"""A network between clients and a server that breaks at given bytes."""

import asyncio
import dataclasses
import fcntl
import socket
import struct
import termios
import threading


@dataclasses.dataclass(eq=False)
class Connection:
    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    is_cut: bool = False
    # Whether the connection breaks when the response of its server comes.
    loses_response: bool = False


def reset(writer):
    """Ends a connection with RST, as for a peer that is gone."""
    if not writer.is_closing():
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()


async def arrived(writer):
    """Waits until the other end has received everything: a reset takes back what waits in this machine's socket."""
    number = writer.get_extra_info("socket").fileno()
    while not writer.is_closing() and struct.unpack("i", fcntl.ioctl(number, termios.TIOCOUTQ, bytes(4)))[0] > 0:
        await asyncio.sleep(0)


class Link:
    """Forwards connections to a port, counts the bytes that clients send, and stops at some of them.

    stops: pairs of a number of bytes and a function: once so many bytes are forwarded, nothing passes until it returns.
    lost: the start of a request; the first response to such a request is lost, and its connection is reset."""

    def __init__(self, port, stops=(), lost=None):
        self.upstream, self.stops, self.lost = port, sorted(stops, key=lambda stop: stop[0]), lost
        self.forwarded, self.is_up = 0, True
        self.connections, self.silent = set(), []
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.listener = self.run(asyncio.start_server(self.accept, "127.0.0.1", 0))
        self.port = self.listener.sockets[0].getsockname()[1]

    def run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    async def accept(self, reader, client):
        try:
            if not self.is_up:
                return reset(client)
            answers, server = await asyncio.open_connection("127.0.0.1", self.upstream)
        except OSError:
            return reset(client)
        connection = Connection(client, server)
        for writer in (client, server):
            # What is counted has left this process.
            writer.transport.set_write_buffer_limits(0)
        self.connections.add(connection)
        await asyncio.gather(self.forward(connection, reader), self.answer(connection, answers))
        self.connections.discard(connection)

    async def forward(self, connection, reader):
        """Forwards what a client sends."""
        try:
            while (data := await reader.read(1 << 16)) and not connection.is_cut:
                if self.lost and data.startswith(self.lost):
                    self.lost, connection.loses_response = None, True
                while data and not connection.is_cut:
                    room = self.stops[0][0] - self.forwarded if self.stops else len(data)
                    part, data = data[:room], data[room:]
                    connection.server.write(part)
                    self.forwarded += len(part)
                    await connection.server.drain()
                    if self.stops and self.forwarded >= self.stops[0][0]:
                        await arrived(connection.server)
                        self.stops.pop(0)[1]()
        except ConnectionError:
            pass
        if not connection.is_cut:
            connection.server.close()

    async def answer(self, connection, reader):
        """Forwards what the server sends."""
        try:
            while (data := await reader.read(1 << 16)) and not connection.is_cut:
                if connection.loses_response:
                    return self.reset()
                connection.client.write(data)
                await connection.client.drain()
        except ConnectionError:
            pass
        if not connection.is_cut:
            connection.client.close()

    # How the network breaks. New connections pass as long as it is up.

    def reset(self):
        """Ends all connections at both ends."""
        for connection in self.cut():
            reset(connection.client)
            reset(connection.server)

    def vanish(self):
        """Ends all connections at the client, whose network has changed; the server receives nothing that says so."""
        for connection in self.cut():
            reset(connection.client)
            self.silent.append(connection.server)

    def stall(self):
        """Lets nothing pass on any connection; neither end receives anything that says so."""
        for connection in self.cut():
            self.silent += [connection.client, connection.server]

    def go_down(self):
        """As vanish(); new connections fail until go_up()."""
        self.is_up = False
        self.vanish()

    def go_up(self):
        self.is_up = True

    def cut(self):
        connections, self.connections = self.connections, set()
        for connection in connections:
            connection.is_cut = True
        return connections

    def close(self):
        """Ends all connections, also silent ones."""

        async def end():
            self.listener.close()
            self.reset()
            for writer in self.silent:
                reset(writer)
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            await asyncio.gather(*tasks, return_exceptions=True)

        self.run(end())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()
