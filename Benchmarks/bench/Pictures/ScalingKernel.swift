internal import AV
internal import Kernels
internal import Model

/// A way of ours to make pictures smaller; a new kernel is a new line here.
struct ScalingKernel: Sendable {
  let name: String
  /// What it does, for people.
  let meaning: String
  /// Of the pictures that it makes of `PhoneFootage.size`.
  let target: Size
  private let scale: @Sendable (ImagePlanes, MutableImagePlanes) throws -> Void

  static let all = [
    ScalingKernel("two_thirds", "two thirds, as a canvas of 720 is filled", to: Size(width: 720, height: 1280)) {
      $1.copy(twoThirdsOf: $0)
    },
    ScalingKernel("halved", "halved and nothing more", to: Size(width: 540, height: 960)) { $1.copy(halving: $0) },
    ScalingKernel(
      "halved_then_bicubic", "halved, then bicubic, as an inset on 1080 is drawn", to: Size(width: 324, height: 576),
      scale: halveThenScale),
    ScalingKernel("mean_of_5", "the mean of 5x5, as an inset on 720 is drawn", to: Size(width: 216, height: 384)) {
      $1.copy(meansOf: $0, side: 5)
    },
  ]

  private init(
    _ name: String, _ meaning: String, to target: Size,
    scale: @escaping @Sendable (ImagePlanes, MutableImagePlanes) throws -> Void
  ) {
    self.name = name
    self.meaning = meaning
    self.target = target
    self.scale = scale
  }

  /// Takes the pixels of a picture of `PhoneFootage.size`.
  func draw(_ source: ImagePlanes, into target: MutableImagePlanes) throws { try scale(source, target) }

  @Sendable private static func halveThenScale(_ source: ImagePlanes, into target: MutableImagePlanes) throws {
    let half = ImageBuffer(width: source.width / 2, height: source.height / 2)
    half.picture.copy(halving: source)
    try Scaler(from: side(half.width, half.height), to: side(target.width, target.height))
      .scale(half.picture.planes, to: target.planes)
  }

  private static func side(_ width: Int, _ height: Int) -> Scaler.Side {
    Scaler.Side(width: width, height: height, format: .yuv420p, matrix: .bt709, isFullRange: false)
  }
}

extension MutableImagePlanes {
  /// To be scaled from or into.
  fileprivate var planes: Scaler.Planes {
    Scaler.Planes((y.base, y.stride), (u.base, u.stride), (v.base, v.stride))
  }
}
