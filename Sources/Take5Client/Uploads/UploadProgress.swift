/// How far a submission is.
///
/// ```swift
/// for await progress in upload.progress {
///   bar.value = progress.fraction
///   label.text = progress.phase == .waiting ? "Waiting for the network" : nil
/// }
/// ```
public struct UploadProgress: Sendable, Hashable {
  /// What happens now.
  public enum Phase: Sendable, Hashable {
    /// Others are sent before it.
    case queued
    /// Bytes are sent.
    case sending
    /// It waits for the network, or because the service is busy, and goes on by itself.
    case waiting
    /// It waits until its user signs in.
    case signedOut
    /// Everything is sent; the service processes it.
    case sent
    /// It is not sent any more: `Upload.post` throws why, `UploadQueue.retry(_:)` tries again.
    case failed
  }

  /// What happens now.
  public var phase: Phase
  /// The bytes that the service has stored.
  public var sentBytes: Int64
  /// The bytes of all files.
  public var totalBytes: Int64

  /// Makes a value, such as for a preview.
  public init(phase: Phase = .queued, sentBytes: Int64 = 0, totalBytes: Int64 = 0) {
    (self.phase, self.sentBytes, self.totalBytes) = (phase, sentBytes, totalBytes)
  }

  /// From 0 to 1.
  public var fraction: Double {
    if phase == .sent { return 1 }
    return totalBytes > 0 ? Double(sentBytes) / Double(totalBytes) : 0
  }
}
