import AV
import Model
import Platform

/// One video that is written: a muxer, and where its sound comes from.
final class OutputFile {
  let role: Role
  let muxer: Muxer
  private let file: OpenFile

  init(_ role: Role, file: OpenFile) throws(Stop) {
    self.role = role
    self.file = file
    muxer = try Stop.wrap { () throws(AVError) in try Muxer(writing: file) }
  }

  /// Writes a packet of one of its streams.
  func write(_ packet: borrowing Packet, to stream: Int, timeBase: Rational) throws(Stop) {
    do { try muxer.write(packet, to: stream, timeBase: timeBase) } catch { throw Stop(error) }
  }

  func start() throws(Stop) {
    do { try muxer.start() } catch { throw Stop(error) }
  }

  /// Completes the file.
  ///
  /// - Parameters:
  ///   - size: as displayed.
  ///   - seconds: of its pictures.
  func finish(size: Size, seconds: Double) throws(Stop) -> OutputFacts {
    do { try muxer.finish() } catch { throw Stop(error) }
    do {
      return OutputFacts(
        role: role, type: "video/mp4", bytes: try file.descriptor.size(), width: size.width, height: size.height,
        duration: seconds)
    } catch {
      throw Stop(error)
    }
  }
}
