internal import Kernels

/// How a clip is coded and stored.
package struct ClipSettings: Sendable {
  /// Pixels in a row as the viewer sees it.
  package let width: Int
  /// Rows as the viewer sees them.
  package let height: Int
  /// Pictures a second.
  package let frameRate: Int
  /// Quarter turns clockwise that a player must make: 1 is how phones store what they film upright.
  package let quarterTurns: Int
  /// libx264's options by name: `preset`, `crf`, `x264-params`.
  package let videoOptions: [String: String]
  /// Bits of sound a second.
  package let soundBitRate: Int

  package init(
    width: Int, height: Int, frameRate: Int, quarterTurns: Int = 0, videoOptions: [String: String],
    soundBitRate: Int = 128_000
  ) {
    self.width = width
    self.height = height
    self.frameRate = frameRate
    self.quarterTurns = quarterTurns
    self.videoOptions = videoOptions
    self.soundBitRate = soundBitRate
  }

  /// From what is seen to what is coded.
  var coding: Orientation { Orientation(quarterTurns: -quarterTurns) }

  /// The nine numbers of the track's matrix (ISO/IEC 14496-12, 8.3.2): 16.16 fixed point, 2.30 in the last column.
  var displayMatrix: [Int32]? {
    let one: Int32 = 1 << 16
    let (right, bottom) = (Int32(width) << 16, Int32(height) << 16)
    // The last row moves the turned picture back to where it is seen.
    switch coding.quarterTurns {
    case 3: return [0, one, 0, -one, 0, 0, right, 0, 1 << 30]
    case 2: return [-one, 0, 0, 0, -one, 0, right, bottom, 1 << 30]
    case 1: return [0, -one, 0, one, 0, 0, 0, bottom, 1 << 30]
    default: return nil
    }
  }
}
