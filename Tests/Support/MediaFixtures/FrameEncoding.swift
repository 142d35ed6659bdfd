import AV
import Kernels

/// Draws and encodes the frames of a clip.
final class FrameEncoding {
  private let clip: MarkedClip
  private let encoder: VideoEncoder
  private let frame: Frame
  private let packet: Packet
  private let stream: Int
  private let timeBase: Rational
  private var isDropping = false

  private static let groupLength = 30
  private static let bFrames = 2

  init(_ clip: MarkedClip, timeBase: Rational, muxer: borrowing Muxer) throws {
    self.clip = clip
    self.timeBase = timeBase
    let (width, height) = clip.rotation.swapsAxes ? (clip.height, clip.width) : (clip.width, clip.height)
    let format: PixelFormat = clip.codec == .hevc10 ? .yuv420p10 : .yuv420p
    // The encoder of a phone does not reorder frames and codes an IDR frame each second.
    let isReordered = clip.isReordered || clip.beginsWithOpenGOP
    let order =
      "keyint=\(Self.groupLength):bframes=\(isReordered ? "\(Self.bFrames):b-adapt=0:b-pyramid=0" : "0")"
      + (clip.beginsWithOpenGOP ? ":open-gop=1:scenecut=0" : "")
    let (encoder, options) = Self.encoder(of: clip, order: order)
    let settings = VideoEncoderSettings(
      encoder: encoder, options: options,
      width: width, height: height, format: format, timeBase: timeBase,
      frameRate: Rational(Int32(max(1, (Double(clip.times.count) / clip.seconds).rounded())), 1),
      color: clip.tags
        ?? (clip.isFullRange
          ? ColorDescription(range: "pc", matrix: "bt709", primaries: "bt709", transfer: "bt709") : .bt709),
      sampleAspectRatio: clip.sampleAspectRatio)
    self.encoder = try VideoEncoder(settings)
    frame = try Frame(width: width, height: height, format: format)
    packet = try Packet()
    stream = try muxer.addStream(
      of: self.encoder, displayMatrix: clip.rotation == .upright ? nil : clip.rotation.displayMatrix)
  }

  /// The encoder and its options.
  private static func encoder(of clip: MarkedClip, order: String) -> (name: String, options: [String: String]) {
    let group = ["b": "2M", "g": "\(groupLength)"]
    switch clip.codec {
    case .h264:
      let parameters = ([order] + parameters(clip)).joined(separator: ":")
      return ("libx264", ["preset": "ultrafast", "crf": "20", "x264-params": parameters])
    case .hevc, .hevc10:
      return ("libx265", ["preset": "ultrafast", "crf": "20", "x265-params": "\(order):log-level=none:pools=none"])
    // As browsers encode: at once, without frames that are not shown.
    case .vp8, .vp9:
      let own = ["deadline": "realtime", "cpu-used": "8", "lag-in-frames": "0", "auto-alt-ref": "0"]
      return (clip.codec == .vp8 ? "libvpx" : "libvpx-vp9", group.merging(own) { $1 })
    case .av1:
      let own = ["usage": "realtime", "cpu-used": "8", "lag-in-frames": "0"]
      return ("libaom-av1", group.merging(own) { $1 })
    }
  }

  private static func parameters(_ clip: MarkedClip) -> [String] {
    (clip.isInterlaced ? ["bff=1"] : []) + (clip.croppedColumns > 0 ? ["crop-rect=\(clip.croppedColumns),0,0,0"] : [])
      + (clip.x264.map { [$0] } ?? [])
  }

  func encode(number: Int, at time: Double, into muxer: borrowing Muxer) throws {
    try frame.makeWritable()
    draw(number: number % CounterBlocks.range.count)
    frame.pts = Int64((time * 90_000).rounded())
    try encoder.send(frame)
    try write(into: muxer)
  }

  /// Encodes frames before the start of the clip and drops their packets, up to the two before the first I frame.
  func encodePrecedingFrames(into muxer: borrowing Muxer) throws {
    isDropping = true
    for index in Self.bFrames - Self.groupLength..<0 {
      try encode(number: 0, at: Double(index) * clip.seconds / Double(clip.times.count), into: muxer)
    }
  }

  func finish(into muxer: borrowing Muxer) throws {
    try encoder.finish()
    try write(into: muxer)
  }

