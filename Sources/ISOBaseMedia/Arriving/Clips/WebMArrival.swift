internal import Model

/// Judges a WebM: the elements as the whole file is judged, the tracks once they have arrived, and the times of the frames.
struct WebMArrival: ArrivingClip {
  private let judgement: WebMJudgement
  private let limits: Limits
  private let input: InputName
  /// The reason for a file that is not a clip, where it might be a photo; nil: the reason that the elements give.
  private let unsupported: Reason?
  private var walk: WebMWalk
  private var requested = RequestedBytes()
  private var isJudged = false

  init(_ limits: Limits, as input: InputName, length: Int64?, unsupported: Reason?) {
    judgement = WebMJudgement(limits, input: input)
    self.limits = limits
    self.input = input
    self.unsupported = unsupported
    walk = WebMWalk(size: length)
  }

  // What refuses it is found in the order of the file, and ends the walk.
  var refusal: StreamRefusal? { nil }

  var nextOffset: Int64 { walk.request?.offset ?? .max }

  mutating func take(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StreamRefusal) {
    while let request = walk.request,
      let found = requested.gather(request.count, at: request.offset, from: bytes, at: offset)
    {
      try visit(found)
    }
  }

  mutating func finish(at size: Int64) throws(StreamRefusal) -> ContainerName {
    do throws(ContainerRefusal) { try walk.end(at: size) } catch { throw refusal(for: error) }
    while let request = walk.request { try visit(requested.rest(request.count, at: request.offset)) }
    return .webM
  }

  private mutating func visit(_ bytes: ArraySlice<UInt8>) throws(StreamRefusal) {
    do throws(ContainerRefusal) { try walk.take(bytes) } catch { throw refusal(for: error) }
    guard let tracks = walk.tracks else { return }
    let reason = isJudged ? nil : judgement.reason(tracks)
    isJudged = true
    if let reason = reason ?? judgement.reason(seconds: walk.minSeconds) {
      throw StreamRefusal(reason, at: walk.position)
    }
  }

  private func refusal(for refusal: ContainerRefusal) -> StreamRefusal {
    let reason = Reason(refusal, input: input, accepted: limits.containers)
    if case .unsupported = refusal { return StreamRefusal(unsupported ?? reason, at: walk.position) }
    return StreamRefusal(reason, at: walk.position)
  }
}
