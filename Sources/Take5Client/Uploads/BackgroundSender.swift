#if canImport(Darwin)
  import Darwin
  import Foundation

  /// Sends each file as one task of a background session: the system goes on with it when the app is suspended or has ended.
  ///
  /// Requests speak the draft of iOS 17, whose header fields URLSession adds to uploads by itself. What URLSession cannot resume, the
  /// queue does: it asks for the offset, and a file with the rest becomes another task.
  final class BackgroundSender: NSObject, UploadSender, URLSessionDataDelegate, @unchecked Sendable {
    private typealias Outcome = Result<(URLResponse?, Data), any Error>

    private let connection: Connection
    private let lock = NSLock()
    private var waiting: [Int: CheckedContinuation<Outcome, Never>] = [:]
    private var early: [Int: Outcome] = [:]
    private var bodies: [Int: Data] = [:]
    private var reports: [Int: @Sendable (Int64) async -> Void] = [:]
    private var completion: (@Sendable () -> Void)?
    private var session: URLSession?

    init(connection: Connection, identifier: String) {
      self.connection = connection
      super.init()
      let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
      configuration.sessionSendsLaunchEvents = true
      configuration.isDiscretionary = false
      configuration.waitsForConnectivity = true
      session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
    }

    /// Stores what the system wants to be called when the app has handled all events of the session.
    func finishEvents(_ completion: @escaping @Sendable () -> Void) { lock.withLock { self.completion = completion } }

    func send(
      _ file: URL, from offset: Int64, length: Int64, to upload: String, of user: String,
      report: @escaping @Sendable (Int64) async -> Void
    ) async throws(Take5Error) {
      guard let session else { throw .cancelled }
      let rest = file.appendingPathExtension("rest")
      defer { AtomicFile.remove(rest) }
      if offset > 0 { try FileSlice.copyRest(of: file, from: offset, to: rest) }
      var request = Request("PATCH", Request.path("v1", "uploads", upload))
      request.headers = ["Upload-Draft-Interop-Version": "3", "Upload-Offset": "\(offset)", "Upload-Incomplete": "?0"]
      request.contentType = "application/partial-upload"
      let token = try await connection.token(of: user)
      let sent = connection.urlRequest(request, token: token)
      let task = session.uploadTask(with: sent, fromFile: offset > 0 ? rest : file)
      task.taskDescription = upload
      var outcome = await finish(task) { await report(offset + $0) }
      if #available(iOS 17, macOS 14, tvOS 17, watchOS 10, *), case .failure(let error) = outcome,
        let data = (error as? URLError)?.uploadTaskResumeData
      {
        let resumed = session.uploadTask(withResumeData: data)
        resumed.taskDescription = upload
        outcome = await finish(resumed) { await report(offset + $0) }
      }
      switch outcome {
      case .success(let (response?, body)):
        do throws(Take5Error) {
          _ = try Connection.response(response, body)
        } catch {
          // The queue goes on with the token that this leads to.
          if error.status == 401 { _ = try await connection.token(of: user, after: token, error) }
          throw error.status == 401 ? .unreachable("The token was renewed.") : error
        }
      case .success: throw .unreadable("it is not HTTP")
      case .failure(let error): throw Connection.error(error)
      }
    }

    func adopt(_ upload: String) async {
      guard let task = await task(of: upload) else { return }
      _ = await finish(task) { _ in }
    }

    func cancel(_ upload: String) async { await task(of: upload)?.cancel() }

    private func task(of upload: String) async -> URLSessionTask? {
      await session?.allTasks.first { $0.taskDescription == upload && $0.state != .completed }
    }

    /// Starts a task, unless it runs already, and waits until it has ended.
    private func finish(_ task: URLSessionTask, report: @escaping @Sendable (Int64) async -> Void) async -> Outcome {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let outcome = lock.withLock { () -> Outcome? in
            if let outcome = early.removeValue(forKey: task.taskIdentifier) { return outcome }
            (waiting[task.taskIdentifier], reports[task.taskIdentifier]) = (continuation, report)
            return nil
          }
          if let outcome { return continuation.resume(returning: outcome) }
          task.resume()
        }
      } onCancel: {
        task.cancel()
      }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
      totalBytesExpectedToSend: Int64
    ) {
      guard let report = lock.withLock({ reports[task.taskIdentifier] }) else { return }
      Task { await report(totalBytesSent) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      lock.withLock { bodies[dataTask.taskIdentifier, default: Data()].append(data.prefix(1 << 16)) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      let continuation = lock.withLock { () -> (CheckedContinuation<Outcome, Never>, Outcome)? in
        let body = bodies.removeValue(forKey: task.taskIdentifier) ?? Data()
        reports[task.taskIdentifier] = nil
        let outcome: Outcome = error.map { .failure($0) } ?? .success((task.response, body))
        if let continuation = waiting.removeValue(forKey: task.taskIdentifier) { return (continuation, outcome) }
        // It ended before the queue has asked for it.
        early[task.taskIdentifier] = outcome
        return nil
      }
      if let (continuation, outcome) = continuation { continuation.resume(returning: outcome) }
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
      let completion = lock.withLock {
        defer { self.completion = nil }
        return self.completion
      }
      // The system wants it on the main thread.
      if let completion { DispatchQueue.main.async(execute: completion) }
    }
  }
#endif
