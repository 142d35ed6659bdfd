/// The bytes of a request as they come off the network.
///
/// Nothing is taken from the client while `ServerConfiguration.bufferedBytes` wait to be read, so that a slow reader slows the
/// sender and memory stays flat. Until the first read nothing is taken from the client at all: a handler that refuses
/// a request from its head spares the upload.
package struct RequestBody: AsyncSequence, Sendable {
  package typealias Element = [UInt8]
  package typealias Failure = BodyError

  let exchange: Exchange

  package func makeAsyncIterator() -> Iterator { Iterator(exchange: exchange) }

  package struct Iterator: AsyncIteratorProtocol {
    let exchange: Exchange

    package mutating func next() async throws(BodyError) -> [UInt8]? { try await exchange.nextChunk() }

    package mutating func next(isolation actor: isolated (any Actor)?) async throws(BodyError) -> [UInt8]? {
      try await exchange.nextChunk()
    }
  }

  /// Reads it whole; for small bodies such as JSON.
  package func collect(upTo limit: Int) async throws(BodyError) -> [UInt8] {
    var bytes: [UInt8] = []
    var iterator = makeAsyncIterator()
    while let chunk = try await iterator.next() {
      guard bytes.count + chunk.count <= limit else { throw .tooLarge(limit: Int64(limit)) }
      bytes += chunk
    }
    return bytes
  }
}
