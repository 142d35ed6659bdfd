package import AV
package import Kernels
internal import Platform

/// Writes a clip as phones do: H.264 and AAC in MP4, the index in front.
package struct ClipWriter: ~Copyable {
  private let settings: ClipSettings
  private let sound: StereoAudio
  private let muxer: Muxer
  private let video: VideoEncoder
  private let audio: AudioEncoder
  private let videoStream: Int
  private let audioStream: Int
  private let frame: Frame
  private let packet: Packet
  private var frameCount = 0
  private var sampleCount = 0

  /// Opens the file, which is replaced, and both encoders.
  package init(path: String, settings: ClipSettings, sound: StereoAudio) throws {
    let coded = settings.coding.size(width: settings.width, height: settings.height)
    let rate = Int32(settings.frameRate)
    let video = try VideoEncoder(
      VideoEncoderSettings(
        encoder: "libx264", options: settings.videoOptions, profile: "high", width: coded.width, height: coded.height,
        timeBase: Rational(1, rate), frameRate: Rational(rate, 1)))
    let audio = try AudioEncoder(sampleRate: sound.sampleRate, channels: 2, bitRate: settings.soundBitRate)
    let muxer = try Muxer(writing: OpenFile(Descriptor(writing: path, replacing: true)))
    let frame = try Frame(width: coded.width, height: coded.height, format: .yuv420p)
    let packet = try Packet()
    let videoStream = try muxer.addStream(of: video, displayMatrix: settings.displayMatrix)
    let audioStream = try muxer.addStream(of: audio)
    try muxer.start()
    self.videoStream = videoStream
    self.audioStream = audioStream
    self.settings = settings
    self.sound = sound
    self.muxer = muxer
    self.video = video
    self.audio = audio
    self.frame = frame
    self.packet = packet
  }

  /// Appends a picture, as the viewer shall see it, and the sound that goes with it.
  package mutating func write(_ picture: ImagePlanes) throws(AVError) {
    try frame.makeWritable()
    pixels(of: frame).copy(from: picture, orientation: settings.coding)
    frame.pts = Int64(frameCount)
    frameCount += 1
    try video.send(frame)
    try drainVideo()
    try writeSound(upTo: frameCount * sound.sampleRate / settings.frameRate)
  }

  /// Writes the rest of the sound and the index.
  package consuming func finish() throws(AVError) {
    try writeSound(upTo: .max)
    try video.finish()
    try drainVideo()
    try audio.finish()
    try drainAudio()
    try muxer.finish()
  }

  private func pixels(of frame: borrowing Frame) -> MutableImagePlanes {
    func plane(_ index: Int, divisor: Int) -> MutablePlane {
      guard let plane = frame.plane(index) else { preconditionFailure("a frame of yuv420p has three planes") }
      return MutablePlane(
        base: plane.base, stride: plane.stride, width: frame.width / divisor, height: frame.height / divisor)
    }
    return MutableImagePlanes(y: plane(0, divisor: 1), u: plane(1, divisor: 2), v: plane(2, divisor: 2))
  }

  private mutating func writeSound(upTo end: Int) throws(AVError) {
    while sampleCount < min(end, sound.left.count) {
      let range = sampleCount..<min(sampleCount + audio.frameSize, sound.left.count)
      let frame = try Frame(sampleCapacity: range.count, sampleRate: sound.sampleRate, channels: 2)
      for (channel, samples) in [sound.left, sound.right].enumerated() {
        guard let room = frame.samples(ofChannel: channel) else { preconditionFailure("the room has two channels") }
        _ = room.update(fromContentsOf: samples[range])
      }
      frame.pts = Int64(sampleCount)
      sampleCount = range.upperBound
      try audio.send(frame)
      try drainAudio()
    }
  }

  private func drainVideo() throws(AVError) {
    while try video.receive(into: packet) == .output {
      try muxer.write(packet, to: videoStream, timeBase: video.timeBase)
    }
  }

  private func drainAudio() throws(AVError) {
    while try audio.receive(into: packet) == .output {
      try muxer.write(packet, to: audioStream, timeBase: audio.timeBase)
    }
  }
}
