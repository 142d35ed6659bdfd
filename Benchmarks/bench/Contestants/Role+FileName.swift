internal import Model

extension Role {
  /// What a file of this role is called, here as among the outputs of take5.
  var fileName: String {
    switch self {
    case .composed, .composedSwapped, .clipFront, .clipBack: "\(rawValue).mp4"
    default: "\(rawValue).jpg"
    }
  }
}
