import AV
import Kernels
package import Platform

extension MarkedClip {
  // One tick for every common frame rate and for times between.
  private static let timeBase = Rational(1, 90_000)

  /// Encodes the clip into a file without a name.
  package func write() throws -> OpenFile {
    let file = try TemporaryFile.make()
    let muxer = try Muxer(writing: file, format: format)
    let pictures = hasVideo ? try ImageEncoding(self, timeBase: Self.timeBase, muxer: muxer) : nil
    let sounds = try [tone, secondTone].compactMap(\.self).map { try ToneEncoding($0, seconds: seconds, muxer: muxer) }
    try muxer.start()
    if beginsWithOpenGOP { try pictures?.encodeCutOff(into: muxer) }
    for (index, time) in times.enumerated() where hasVideo {
      try pictures?.encode(number: firstNumber + min(index, frozenFrom ?? index), at: time, into: muxer)
      for sound in sounds { try sound.encode(until: time, into: muxer) }
    }
    try pictures?.finish(into: muxer)
    for sound in sounds {
      try sound.encode(until: seconds, into: muxer)
      try sound.finish(into: muxer)
    }
    try muxer.finish()
    return file
  }
}
