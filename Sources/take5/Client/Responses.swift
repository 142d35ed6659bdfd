import FoundationEssentials
import HTTPClient
import Model

/// The kind of resource that a submission creates.
enum MediaResource: String, Sendable {
  case post
  case image

  /// The path of one of them in the API.
  func path(of id: PublicID) -> String { "/v1/\(rawValue)s/\(id)" }
}

/// The fields of a post or an image that the command line reads from the API.
struct MediaResponse: Decodable {
  /// The state of processing. `replaced`: a later image took its place before it was processed. `held`: its media are ready, and
  /// only its author sees it until a moderator decides.
  enum Status: String, Decodable {
    case processing
    case ready
    case rejected
    case failed
    case replaced
    case held
    case hidden
  }

  /// One file of the post or image.
  struct Asset: Decodable {
    let url: String
    let type: String
    let bytes: Int64
    let width: Int?
    let height: Int?
    let duration: Double?
  }

  let id: PublicID
  /// The kind of post, or of image.
  let kind: String
  /// Nil for an image that its owner has submitted.
  let author: String?
  let visibility: Visibility?
  let title: String?
  let caption: String?
  let createdAt: Date
  let status: Status
  let reasons: [Reason]
  let job: JobResponse?
  let assets: [Role: Asset]
  /// The assets of each photo of a photo post.
  let photos: [[Role: Asset]]?

  /// All files of the post or image.
  var assetsByName: [MediaName: Asset] {
    var named: [MediaName: Asset] = [:]
    if let photos, !photos.isEmpty {
      for (index, assets) in photos.enumerated() {
        for (role, asset) in assets { named[MediaName(photo: index, role: role)] = asset }
      }
    } else {
      for (role, asset) in assets { named[MediaName(photo: nil, role: role)] = asset }
    }
    return named
  }
}

/// A page of a list of posts.
struct PageResponse: Decodable {
  let items: [MediaResponse]
  /// The cursor of the next page; nil on the last one.
  let next: String?
}

/// The fields of a job that the command line reads from the API.
struct JobResponse: Decodable {
  let id: PublicID
  let state: JobState
  let progress: Double
  let stage: String?
  let url: String?
  let verdict: Verdict?
  let error: String?
}

/// An error of the service as RFC 9457 describes it.
struct ProblemResponse: Decodable {
  let type: String?
  let title: String
  let detail: String?
  let remedy: String?
  let reasons: [Reason]?
}

extension CommandFailure {
  /// The failure if a response with status 2xx is not what the service sends.
  init(unexpected reason: String) {
    self.init(
      .unavailable, "the response is not one of this version of take5: \(reason)",
      remedy: "check the URL that --server names")
  }

  /// Translates a response whose status is not 2xx.
  init(_ response: HTTPResponse) {
    if 300..<400 ~= response.status, let location = response.headers["location"] {
      self.init(
        .usage, "the server redirects to \(location) (status \(response.status)), and redirects are not followed",
        remedy: "pass that server with --server: media and the API key are sent only to the server that it names")
      return
    }
    let problem = try? JSON.decode(ProblemResponse.self, from: response.body)
    let status: ExitStatus =
      switch response.status {
      case 413, 422: .rejected
      case 400..<500: .usage
      case 502, 503, 504, 507: .unavailable
      default: .internal
      }
    if let reasons = problem?.reasons, !reasons.isEmpty {
      // The detail of the problem joins the details of the reasons, and each of them ends with its remedy.
      let texts = reasons.map { VerdictText.line(of: $0) }
      self.init(status, "the media are rejected: \(texts.joined(separator: "; "))")
      return
    }
    let text = problem.map { $0.detail ?? $0.title } ?? "the service responded with status \(response.status)"
    self.init(status, text, remedy: response.status == 401 ? Self.keyRemedy : problem?.remedy)
  }

  /// The remedy of the service is for programs that write header fields themselves.
  private static let keyRemedy =
    "name a file with an API key by \(Option.apiKey.name), or set \(OtherVariable.apiKey.name); "
    + "'take5 keys create' makes a key"
}
