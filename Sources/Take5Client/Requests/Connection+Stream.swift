import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension Connection {
  /// Sends a request whose response has no end, and returns the bytes of its body as they come.
  ///
  /// Each stream has a URLSession of its own: FoundationNetworking gives no task a delegate of its own.
  func stream(_ request: Request) async throws(Take5Error) -> AsyncThrowingStream<Data, any Error> {
    try checkAddress()
    let token = try await token()
    do throws(Take5Error) {
      return try await open(request, token)
    } catch {
      guard error.status == 401 else { throw error }
      return try await open(request, try await self.token(after: token, error))
    }
  }

  private func open(_ request: Request, _ token: String) async throws(Take5Error) -> AsyncThrowingStream<
    Data, any Error
  > {
    let receiver = StreamReceiver()
    let session = URLSession(configuration: session.configuration, delegate: receiver, delegateQueue: nil)
    let task = session.dataTask(with: urlRequest(request, token: token))
    let stream = AsyncThrowingStream<Data, any Error> { continuation in
      receiver.begin(continuation)
      continuation.onTermination = { _ in session.invalidateAndCancel() }
    }
    let response: URLResponse?
    let body: Data
    (response, body) = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        receiver.head(continuation)
        task.resume()
      }
    } onCancel: {
      task.cancel()
    }
    guard let response else {
      session.invalidateAndCancel()
      throw Task.isCancelled ? .cancelled : .unreachable("The stream did not begin.")
    }
    do throws(Take5Error) {
      _ = try Self.response(response, body)
    } catch {
      session.invalidateAndCancel()
      throw error
    }
    return stream
  }
}

/// Receives the head of a response, then its body. URLSession calls it on one queue, one call after the other.
private final class StreamReceiver: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  private typealias Head = CheckedContinuation<(URLResponse?, Data), Never>

  private let lock = NSLock()
  private var head: Head?
  private var refused: URLResponse?
  private var body = Data()
  private var continuation: AsyncThrowingStream<Data, any Error>.Continuation?

  func begin(_ continuation: AsyncThrowingStream<Data, any Error>.Continuation) {
    lock.withLock { self.continuation = continuation }
  }

  func head(_ head: CheckedContinuation<(URLResponse?, Data), Never>) { lock.withLock { self.head = head } }

  private func answer(_ response: URLResponse?) {
    let (head, body) = lock.withLock {
      defer { self.head = nil }
      return (self.head, self.body)
    }
    head?.resume(returning: (response, body))
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    // The body of a refusal is its problem.
    if status == 200 { answer(response) } else { lock.withLock { refused = response } }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let continuation = lock.withLock {
      if refused != nil, body.count < 1 << 20 { body.append(data) }
      return refused == nil ? self.continuation : nil
    }
    continuation?.yield(data)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let (refused, continuation) = lock.withLock { (self.refused, self.continuation) }
    answer(error == nil ? refused : nil)
    continuation?.finish(throwing: error)
    session.finishTasksAndInvalidate()
  }
}
