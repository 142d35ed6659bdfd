import Foundation

/// What this process knows of a submission, and who waits for it.
struct UploadState {
  var progress: UploadProgress
  var outcome: Result<String, Take5Error>?
  var observers: [UUID: AsyncStream<UploadProgress>.Continuation] = [:]

  init(_ record: UploadRecord) {
    let phase: UploadProgress.Phase = record.failure == nil ? .queued : .failed
    progress = UploadProgress(phase: phase, sentBytes: record.sent, totalBytes: record.length)
    outcome = record.failure.map { .failure(.problem($0)) }
  }
}

extension UploadQueue {
  nonisolated func progress(of id: UUID) -> AsyncStream<UploadProgress> {
    AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
      let observer = UUID()
      let task = Task { await self.observe(id, observer, continuation) }
      continuation.onTermination = { _ in
        task.cancel()
        Task { await self.forget(observer, of: id) }
      }
    }
  }

  private func observe(_ id: UUID, _ observer: UUID, _ continuation: AsyncStream<UploadProgress>.Continuation) {
    if states[id] == nil, let record = folder.read(id) { states[id] = UploadState(record) }
    guard let state = states[id] else { return continuation.finish() }
    continuation.yield(state.progress)
    if state.outcome != nil { return continuation.finish() }
    states[id]?.observers[observer] = continuation
  }

  private func forget(_ observer: UUID, of id: UUID) { states[id]?.observers[observer] = nil }

  func state(of record: UploadRecord) -> UploadState { states[record.id] ?? UploadState(record) }

  /// The id of the submitted post or image, once its progress has ended.
  func result(of id: UUID) throws(Take5Error) -> String {
    guard let outcome = states[id]?.outcome else { throw .cancelled }
    return try outcome.get()
  }

  func enter(_ phase: UploadProgress.Phase, _ record: UploadRecord) {
    report(record) { $0.phase = phase }
  }

  /// Notifies the observers of a submission of a change.
  func report(_ record: UploadRecord, _ change: (inout UploadProgress) -> Void) {
    var state = states[record.id] ?? UploadState(record)
    let former = state.progress
    change(&state.progress)
    states[record.id] = state
    guard state.progress != former else { return }
    for observer in state.observers.values { observer.yield(state.progress) }
  }

  /// Ends the progress of a submission.
  func finish(_ id: UUID, _ outcome: Result<String, Take5Error>) {
    guard var state = states[id] else { return }
    state.outcome = outcome
    switch outcome {
    case .success: (state.progress.phase, state.progress.sentBytes) = (.sent, state.progress.totalBytes)
    case .failure: state.progress.phase = .failed
    }
    for observer in state.observers.values {
      observer.yield(state.progress)
      observer.finish()
    }
    state.observers = [:]
    states[id] = state
  }
}
