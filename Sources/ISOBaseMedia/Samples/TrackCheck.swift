/// The checks of `MovieCheck` for one track; errors are phrases.
struct TrackCheck {
  let table: SampleTable
  private let movieTimescale: Int64
  private let configuration: AVCConfiguration?

  // An AAC decoder needs the packets before the first audible one; encoders prime with up to 2112 samples.
  private static let maxPrimingPackets: Int64 = 4

  init(_ table: SampleTable, movieTimescale: Int64) {
    self.table = table
    self.movieTimescale = movieTimescale
    configuration = table.extensions.first { $0.type == "avcC" }.flatMap { AVCConfiguration(Array($0.content)) }
  }

  /// An error in the sample entry.
  var formatFinding: String? {
    switch (table.handler, table.sampleEntry) {
    case ("vide", "avc1"):
      guard let configuration else { return "an 'avcC' that strict decoders reject" }
      if configuration.lengthBytes != 4 { return "lengths of \(configuration.lengthBytes) bytes" }
      return table.samples.first?.isSync == true ? nil : "a first sample that is not a sync sample"
    case ("soun", "mp4a"):
      return table.extensions.contains { $0.type == "esds" } ? nil : "audio without a configuration"
    default: return "a track of '\(table.handler)' with samples of '\(table.sampleEntry)'"
    }
  }

  /// An error in the timestamps and the edit list.
  var timeFinding: String? {
    guard !table.samples.isEmpty else { return "a track without samples" }
    guard table.samples.allSatisfy({ $0.duration > 0 }) else { return "samples whose timestamps do not increase" }
    let shown = table.samples.map(\.compositionTime).sorted()
    guard zip(shown, shown.dropFirst()).allSatisfy({ $0 < $1 }) else {
      return "samples with the same presentation time"
    }
    guard table.samples.allSatisfy({ $0.compositionTime >= $0.decodingTime }) else {
      return "a sample with a presentation time before its decoding time"
    }
    return editFinding
  }

  /// An error in the edit list, which may delay the media and must cover all of them.
  private var editFinding: String? {
    let times = table.samples.map(\.compositionTime)
    let (first, last) = (times.min() ?? 0, times.max() ?? 0)
    let maxDuration = table.samples.map(\.duration).max() ?? 0
    let media = table.edits.drop { $0.mediaTime == nil }
    guard media.count <= 1, media.allSatisfy({ $0.mediaTime != nil && $0.rate == 1 }) else {
      return "more than one edit of its media"
    }
    guard let edit = media.first, let start = edit.mediaTime else {
      return first == 0 ? nil : "no edit to its first sample"
    }
    // Both ends are rounded to ticks of the movie timescale.
    let tick = Double(table.timescale) / Double(movieTimescale) + 1
    let shown = Double(start) + Double(edit.duration) * Double(table.timescale) / Double(movieTimescale)
    let priming = table.handler == "soun" ? Self.maxPrimingPackets * maxDuration : 0
    guard (first...first + priming).contains(start) else { return "an edit that does not start with its first sample" }
    return shown > Double(last) - tick && shown <= Double(last + maxDuration) + tick
      ? nil : "an edit that does not end with its last sample"
  }

  /// An error in a sample.
  func finding(of sample: UnsafeRawBufferPointer, isSync: Bool, visit: (NALUnit) -> String?) -> String? {
    guard let configuration else {
      // The syncword of ADTS, which is not allowed in this container (ISO/IEC 14496-3, 1.A.3.2).
      let isADTS = sample.count > 1 && sample[0] == 0xFF && sample[1] & 0xF6 == 0xF0
      return isADTS ? "audio with ADTS headers" : nil
    }
    var finding: String?
    var slices = 0
    var idrSlices = 0
    let addsUp = NALUnit.forEach(of: sample, lengthBytes: configuration.lengthBytes) { unit in
      if unit.kind.isPrimarySlice { slices += 1 }
      if unit.kind == .idrSlice { idrSlices += 1 }
      let isParameterSet = unit.kind == .sequenceParameterSet || unit.kind == .pictureParameterSet
      if isParameterSet && !configuration.contains(unit.bytes) { finding = "parameter sets that differ from 'avcC'" }
      if unit.containsStartCode { finding = "a start code" }
      finding = finding ?? visit(unit)
    }
    if let finding { return finding }
    if !addsUp { return "lengths of units that do not add up to the sample" }
    if slices == 0 { return "no frame" }
    return isSync && idrSlices == 0 ? "a sync sample at which decoding cannot start" : nil
  }
}
