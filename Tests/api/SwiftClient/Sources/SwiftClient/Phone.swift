import Foundation
import Take5Client

/// A phone without a back-end, from its registration to its sign-out.
enum Phone {
  static func run(_ url: String, samples: String, photo: String, mail: String) async throws {
    let service = Take5ClientAPIConfiguration(basePath: url)
    let registration = Registration(
      userName: "sam", password: "correct horse", name: "Sam", email: "sam@example.org")
    let minted = try await TokensAPI.register(registration: registration, apiConfiguration: service)
    let (user, phone) = (
      minted.user,
      Take5ClientAPIConfiguration(basePath: url, customHeaders: ["Authorization": "Bearer \(minted.token)"])
    )
    try await TokensAPI.requestVerification(apiConfiguration: phone)
    let code = try await code(in: "\(mail)/\(user)")
    #if VERIFIES
      try await TokensAPI.verifyEmail(verificationCode: VerificationCode(code: code), apiConfiguration: phone)
    #else
      SwiftClient.expect(!code.isEmpty, "the mail has no code")
    #endif
    let avatar = try await ImagesAPI.submitProfileImage(
      id: user, image: URL(fileURLWithPath: photo), prefer: "wait=50", apiConfiguration: phone)
    SwiftClient.expect(avatar.assets["avatar"] != nil, "\(avatar)")
    try await upload(URL(fileURLWithPath: photo), phone)
    // The generator makes the form of an operation that also has JSON.
    let submitted = try await PostsAPI.submitPost(
      kind: .take5, caption: "Dusk", foreground: .back, front: URL(fileURLWithPath: "\(samples)/front.mp4"),
      back: URL(fileURLWithPath: "\(samples)/back.mp4"), apiConfiguration: phone)
    let post = try await PostsAPI.readPost(id: submitted.id, wait: 50, apiConfiguration: phone)
    SwiftClient.expect(post.status == .ready && post.author == user, "\(post)")
    #if INCLUDES
      let page = try await ReadingAPI.listPosts(author: [user], include: [.author, .mine], apiConfiguration: phone)
      SwiftClient.expect(page.included?.users?[user]?.name == "Sam", "\(page)")
    #else
      let page = try await ReadingAPI.listPosts(author: [user], apiConfiguration: phone)
    #endif
    SwiftClient.expect(page.items.map(\.id) == [post.id], "\(page)")
    _ = try await RelationsAPI.addLike(id: user, other: post.id, apiConfiguration: phone)
    let liked = try await PostsAPI.readPost(id: post.id, apiConfiguration: phone)
    SwiftClient.expect(liked.counts.likes == 1, "\(liked)")
    try await TokensAPI.revokeCurrentToken(apiConfiguration: phone)
    do {
      _ = try await PostsAPI.readPost(id: post.id, apiConfiguration: phone)
      SwiftClient.expect(false, "a phone that has signed out reads a post")
    } catch ErrorResponse.error(let status, _, _, _) {
      SwiftClient.expect(status == 401, "\(status)")
    }
  }

  /// Sends a file as an upload.
  private static func upload(_ file: URL, _ phone: Take5ClientAPIConfiguration) async throws {
    let bytes = try Data(contentsOf: file).count
    let created = try await UploadsAPI.createUploadWithRequestBuilder(
      tusResumable: "1.0.0", uploadLength: "\(bytes)", apiConfiguration: phone
    ).execute()
    let location = created.header.first { $0.key.lowercased() == "location" }?.value
    guard let id = location?.split(separator: "/").last.flatMap({ UUID(uuidString: String($0)) }) else {
      return SwiftClient.expect(false, "the upload has no location: \(created.header)")
    }
    try await UploadsAPI.appendToUpload(
      tusResumable: "1.0.0", uploadOffset: "0", id: id, body: file, apiConfiguration: phone)
    let upload = try await UploadsAPI.readUpload(id: id, apiConfiguration: phone)
    SwiftClient.expect(upload.isWhole && upload.length == bytes, "\(upload)")
  }

  /// Returns the code in a file, once it is there.
  private static func code(in file: String) async throws -> String {
    for _ in 0..<1200 where !FileManager.default.fileExists(atPath: file) {
      try await Task.sleep(nanoseconds: 100_000_000)
    }
    return try String(contentsOfFile: file, encoding: .utf8)
  }
}
