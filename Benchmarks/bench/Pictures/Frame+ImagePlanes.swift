internal import AV
internal import Kernels

extension Frame {
  /// The pixels of an 8-bit 4:2:0 frame; valid until the frame is filled anew or freed.
  var picture: MutableImagePlanes {
    guard format == .yuv420p, let y = plane(0), let u = plane(1), let v = plane(2) else {
      preconditionFailure("the benchmark's clips are of 8 bits")
    }
    let half = (width: (width + 1) / 2, height: (height + 1) / 2)
    return MutableImagePlanes(
      y: MutablePlane(base: y.base, stride: y.stride, width: width, height: height),
      u: MutablePlane(base: u.base, stride: u.stride, width: half.width, height: half.height),
      v: MutablePlane(base: v.base, stride: v.stride, width: half.width, height: half.height))
  }
}
