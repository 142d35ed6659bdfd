import HTTPClient
import Testing

@testable import Blobs

/// The examples of the Amazon S3 API Reference, "Signature Calculations for the Authorization Header" and "Authenticating Requests:
/// Using Query Parameters".
@Suite("Signatures of requests to an object store")
struct SignatureTests {
  private static let signer = RequestSigner(
    credentials: S3Credentials(keyID: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    region: "us-east-1")
  private static let host = "examplebucket.s3.amazonaws.com"
  private static let time = SigningTime(seconds: 1_369_353_600)
  private static let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

  struct Example: Sendable {
    var parts: RequestSigner.Parts
    let signature: String
  }

  @Test(
    "the examples have the published signatures",
    arguments: [
      Example(
        parts: .init(method: "GET", path: "/test.txt", headers: [("Range", "bytes=0-9")], bodyHash: empty),
        signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
      Example(
        parts: .init(
          method: "PUT", path: RequestSigner.encoded("/test$file.text", keeping: "/"),
          headers: [("date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
          bodyHash: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"),
        signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
      Example(
        parts: .init(method: "GET", path: "/", query: [("lifecycle", "")], headers: [], bodyHash: empty),
        signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
      Example(
        parts: .init(
          method: "GET", path: "/", query: [("prefix", "J"), ("max-keys", "2")], headers: [], bodyHash: empty),
        signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ])
  func examples(example: Example) {
    let headers = Self.signer.signed(example.parts, host: Self.host, at: Self.time)
    let value = headers.first { $0.name == "Authorization" }?.value
    #expect(value?.hasSuffix("Signature=\(example.signature)") == true, "\(RequestSigner.canonical(example.parts))")
    #expect(value?.contains("Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,") == true)
  }

  @Test("a signed URL equals the example's")
  func presigned() {
    let query = Self.signer.presigned(path: "/test.txt", host: Self.host, seconds: 86_400, at: Self.time)
    #expect(
      query.hasSuffix("X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"), "\(query)")
    #expect(query.contains("X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&"))
  }

  @Test("the token of temporary keys is signed")
  func sessionToken() {
    let signer = RequestSigner(
      credentials: S3Credentials(keyID: "id", secret: "secret", sessionToken: "token"), region: "eu-central-1")
    let headers = signer.signed(
      .init(method: "GET", path: "/", headers: [], bodyHash: Self.empty), host: "h", at: Self.time)
    #expect(headers.contains { $0.name == "x-amz-security-token" && $0.value == "token" })
    #expect(
      headers.last?.value.contains("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token") == true)
  }
}

@Suite("Buckets")
struct LocationTests {
  @Test("a location names the bucket, the prefix, the endpoint and the style")
  func parsing() throws {
    let amazon = try S3Location("s3://moments/app/one/?region=eu-central-1")
    #expect(amazon.bucket == "moments" && amazon.prefix == "app/one" && amazon.style == .host)
    #expect(amazon.server.authority == "moments.s3.eu-central-1.amazonaws.com:443")
    #expect(amazon.path(of: amazon.key("ab/cd")) == "/app/one/ab/cd" && amazon.path(of: "") == "/")
    let own = try S3Location("s3://moments?endpoint=http://127.0.0.1:8090")
    #expect(own.server.authority == "127.0.0.1:8090" && own.style == .path && own.region == "us-east-1")
    #expect(own.path(of: own.key("ab/cd")) == "/moments/ab/cd" && own.path(of: "") == "/moments")
    let host = try S3Location("s3://moments?endpoint=https://store.example.org&style=host")
    #expect(host.server.host == "moments.store.example.org")
  }

  @Test(
    "a text that is not a location is refused with its reason",
    arguments: [
      ("http://moments", "s3://"), ("s3://a", "bucket"), ("s3://Moments", "bucket"), ("s3://moments/ä", "prefix"),
      ("s3://moments?endpoint=host", "endpoint"), ("s3://moments?style=x", "style"), ("s3://moments?zone=x", "zone=x"),
    ])
  func refusals(text: String, reason: String) {
    let error = #expect(throws: S3Location.Invalid.self) { try S3Location(text) }
    #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
  }

  @Test("a list is read with keys that have characters of XML and of URLs")
  func document() {
    let document = S3Document(
      Array(
        """
        <?xml version="1.0"?><ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;b</NextContinuationToken>
        <Contents><Key>p/a%26%3Cb+c</Key><Size>3</Size></Contents><Contents><Key>p/d</Key><Size>0</Size></Contents></ListBucketResult>
        """.utf8))
    #expect(document.text("NextContinuationToken") == "a&b" && document.text("IsTruncated") == "true")
    let objects = document.elements("Contents")
    #expect(objects.map { $0.text("Size") } == ["3", "0"])
    #expect(objects.first?.text("Key").flatMap { S3Document.decoded($0) } == "p/a&<b c")
    #expect(S3Document.decoded("%4") == nil && S3Document.decoded("%zz") == nil)
  }

  @Test("the date of a header field is read")
  func date() {
    #expect(HTTPDate.seconds("Sun, 06 Nov 1994 08:49:37 GMT") == 784_111_777)
    for wrong in [
      "yesterday", "Sun, 06 Nov -2147483648 08:49:37 GMT", "Sun, 06 Nov 2147483647 08:49:37 GMT",
      "Sun, -2147483648 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:2147483647 GMT", "Sun, 06 Nov 1994 08:49 GMT",
    ] { #expect(HTTPDate.seconds(wrong) == nil, "\(wrong)") }
  }
}
