import Glibc
internal import Kernels
internal import Platform
internal import Stills

/// The photos that are measured with: those that `BENCH_PHOTO` names, else one of 12 megapixels that is made here.
struct PhotoSet: Sendable {
  let paths: [String]

  init(folder: String, progress: (String) -> Void) throws {
    if let named = getenv("BENCH_PHOTO").map({ String(cString: $0) }), !named.isEmpty {
      paths = named.split(separator: " ").map(String.init)
      for path in paths where access(path, R_OK) != 0 {
        throw BenchError("there is no \(path), which BENCH_PHOTO names")
      }
      return
    }
    let path = "\(folder)/photo-1.jpg"
    if access(path, R_OK) != 0 {
      progress("painting a photo")
      try Descriptor(writing: path, replacing: true).write(try Self.photo())
    }
    paths = [path]
  }

  private static func photo() throws -> [UInt8] {
    let (width, height) = (4032, 3024)
    let texture = DeadLeaves.texture(width: width, height: height, count: 6000, seed: 11)
    var state: UInt64 = 3
    var bytes: [UInt8] = []
    bytes.reserveCapacity(3 * width * height)
    for y in 0..<height {
      for x in 0..<width {
        // The noise of a sensor.
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let noise = Float(Int8(truncatingIfNeeded: state >> 40)) / 24
        let color = texture.color(Float(x), Float(y)) * 255
        for component in [color.x, color.y, color.z] { bytes.append(UInt8(min(max(component + noise, 0), 255))) }
      }
    }
    return try JPEGEncoder(quality: 92, isProgressive: false).encode(
      RGBImage(width: width, height: height, bytes: bytes))
  }
}
