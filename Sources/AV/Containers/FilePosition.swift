internal import CFFmpeg
import Glibc

/// The arithmetic of libav's seek callback, which also answers how large the file is.
enum FilePosition {
  static func seek(_ offset: Int64, _ whence: Int32, position: inout Int64, size: Int64) -> Int64 {
    // AVSEEK_FORCE asks to seek at any cost; ours cost nothing.
    let base: Int64
    switch whence & ~AVSEEK_FORCE {
    case AVSEEK_SIZE: return size
    case SEEK_SET: base = 0
    case SEEK_CUR: base = position
    case SEEK_END: base = size
    default: return Int64(cffmpeg_error(EINVAL))
    }
    let (target, overflow) = base.addingReportingOverflow(offset)
    guard !overflow, target >= 0 else { return Int64(cffmpeg_error(EINVAL)) }
    position = target
    return target
  }
}
