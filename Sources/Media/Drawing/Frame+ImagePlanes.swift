import AV
import Kernels

extension Frame {
  /// The planes of an 8-bit 4:2:0 frame; valid until the frame is reused or freed.
  var imagePlanes: MutableImagePlanes {
    guard format == .yuv420p || format == .yuvj420p, let y = plane(0), let u = plane(1), let v = plane(2) else {
      preconditionFailure("the frame is not 8-bit 4:2:0")
    }
    let half = (width: (width + 1) / 2, height: (height + 1) / 2)
    return MutableImagePlanes(
      y: MutablePlane(base: y.base, stride: y.stride, width: width, height: height),
      u: MutablePlane(base: u.base, stride: u.stride, width: half.width, height: half.height),
      v: MutablePlane(base: v.base, stride: v.stride, width: half.width, height: half.height))
  }

  /// The planes of a planar 4:2:0 frame of any bit depth for the scaler, from an origin with even coordinates.
  func planes(from origin: (x: Int, y: Int)) -> Scaler.Planes {
    guard format.isPlanar420, let y = plane(0), let u = plane(1), let v = plane(2) else {
      preconditionFailure("the frame is not planar 4:2:0")
    }
    let bytes = (format.bitDepth + 7) / 8
    return Scaler.Planes(
      (y.base + origin.y * y.stride + origin.x * bytes, y.stride),
      (u.base + origin.y / 2 * u.stride + origin.x / 2 * bytes, u.stride),
      (v.base + origin.y / 2 * v.stride + origin.x / 2 * bytes, v.stride))
  }

  /// The planes of a 10-bit 4:2:0 frame for a colour table, from an origin with even coordinates.
  func tenBitPlanes(from origin: (x: Int, y: Int)) -> ColorTable.Source {
    guard format == .yuv420p10, let y = plane(0), let u = plane(1), let v = plane(2) else {
      preconditionFailure("the frame is not 10-bit 4:2:0")
    }
    let half = (x: origin.x / 2, y: origin.y / 2)
    return ColorTable.Source(
      y: (UnsafeRawPointer(y.base + origin.y * y.stride + origin.x * 2), y.stride),
      u: (UnsafeRawPointer(u.base + half.y * u.stride + half.x * 2), u.stride),
      v: (UnsafeRawPointer(v.base + half.y * v.stride + half.x * 2), v.stride))
  }
}

extension MutableImagePlanes {
  /// The planes for the scaler.
  var planes: Scaler.Planes {
    Scaler.Planes((y.base, y.stride), (u.base, u.stride), (v.base, v.stride))
  }
}
