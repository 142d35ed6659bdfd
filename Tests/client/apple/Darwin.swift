// swift-format-ignore-file
// Declarations that stand for those of Apple's SDK when its code is type-checked on Linux. No program is linked with them.
@_exported public import Foundation
@_exported public import FoundationNetworking

extension URLSessionConfiguration {
  public class func background(withIdentifier identifier: String) -> URLSessionConfiguration { .default }
  public var sessionSendsLaunchEvents: Bool {
    get { true }
    set {}
  }
  public var isDiscretionary: Bool {
    get { true }
    set {}
  }
  public var waitsForConnectivity: Bool {
    get { true }
    set {}
  }
}

extension URLSession {
  public var allTasks: [URLSessionTask] { get async { [] } }
  public func uploadTask(withResumeData data: Data) -> URLSessionUploadTask {
    uploadTask(with: URLRequest(url: URL(fileURLWithPath: "/")), from: data)
  }
}

extension URLError {
  public var uploadTaskResumeData: Data? { nil }
}
