/// A length of time as a person reads it.
enum SpanText {
  /// `0.35 s`, `42 s`, `5m 3s`, `2h 10m`, `3d 4h`.
  static func text(_ seconds: Double) -> String {
    guard seconds.isFinite, abs(seconds) < 1e9 else { return "-" }
    if seconds < 10 { return "\(VerdictText.rounded(max(0, seconds))) s" }
    let whole = Int(seconds)
    switch whole {
    case ..<60: return "\(whole) s"
    case ..<3600: return "\(whole / 60)m \(whole % 60)s"
    case ..<86_400: return "\(whole / 3600)h \(whole / 60 % 60)m"
    default: return "\(whole / 86_400)d \(whole / 3600 % 24)h"
    }
  }
}
