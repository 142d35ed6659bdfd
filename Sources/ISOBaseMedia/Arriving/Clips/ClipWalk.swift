internal import Model

/// Judges a clip: the boxes as the whole file is judged, and the tracks by the `moov` box once it has arrived.
struct ClipWalk: ArrivingClip {
  // The `moov` box of a moment has some ten kilobytes; half a minute at 240 frames per second makes one of 200.
  private static let maxMovieBytes: Int64 = 512 << 10

  private let limits: Limits
  private let input: InputName
  private let length: Int64?
  /// The reason for a file that is not a clip, where it might be a photo; nil: the reason that the boxes give.
  private let unsupported: Reason?
  private var walk: ContainerWalk
  private var requested = RequestedBytes()
  private var movie = Movie.unknown
  private var isFamilyChecked = false
  /// Why the file is refused by its tracks. Its boxes are walked on.
  private(set) var refusal: StreamRefusal?

  /// The `moov` box.
  private enum Movie {
    case unknown
    /// Its content arrives, which extends over a range of the file.
    case arriving([UInt8], Range<Int64>)
    /// It was judged, or is too long.
    case passed
  }

  /// - Parameter unsupported: the reason for a file that is not a clip; nil: the reason that the boxes give.
  init(_ limits: Limits, as input: InputName, length: Int64?, unsupported: Reason?) {
    self.limits = limits
    self.input = input
    self.length = length
    self.unsupported = unsupported
    walk = ContainerWalk(size: length, readsMetadata: false)
  }

  var nextOffset: Int64 {
    let requested = walk.request?.offset ?? .max
    guard case .arriving(let bytes, let range) = movie else { return requested }
    return min(requested, range.lowerBound + Int64(bytes.count))
  }

  mutating func take(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StreamRefusal) {
    collectMovie(bytes, at: offset)
    while true {
      let found = walk.request.flatMap { request in
        requested.gather(request.count, at: request.offset, from: bytes, at: offset)
      }
      // The boxes of the movie are visited before its tracks are judged, and those behind it after that.
      if case .arriving(let content, let range) = movie, walk.hasVisitedMovie {
        guard content.count == range.count else { return }
        judge(content)
      } else {
        guard let found else { return }
        try visit(found)
        if case .unknown = movie { beginMovie(bytes, at: offset) }
      }
    }
  }

  mutating func finish(at size: Int64) throws(StreamRefusal) -> ContainerName {
    do throws(ContainerRefusal) { try walk.end(at: size) } catch { throw refusal(for: error) }
    while let request = walk.request { try visit(requested.rest(request.count, at: request.offset)) }
    // Old QuickTime files have no brand.
    let family = walk.family ?? .mov
    try check(family)
    return family
  }

  private mutating func visit(_ bytes: ArraySlice<UInt8>) throws(StreamRefusal) {
    do throws(ContainerRefusal) { try walk.take(bytes) } catch { throw refusal(for: error) }
    if !isFamilyChecked, let family = walk.family { try check(family) }
  }

  private mutating func check(_ family: ContainerName) throws(StreamRefusal) {
    isFamilyChecked = true
    guard !limits.containers.contains(family) else { return }
    throw StreamRefusal(.unsupported(family, accepted: limits.containers, input: input), at: walk.position)
  }

  private func refusal(for refusal: ContainerRefusal) -> StreamRefusal {
    switch refusal {
    case .empty, .unsupported:
      StreamRefusal(unsupported ?? Reason(refusal, input: input, accepted: limits.containers), at: walk.position)
    case .noVideoTrack: StreamRefusal(Reason(refusal, input: input), at: walk.movieOffset ?? walk.position)
    case .truncated, .damaged: StreamRefusal(Reason(refusal, input: input), at: walk.position)
    }
  }

  private mutating func beginMovie(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
    guard let range = walk.movieContent else { return }
    guard range.upperBound - range.lowerBound <= Self.maxMovieBytes else {
      movie = .passed
      return
    }
    movie = .arriving(Array(requested.held(from: range.lowerBound).prefix(range.count)), range)
    collectMovie(bytes, at: offset)
  }

  private mutating func collectMovie(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
    guard case .arriving(var content, let range) = movie, content.count < range.count else { return }
    movie = .passed
    let first = Int(range.lowerBound + Int64(content.count) - offset)
    if first < bytes.count { content += bytes[first..<first + min(range.count - content.count, bytes.count - first)] }
    movie = .arriving(content, range)
  }

  /// Judges the tracks of the movie, which is then released.
  private mutating func judge(_ content: [UInt8]) {
    movie = .passed
    guard walk.hidesNoMovie, let offset = walk.movieOffset,
      let reason = MovieJudgement(limits, input: input, length: length).reason(content, handlers: walk.handlers)
    else { return }
    refusal = StreamRefusal(reason, at: offset)
  }
}
