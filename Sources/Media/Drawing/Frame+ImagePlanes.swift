import AV
import Kernels

extension Frame {
  /// The pixels of an 8-bit 4:2:0 frame; valid until the frame is filled anew or freed.
  var picture: MutableImagePlanes {
    guard format == .yuv420p || format == .yuvj420p, let y = plane(0), let u = plane(1), let v = plane(2) else {
      preconditionFailure("only an 8-bit 4:2:0 frame is a picture")
    }
    let half = (width: (width + 1) / 2, height: (height + 1) / 2)
    return MutableImagePlanes(
      y: MutablePlane(base: y.base, stride: y.stride, width: width, height: height),
      u: MutablePlane(base: u.base, stride: u.stride, width: half.width, height: half.height),
      v: MutablePlane(base: v.base, stride: v.stride, width: half.width, height: half.height))
  }

  /// A rectangle of a planar 4:2:0 frame of any depth, to be scaled; its origin is even.
  func planes(of rectangle: (x: Int, y: Int)) -> Scaler.Planes {
    guard format.isPlanar420, let y = plane(0), let u = plane(1), let v = plane(2) else {
      preconditionFailure("only a planar 4:2:0 frame is scaled")
    }
    let bytes = (format.bitDepth + 7) / 8
    return Scaler.Planes(
      (y.base + rectangle.y * y.stride + rectangle.x * bytes, y.stride),
      (u.base + rectangle.y / 2 * u.stride + rectangle.x / 2 * bytes, u.stride),
      (v.base + rectangle.y / 2 * v.stride + rectangle.x / 2 * bytes, v.stride))
  }

  /// A rectangle of a planar 4:2:0 frame of 10 bits, to have its colours mapped; its origin is even.
  func tenBitPlanes(of rectangle: (x: Int, y: Int)) -> ColorTable.Source {
    guard format == .yuv420p10, let y = plane(0), let u = plane(1), let v = plane(2) else {
      preconditionFailure("only a 10-bit 4:2:0 frame has its colours mapped")
    }
    let half = (x: rectangle.x / 2, y: rectangle.y / 2)
    return ColorTable.Source(
      y: (UnsafeRawPointer(y.base + rectangle.y * y.stride + rectangle.x * 2), y.stride),
      u: (UnsafeRawPointer(u.base + half.y * u.stride + half.x * 2), u.stride),
      v: (UnsafeRawPointer(v.base + half.y * v.stride + half.x * 2), v.stride))
  }
}

extension MutableImagePlanes {
  /// To be scaled from or into.
  var planes: Scaler.Planes {
    Scaler.Planes((y.base, y.stride), (u.base, u.stride), (v.base, v.stride))
  }
}
