internal import Model

/// Judges a clip of one kind of container by its bytes as they arrive.
protocol ArrivingClip: Sendable {
  /// Why the file is refused by its tracks, although the rest of its structure is still judged.
  var refusal: StreamRefusal? { get }

  /// The offset of the next byte that it reads.
  var nextOffset: Int64 { get }

  /// Takes the bytes at an offset, which follow those before, or begin at `nextOffset` at the latest. What it finds does not depend
  /// on how the bytes are divided.
  mutating func take(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StreamRefusal)

  /// Ends a file of this many bytes, whose structure it judges.
  mutating func finish(at size: Int64) throws(StreamRefusal) -> ContainerName
}
