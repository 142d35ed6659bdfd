package import Model

/// What the headers of an MP4 say about its video.
///
/// It reads only files as this program writes them: the index in front of the media data, one video track of H.264, at
/// most one audio track, and no byte that belongs to no box. `MovieCheck` reads the samples too.
package struct MovieHeader: Hashable, Sendable {
  /// The sizes of a coded frame: by the sample entry, and by each sequence parameter set, which can crop it.
  package let coded: Set<Size>
  /// The transform that makes a coded frame upright.
  package let transform: Transform
  /// The duration of the video by its edit list, or without one by its samples.
  package let seconds: Double
  /// The longest duration of a frame, in seconds.
  package let maxFrameSeconds: Double

  // The index of an hour at 60 frames per second has a few megabytes.
  private static let maxIndexBytes: Int64 = 16 << 20

  /// Reads the headers of a file; nil if it is not one as this program writes them.
  ///
  /// - Parameters:
  ///   - size: the length of the file in bytes.
  ///   - read: returns `count` bytes at an offset; fewer only at the end of the file.
  package static func read<Failure: Error>(
    size: Int64, read: (_ offset: Int64, _ count: Int) throws(Failure) -> [UInt8]
  ) throws(Failure) -> MovieHeader? {
    guard let boxes = try BoxHeader.outermost(size: size, read: read),
      boxes.map(\.type).filter({ $0 != "free" }) == ["ftyp", "moov", "mdat"], boxes.last?.type == "mdat",
      let fileType = boxes.first, fileType.type == "ftyp", let index = boxes.first(where: { $0.type == "moov" }),
      index.end - index.content <= maxIndexBytes
    else { return nil }
    let brand = BigEndian(try read(fileType.content, 4)[...]).unsigned32(at: 0).map { BoxType(code: $0) }
    guard let brand, Brand.family(of: brand) == .mp4, Brand.image(brand) == nil else { return nil }
    return MovieHeader(movie: try read(index.content, Int(index.end - index.content)))
  }

  /// - Parameter content: the content of the `moov` box.
  private init?(movie content: [UInt8]) {
    let movie = Box(type: "moov", content: content[...])
    guard let header = movie.child("mvhd")?.reader,
      let timescale = header.unsigned32(at: header.byte(at: 0) == 1 ? 20 : 12), timescale > 0
    else { return nil }
    let boxes = movie.children().filter { $0.type == "trak" }
    guard boxes.count <= 2 else { return nil }
    let tracks = boxes.map { (box: $0, metadata: TrackMetadata($0, movieTimescale: timescale)) }
    let videos = tracks.filter { $0.metadata.handler == "vide" }
    guard videos.count == 1, let video = videos.first,
      tracks.allSatisfy({ $0.metadata.handler == "vide" || $0.metadata.handler == "soun" }),
      video.metadata.sampleEntry == "avc1", let media = Media(video.box),
      let matrix = Self.displayMatrix(of: video.box)
    else { return nil }
    let edits = video.metadata.edits.filter { $0.mediaTime != nil }
    guard edits.count <= 1, edits.allSatisfy({ $0.rate == 1 }) else { return nil }
    coded = media.coded
    transform = Transform(displayMatrix: matrix)
    seconds = edits.first.map { Double($0.duration) / Double(timescale) } ?? media.seconds
    maxFrameSeconds = media.maxFrameSeconds
  }

  /// The matrix of a track header (ISO/IEC 14496-12, 8.3.2).
  private static func displayMatrix(of track: Box) -> [Int32]? {
    guard let header = track.child("tkhd")?.reader else { return nil }
    let start = header.byte(at: 0) == 1 ? 52 : 40
    let matrix = (0..<9).compactMap { header.signed32(at: start + 4 * $0) }
    return matrix.count == 9 ? matrix : nil
  }

  /// The sample entry and the sample durations of a video track.
  private struct Media {
    var coded: Set<Size> = []
    var seconds = 0.0
    var maxFrameSeconds = 0.0

    init?(_ track: Box) {
      guard let media = track.child("mdia"), let header = media.child("mdhd")?.reader,
        let timescale = header.unsigned32(at: header.byte(at: 0) == 1 ? 20 : 12), timescale > 0,
        let table = media.descendant("minf", "stbl"),
        let entry = table.child("stsd")?.children(after: 8).only,
        let width = entry.reader.unsigned16(at: 24), let height = entry.reader.unsigned16(at: 26),
        let configuration = entry.children(after: 78).first(where: { $0.type == "avcC" })
          .flatMap({ AVCConfiguration(Array($0.content)) }),
        let runs = table.child("stts")?.reader, let count = runs.unsigned32(at: 4)
      else { return nil }
      coded = Set(configuration.sequenceParameterSets.compactMap { SequenceParameterSet($0)?.size })
      coded.insert(Size(width: Int(width), height: Int(height)))
      // Each run has a number of samples and their duration (8.6.1.2).
      for run in 0..<min(Int(count), max(0, runs.count - 8) / 8) {
        guard let samples = runs.unsigned32(at: 8 + 8 * run), let ticks = runs.unsigned32(at: 12 + 8 * run) else {
          break
        }
        seconds += Double(samples) * Double(ticks) / Double(timescale)
        maxFrameSeconds = max(maxFrameSeconds, Double(ticks) / Double(timescale))
      }
    }
  }
}