  private func write(into muxer: borrowing Muxer) throws {
    while try encoder.receive(into: packet) == .output {
      // In decoding order the I frame precedes the two frames that are shown before it.
      if packet.isKey && (packet.pts ?? 0) > 0 { isDropping = false }
      guard !isDropping else {
        packet.unreference()
        continue
      }
      packet.duration = duration(from: packet.pts ?? 0)
      try muxer.write(packet, to: stream, timeBase: timeBase)
    }
  }

  private func duration(from ticks: Int64) -> Int64 {
    let times = clip.times.map { Int64(($0 * 90_000).rounded()) } + [Int64((clip.seconds * 90_000).rounded())]
    return (times.first { $0 > ticks } ?? ticks) - ticks
  }

  private func draw(number: Int) {
    if let stripes = clip.stripes { return draw(stripes) }
    if clip.isInterlaced { return drawFields(number) }
    if clip.isNoise { return drawNoise(number) }
    let color = clip.isFullRange ? clip.color.fullRangeComponents : clip.color.components
    fill((0, 0, clip.width, clip.height), (color.y, color.u, color.v))
    for block in CounterBlocks.rectangles(of: number, width: clip.width, height: clip.height) {
      fill(block.rectangle, (block.luma, 128, 128))
    }
    if clip.croppedColumns > 0 { fill((0, 0, clip.croppedColumns, clip.height), (235, 128, 128)) }
  }

  /// Draws a bar into the odd rows, and the same bar one field later into the even rows.
  private func drawFields(_ number: Int) {
    fill((0, 0, clip.width, clip.height), (40, 128, 128))
    guard let plane = frame.plane(0) else { return }
    for row in 0..<frame.height {
      let x = (2 * number + (row + 1) % 2) * Self.fieldStep % (frame.width - Self.barWidth)
      (plane.base + row * plane.stride + x).assumingMemoryBound(to: UInt8.self)
        .update(repeating: 200, count: Self.barWidth)
    }
  }

  private func drawNoise(_ number: Int) {
    var state = UInt64(number) &+ 1
    for index in 0..<3 {
      guard let plane = frame.plane(index) else { return }
      let rows = index == 0 ? frame.height : (frame.height + 1) / 2
      for offset in 0..<plane.stride * rows {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        (plane.base + offset).storeBytes(of: UInt8(truncatingIfNeeded: state >> 56), as: UInt8.self)
      }
    }
  }

  private static let fieldStep = 6
  private static let barWidth = 32

  private func draw(_ stripes: [UInt16]) {
    guard frame.format == .yuv420p10, let y = frame.plane(0), let u = frame.plane(1), let v = frame.plane(2) else {
      return
    }
    for row in 0..<frame.height {
      let line = (y.base + row * y.stride).assumingMemoryBound(to: UInt16.self)
      for x in 0..<frame.width { line[x] = stripes[x * stripes.count / frame.width] }
    }
    for plane in [u, v] {
      for row in 0..<(frame.height + 1) / 2 {
        (plane.base + row * plane.stride).assumingMemoryBound(to: UInt16.self)
          .update(repeating: 512, count: (frame.width + 1) / 2)
      }
    }
  }

  private func fill(_ upright: (x: Int, y: Int, width: Int, height: Int), _ color: (UInt8, UInt8, UInt8)) {
    let area = clip.rotation.coded(upright, uprightWidth: clip.width, uprightHeight: clip.height)
    fill(plane: 0, area, color.0)
    let half = (x: area.x / 2, y: area.y / 2, width: (area.width + 1) / 2, height: (area.height + 1) / 2)
    fill(plane: 1, half, color.1)
    fill(plane: 2, half, color.2)
  }

  private func fill(plane index: Int, _ area: (x: Int, y: Int, width: Int, height: Int), _ value: UInt8) {
    guard let plane = frame.plane(index) else { return }
    if frame.format.bitDepth == 8 {
      MutablePlane(
        base: plane.base + area.y * plane.stride + area.x, stride: plane.stride, width: area.width,
        height: area.height
      ).fill(with: value)
      return
    }
    for y in area.y..<area.y + area.height {
      let row = (plane.base + y * plane.stride).assumingMemoryBound(to: UInt16.self)
      (row + area.x).update(repeating: UInt16(value) << 2, count: area.width)
    }
  }
}
