import BoxTesting
import ISOBaseMedia
import Model

@testable import Media

extension FuzzTarget {
  static let containers = [container, movie, avc, heif, webM]

  private static func reader(_ file: [UInt8]) -> (_ offset: Int64, _ count: Int) -> [UInt8] {
    { offset, count in
      expect(0...file.count ~= Int(offset) && count >= 0, "a read outside of the file")
      // The caller allocates as many bytes.
      expect(count <= file.count + 65_536, "a read of more than the file")
      return Array(file.dropFirst(Int(offset)).prefix(count))
    }
  }

  private static func examine(_ file: [UInt8]) throws(ContainerRefusal) -> MovieMetadata {
    let structure = try ContainerWalker.examine(size: Int64(file.count), read: reader(file)).get()
    let content = Int(structure.movieContent.lowerBound)..<Int(structure.movieContent.upperBound)
    let metadata = MovieMetadata(movie: Array(file[content]), outside: structure.identifying)
    for track in metadata.tracks {
      _ = (track.isShownOnce, track.dwells, track.cleanAperture?.samples(ofWidth: 1920, height: 1080))
    }
    return metadata
  }

  private static func check(_ file: [UInt8]) {
    let (size, read) = (Int64(file.count), reader(file))
    let header = MovieHeader.read(size: size, read: read)
    let finding = MovieCheck.finding(size: size, visit: SEIPrivacyCheck.finding, read: read)
    expect(finding == nil || finding != "", "a finding without text")
    expect(header.map { $0.seconds >= 0 && $0.maxFrameSeconds >= 0 } ?? true, "a negative duration")
  }

  /// A file as it is uploaded.
  private static let container = FuzzTarget("container") { file in
    _ = FileSignature(file)
    check(file)
    do throws(ContainerRefusal) {
      _ = try examine(file)
    } catch {
      expect(error.offset.map { 0...Int64(file.count) ~= $0 } ?? true, "an offset outside of the file")
      _ = Reason(error, input: .front)
    }
  }

  /// A WebM as it is uploaded.
  private static let webM = FuzzTarget("webm") { file in
    guard WebMWalker.recognizes(file) else { return }
    do throws(ContainerRefusal) {
      let structure = try WebMWalker.examine(size: Int64(file.count), read: reader(file)).get()
      expect(structure.tracks.contains { $0.size != nil }, "no video")
      expect(structure.identifying.count <= 64, "too many entries of metadata")
    } catch {
      expect(error.offset.map { 0...Int64(file.count) ~= $0 } ?? true, "an offset outside of the file")
      _ = Reason(error, input: .front)
    }
  }

  /// The content of a `moov` box, in front of some media data: tables, edit lists, metadata.
  private static let movie = FuzzTarget("movie") { content in
    let file = fileType("isom") + box("moov", content) + mediaData
    check(file)
    _ = try examine(file)
  }

  /// An `avcC` box, a sequence parameter set in it, and the units of a sample.
  private static let avc = FuzzTarget("avc") { bytes in
    bytes.withUnsafeBytes { sample in
      for lengthBytes in [1, 2, 4] {
        var count = 0
        let isWhole = NALUnit.forEach(of: sample, lengthBytes: lengthBytes) { unit in
          count += lengthBytes + unit.bytes.count
          _ = SEIPrivacyCheck.finding(unit)
        }
        expect(!isWhole || count == sample.count, "units that do not add up to the sample")
      }
    }
    guard let configuration = AVCConfiguration(bytes) else { return }
    let again = AVCConfiguration(configuration.bytesForLengthSize4)
    expect(again?.lengthBytes == 4, "a configuration that cannot be read again")
    expect(again?.sequenceParameterSets == configuration.sequenceParameterSets, "other parameter sets")
  }

  /// A HEIF or AVIF: what is decoded is a file made of its primary image.
  private static let heif = FuzzTarget("heif") { file in
    _ = AVIFPrivacyCheck.finding(in: file)
    _ = AVIFHeader.read(size: Int64(file.count), read: reader(file))
    let image = try HEIFImage(file, pixels: 1 << 24)
    _ = image.properties.transform
    let rewritten = try? HEIFImage(image.bytes, pixels: 1 << 24)
    expect(rewritten != nil, "a rewritten file that cannot be read again")
    expect(
      rewritten?.properties.steps.isEmpty == true, "a rewritten file with an orientation, which would be applied twice")
  }
}
