/// Checks a written MP4 for errors that strict players reject and lenient players tolerate.
///
/// It reads every sample: lengths add up, units contain no start codes, `avcC` has the parameter sets, sync
/// samples are IDR pictures, timestamps increase, and edit lists cover exactly the media (ISO/IEC 14496-12, 14496-15).
package enum MovieCheck {
  /// The first error of a file as a phrase; nil if there is none.
  ///
  /// - Parameters:
  ///   - size: the length of the file in bytes.
  ///   - visit: called for each NAL unit of the video; returns an error of the unit, or nil.
  ///   - read: returns the bytes at an offset, fewer than asked for only at the end of the file.
  package static func finding<Failure: Error>(
    size: Int64, visit: (NALUnit) -> String? = { _ in nil },
    read: @escaping (_ offset: Int64, _ count: Int) throws(Failure) -> [UInt8]
  ) throws(Failure) -> String? {
    let structure: ContainerStructure
    switch try ContainerWalker.examine(size: size, read: read) {
    case .success(let found): structure = found
    case .failure(let refusal): return "\(refusal)"
    }
    if structure.isFragmented { return "movie fragments" }
    let content = structure.movieContent
    let movie = Box(
      type: "moov", content: try read(content.lowerBound, Int(content.upperBound - content.lowerBound))[...])
    guard let header = movie.child("mvhd")?.reader,
      let timescale = header.unsigned32(at: header.byte(at: 0) == 1 ? 20 : 12), timescale > 0
    else { return "no movie header" }
    var tracks: [TrackCheck] = []
    do throws(SampleTable.TableError) {
      for track in movie.children() where track.type == "trak" {
        let check = TrackCheck(try SampleTable(track: track), movieTimescale: Int64(timescale))
        if let finding = check.timeFinding ?? check.formatFinding { return finding }
        tracks.append(check)
      }
    } catch {
      return error.finding
    }
    return try sampleFinding(tracks, from: structure.mediaDataOffset, to: size, visit: visit, read: read)
  }

  private static let blockBytes: Int64 = 1 << 20

  /// Checks all samples in the order of the file; they must fill the media data without gaps.
  private static func sampleFinding<Failure: Error>(
    _ tracks: [TrackCheck], from mediaData: Int64, to end: Int64, visit: (NALUnit) -> String?,
    read: (_ offset: Int64, _ count: Int) throws(Failure) -> [UInt8]
  ) throws(Failure) -> String? {
    var order = tracks.indices.flatMap { track in
      tracks[track].table.samples.indices.map { (track: track, sample: $0) }
    }
    let location = { (entry: (track: Int, sample: Int)) in tracks[entry.track].table.samples[entry.sample] }
    order.sort { location($0).offset < location($1).offset }
    guard let first = order.first, [8, 16].contains(location(first).offset - mediaData) else {
      return "media data that do not start with a sample"
    }
    var next = location(first).offset
    var block: (start: Int64, bytes: [UInt8]) = (next, [])
    for entry in order {
      let sample = location(entry)
      guard sample.offset == next, sample.size > 0, sample.end <= end else {
        return "a sample at byte \(sample.offset) that does not follow the one before it"
      }
      next = sample.end
      if sample.end > block.start + Int64(block.bytes.count) {
        let count = min(end - sample.offset, max(blockBytes, Int64(sample.size)))
        block = (sample.offset, try read(sample.offset, Int(count)))
      }
      let start = Int(sample.offset - block.start)
      guard start + sample.size <= block.bytes.count else { return "a sample after the end of the file" }
      let finding = block.bytes.withUnsafeBytes { bytes in
        tracks[entry.track].finding(
          of: UnsafeRawBufferPointer(rebasing: bytes[start..<start + sample.size]), isSync: sample.isSync, visit: visit)
      }
      if let finding { return "\(finding), in the sample at byte \(sample.offset)" }
    }
    return next == end ? nil : "\(end - next) bytes after the last sample"
  }
}
