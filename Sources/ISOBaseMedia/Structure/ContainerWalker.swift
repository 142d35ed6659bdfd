/// Walks the boxes of a file (ISO/IEC 14496-12; Apple, QuickTime File Format) and says whether it can be a clip.
///
/// It trusts no size, reads headers only, and visits a bounded number of boxes to a bounded depth, whatever the file says.
package enum ContainerWalker {
  /// Examines a file.
  ///
  /// - Parameters:
  ///   - size: the length of the file in bytes.
  ///   - read: returns the bytes at an offset, fewer than asked for only at the end of the file.
  package static func examine<Failure: Error>(
    size: Int64, read: @escaping (_ offset: Int64, _ count: Int) throws(Failure) -> [UInt8]
  ) throws(Failure) -> Result<ContainerStructure, ContainerRefusal> {
    var walk = ContainerWalk(window: FileWindow(size: size, read: read))
    do throws(ContainerWalk<Failure>.Ending) {
      return .success(try walk.run())
    } catch {
      switch error {
      case .refused(let refusal): return .failure(refusal)
      case .unreadable(let failure): throw failure
      }
    }
  }
}
