/// What a demuxer may do with a file that nobody has vouched for.
package struct DemuxerLimits: Hashable, Sendable {
  /// In one file.
  package var streams: Int
  /// The codecs that may be decoded, by libav's names.
  package var codecs: [String]
  /// The most bytes that are looked at to learn about the streams.
  package var probeBytes: Int

  package init(streams: Int, codecs: [String], probeBytes: Int = 5 << 20) {
    self.streams = streams
    self.codecs = codecs
    self.probeBytes = probeBytes
  }
}
